import type { Graph } from '../client.ts';
import { labelOf } from '../labels.ts';

/** All that decides how the graph looks. */
export interface Scene {
  graph: Graph;
  threshold: number;
  /** Compare with the true graph. */
  truth: boolean;
  selected: number | null;
  hovered: number | null;
  walk: readonly number[] | null;
  dark: boolean;
}

export type Status = 'plain' | 'correct' | 'extra' | 'missing';

export interface DrawnLink {
  i: number;
  j: number;
  /** 0 for a true link that was not found at all. */
  probability: number;
  isTrue: boolean;
}

export interface LinkLook {
  colour: string;
  width: number;
  /** Drawn later, and so above. */
  level: number;
}

export interface NodeLook {
  colour: string;
  radius: number;
  label: string;
  /** Its label is always shown. */
  strong: boolean;
  faint: boolean;
}

/** Told apart on light and on dark ground; communities beyond these are grey. */
const communities = [
  ...['#3b7dd8', '#e08a2c', '#3f9b6c', '#c4569b', '#7b61c9', '#1fa3a8', '#c9563c', '#a08a16'],
  ...['#5d8c2f', '#b06f4b'],
];
export const communityColour = (community: number): string => communities[community] ?? '#8590a0';

type Rgb = readonly [number, number, number];
const statusColours: Record<Exclude<Status, 'plain'>, Rgb> = {
  correct: [59, 125, 216],
  extra: [222, 55, 70],
  missing: [240, 150, 30],
};
const ground = { light: [245, 247, 250], dark: [14, 19, 25] } as const satisfies Record<string, Rgb>;
const plain = { light: [70, 88, 115], dark: [165, 180, 205] } as const satisfies Record<string, Rgb>;

const rgbOf = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

/** A tone laid thinly on the ground. Mixed here, since WebGL would add transparent colours up. */
function thinned(tone: Rgb, share: number, theme: 'light' | 'dark'): string {
  const mixed = tone.map((value, at) => Math.round(value * share + ground[theme][at]! * (1 - share)));
  return `rgb(${mixed.join(',')})`;
}
export const WALK_COLOUR = '#f0a202';

const pairKey = (i: number, j: number): string => (i < j ? `${i}-${j}` : `${j}-${i}`);

/** Links of a graph with what is known of the truth, and true links that were not found. */
export function drawnLinks(graph: Graph): DrawnLink[] {
  const truth = new Set((graph.truth ?? []).map(([i, j]) => pairKey(i, j)));
  const links = graph.links
    .filter(([i, j]) => i !== j)
    .map(([i, j, probability]) => ({ i, j, probability, isTrue: truth.delete(pairKey(i, j)) }));
  const missed = [...truth].map((key) => {
    const [i, j] = key.split('-').map(Number);
    return { i: i!, j: j!, probability: 0, isTrue: true };
  });
  return [...links, ...missed];
}

export function statusOf(link: DrawnLink, scene: Pick<Scene, 'threshold' | 'truth'>): Status | null {
  const found = link.probability >= scene.threshold;
  if (!scene.truth) return found ? 'plain' : null;
  if (found) return link.isTrue ? 'correct' : 'extra';
  return link.isTrue ? 'missing' : null;
}

export function countLinks(
  links: readonly DrawnLink[],
  scene: Scene,
): Record<Status, number> & { shown: number } {
  const counts = { plain: 0, correct: 0, extra: 0, missing: 0, shown: 0 };
  for (const link of links) {
    const status = statusOf(link, scene);
    if (status === null) continue;
    counts[status]++;
    if (status !== 'missing') counts.shown++;
  }
  return counts;
}

/** Steps between neighbouring symbols of a walk, as pairs without direction. */
export function walkPairs(walk: readonly number[] | null): [number, number][] {
  const pairs = new Map<string, [number, number]>();
  for (let at = 1; at < (walk?.length ?? 0); at++) {
    const [i, j] = [walk![at - 1]!, walk![at]!];
    if (i !== j) pairs.set(pairKey(i, j), [Math.min(i, j), Math.max(i, j)]);
  }
  return [...pairs.values()];
}

/** The looks of nodes and links for one scene, with what they share worked out once. */
export class Looks {
  readonly #scene: Scene;
  readonly #focus: number | null;
  readonly #near = new Set<number>();
  readonly #walkSteps = new Map<number, number[]>();
  readonly #walkLinks: Set<string>;
  readonly #scale: number;

  constructor(scene: Scene, links: readonly DrawnLink[]) {
    this.#scene = scene;
    this.#focus = scene.hovered ?? (scene.walk ? null : scene.selected);
    for (const [step, symbol] of (scene.walk ?? []).entries())
      this.#walkSteps.set(symbol, [...(this.#walkSteps.get(symbol) ?? []), step + 1]);
    this.#walkLinks = new Set(walkPairs(scene.walk).map(([i, j]) => pairKey(i, j)));
    if (this.#focus !== null) {
      this.#near.add(this.#focus);
      for (const link of links) {
        if (link.i !== this.#focus && link.j !== this.#focus) continue;
        if (statusOf(link, scene)) this.#near.add(link.i === this.#focus ? link.j : link.i);
      }
    }
    const largest = scene.graph.nodes.reduce((most, { usage }) => Math.max(most, usage), 1e-9);
    this.#scale = 1 / Math.sqrt(largest);
  }

  node(k: number): NodeLook {
    const { graph, dark, selected, walk } = this.#scene;
    const node = graph.nodes[k]!;
    const steps = this.#walkSteps.get(k);
    const faint = this.#focus !== null ? !this.#near.has(k) : walk !== null && !steps;
    const base = Math.max(2, Math.min(5, 50 / Math.sqrt(graph.nodes.length)));
    const radius = base * (0.6 + 1.6 * Math.sqrt(node.usage) * this.#scale) * (steps ? 1.25 : 1);
    const label = steps ? `${steps.join(',')} → ${labelOf(node)}` : labelOf(node);
    const strong = k === selected || k === this.#scene.hovered || steps !== undefined;
    const own = communityColour(node.community);
    const grey = dark ? '#2b323d' : '#dde2e8';
    // Beside a walk the communities stay visible; around the pointer only what is near.
    const aside = this.#focus === null ? thinned(rgbOf(own), 0.3, dark ? 'dark' : 'light') : grey;
    const colour = faint ? aside : steps ? WALK_COLOUR : own;
    return { colour, radius, label: faint ? '' : label, strong: strong && !faint, faint };
  }

  link(link: DrawnLink): LinkLook | null {
    const { dark, walk } = this.#scene;
    if (this.#walkLinks.has(pairKey(link.i, link.j))) return { colour: WALK_COLOUR, width: 3, level: 3 };
    const status = statusOf(link, this.#scene);
    if (status === null) return null;
    const theme = dark ? 'dark' : 'light';
    const aside = this.#focus !== null ? link.i !== this.#focus && link.j !== this.#focus : walk !== null;
    if (aside) return { colour: thinned(plain[theme], 0.13, theme), width: 0.6, level: 0 };
    const tone = status === 'plain' ? plain[theme] : statusColours[status];
    const wrong = status === 'extra' || status === 'missing';
    const strong = wrong || this.#focus !== null;
    const share = strong ? 0.9 : 0.12 + 0.38 * link.probability;
    const width = strong ? 1.8 : 0.6 + 0.6 * link.probability;
    return { colour: thinned(tone, share, theme), width, level: wrong ? 2 : 1 };
  }
}
