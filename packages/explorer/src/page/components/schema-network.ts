import type { Graph } from '../client.ts';
import { NetworkView } from '../graph/network-view.ts';
import type { Scene } from '../graph/scene.ts';
import { WHOLE } from '../texts/camera.ts';
import { nodesOf, prepare, type Theme, type ThemeLink } from './themes.ts';

/** What a network shows, and what it calls. */
export interface SchemaNetworkProps {
  themes: readonly Theme[];
  links: readonly ThemeLink[];
  /** x and y of each theme in turn, within the unit square. [K, 2] */
  layout: readonly number[];
  /** The theme whose links stand out. Default: none. */
  selected?: number | null;
  /** Themes that a walk goes through, drawn over the network. Default: none. */
  walk?: readonly number[] | null;
  dark?: boolean;
  /** The network's name for screen readers. */
  label?: string;
  onHover?(theme: number | null): void;
  /** A theme was pressed; null for a press beside all of them. */
  onSelect?(theme: number | null): void;
}

/** The network of themes alone, in an element that has a size. */
export class SchemaNetwork {
  readonly #view: NetworkView;
  #props: SchemaNetworkProps;
  #graph: Graph;
  #hovered: number | null = null;

  constructor(container: HTMLElement, props: SchemaNetworkProps) {
    const { themes, links } = props;
    prepare(container, props.label ?? `Network of ${themes.length} themes and ${links.length} links`);
    this.#props = props;
    this.#graph = graphOf(props);
    this.#view = new NetworkView(container, {
      hover: (theme) => {
        this.#hovered = theme;
        this.#props.onHover?.(theme);
        this.#draw();
      },
      select: (theme) => this.#props.onSelect?.(theme),
    });
    this.#draw();
  }

  /** Changes some of what is shown; the rest stays, and so does the camera. */
  update(changed: Partial<SchemaNetworkProps>): void {
    this.#props = { ...this.#props, ...changed };
    if ('themes' in changed || 'layout' in changed) this.#graph = graphOf(this.#props);
    this.#draw();
  }

  /** Shows the whole network again. */
  reset(): void {
    this.#view.camera = WHOLE;
  }

  /** Takes the drawing away. */
  destroy(): void {
    this.#view.destroy();
  }

  #draw(): void {
    const { links, selected = null, walk = null, dark = false } = this.#props;
    const scene: Scene = {
      ...{ graph: this.#graph, threshold: 0, truth: false, selected, hovered: this.#hovered },
      ...{ walk, paths: null, dark, labels: null, map: null },
    };
    this.#view.draw(
      scene,
      links.map(([i, j, strength]) => ({ i, j, strength, probability: 1, isTrue: false })),
    );
  }
}

/** The graph as the API sends it. */
function graphOf({ themes, links, layout }: SchemaNetworkProps): Graph {
  if (layout.length !== 2 * themes.length)
    throw new RangeError(
      `a layout has two numbers for each of ${themes.length} themes, got ${layout.length}`,
    );
  return {
    ...{ step: 0, identity: '', nodes: nodesOf(themes), strengths: [], linksLeftOut: 0 },
    links: links.map(([i, j]): [number, number, number] => [i, j, 1]),
    ...{ leastProbability: 0, truth: null, layout: [...layout] },
  };
}
