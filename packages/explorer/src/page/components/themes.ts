import type { Graph } from '../client.ts';

/** A theme as the components draw it. Symbols of a run are themes; links and walks name them by their place in the list. */
export interface Theme {
  name: string;
  /** Share of all texts or steps: the size of its disc in the network. 1 / themes unless given. */
  usage?: number;
  /** Themes of one community share a hue. One community for all unless given. */
  community?: number;
}

/** Themes i and j, and how strong their link is, from 0 to 1. */
export type ThemeLink = readonly [i: number, j: number, strength: number];

/** As the API sends the symbols of a run. */
export const nodesOf = (themes: readonly Theme[]): Graph['nodes'] =>
  themes.map(({ name, usage = 1 / themes.length, community = 0 }, symbol) => ({
    ...{ symbol, name, tokens: [], usage, community },
  }));

/** Gives an element that a drawing fills a size of its own to lie in, and a name for those who do not see it. */
export function prepare(container: HTMLElement, label: string): void {
  if (getComputedStyle(container).position === 'static') container.style.position = 'relative';
  Object.assign(container.style, { overflow: 'hidden', touchAction: 'none' });
  container.setAttribute('role', 'application');
  container.setAttribute('aria-label', label);
  container.tabIndex = 0;
}
