import { css, type Rgb, rgbOf } from '@hidden-schema/studies/drawing';
import { title } from '../labels.ts';
import {
  greyOf,
  MISSING_COLOUR,
  mixed,
  plain,
  statusColours,
  thinned,
  tonesOf,
  WALK_COLOUR,
} from './colours.ts';
import {
  type DrawnLink,
  highlightedWalks,
  linkOf,
  pairKey,
  type Scene,
  statusOf,
  steppedPairs,
} from './scene.ts';

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

/** The looks of nodes and links for one scene, with what they share worked out once. */
export class Looks {
  readonly #scene: Scene;
  readonly #focus: number | null;
  readonly #near = new Set<number>();
  readonly #walkSteps = new Map<number, number[]>();
  /** Shares of the highlighted walks that take a link. */
  readonly #walkLinks: ReadonlyMap<number, number>;
  readonly #highlighted: boolean;
  readonly #scale: number;
  readonly #tones: readonly Rgb[];

  constructor(scene: Scene, links: readonly DrawnLink[]) {
    this.#scene = scene;
    this.#tones = tonesOf(scene.graph.nodes, scene.dark);
    const walks = highlightedWalks(scene);
    this.#highlighted = walks.length > 0;
    this.#focus = scene.hovered ?? (this.#highlighted ? null : scene.selected);
    for (const walk of walks)
      for (const [step, symbol] of walk.entries()) {
        const known = this.#walkSteps.get(symbol) ?? [];
        if (!known.includes(step + 1)) this.#walkSteps.set(symbol, [...known, step + 1]);
      }
    this.#walkLinks = new Map(steppedPairs(walks).map(({ i, j, share }) => [pairKey(i, j), share]));
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
    const { graph, dark, selected, map } = this.#scene;
    const node = graph.nodes[k]!;
    const steps = this.#walkSteps.get(k);
    const faint = this.#focus !== null ? !this.#near.has(k) : this.#highlighted && !steps;
    const base = Math.max(2, Math.min(6, 50 / Math.sqrt(graph.nodes.length)));
    const size = map ? Math.sqrt(map.nodes[k]! / map.most) : Math.sqrt(node.usage) * this.#scale;
    const radius = base * (map ? 0.45 + 2.4 * size : 0.6 + 1.6 * size) * (steps ? 1.25 : 1);
    const called = title(node) || String(k);
    const label = steps ? `${steps.toSorted((a, b) => a - b).join(',')} → ${called}` : called;
    const strong = k === selected || k === this.#scene.hovered || steps !== undefined;
    const own = this.#tone(k);
    // Beside a walk the communities stay visible; around the pointer only what is near.
    const aside = this.#focus === null ? thinned(own, 0.3, dark ? 'dark' : 'light') : greyOf(dark);
    const colour = faint ? aside : steps ? WALK_COLOUR : css(own);
    return { colour, radius, label: faint ? '' : label, strong: strong && !faint, faint };
  }

  /** By the label's map where one is drawn, else by label or community; as on the map of texts. */
  #tone(k: number): Rgb {
    const { map, labels, dark } = this.#scene;
    const theme = dark ? 'dark' : 'light';
    if (map) return mixed(rgbOf(map.colour), 0.12 + 0.88 * Math.sqrt(map.nodes[k]! / map.most), theme);
    const label = labels?.[k];
    if (label) return mixed(rgbOf(label.colour), 0.25 + 0.75 * label.clear, theme);
    return this.#tones[k]!;
  }

  link(link: DrawnLink): LinkLook | null {
    const { dark, walk, map } = this.#scene;
    const theme = dark ? 'dark' : 'light';
    const key = pairKey(link.i, link.j);
    const share = this.#walkLinks.get(key);
    if (share !== undefined) {
      const colour = link.probability < MISSING_LINK ? MISSING_COLOUR : WALK_COLOUR;
      return { colour, width: walk ? 3 : 1 + 5 * share, level: 3 + share };
    }
    const status = statusOf(link, this.#scene);
    if (status === null) return null;
    const aside = this.#focus !== null ? link.i !== this.#focus && link.j !== this.#focus : this.#highlighted;
    if (aside) return { colour: thinned(plain[theme], 0.13, theme), width: 0.6, level: 0 };
    if (map) return this.#traversed(Math.sqrt((map.links.get(key) ?? 0) / map.mostLink), map.colour);
    const tone = status === 'plain' ? plain[theme] : statusColours[status];
    const wrong = status === 'extra' || status === 'missing';
    const strong = wrong || this.#focus !== null;
    const depth = wrong ? 0.9 : strong ? 0.6 : 0.2 + 0.4 * link.strength;
    const width = strong ? 1.5 : 0.7 + 2.3 * link.strength;
    return { colour: thinned(tone, depth, theme), width, level: wrong ? 2 : 1 };
  }

  #traversed(size: number, colour: string): LinkLook {
    const theme = this.#scene.dark ? 'dark' : 'light';
    if (size === 0) return { colour: thinned(plain[theme], 0.1, theme), width: 0.5, level: 0 };
    const tone = thinned(rgbOf(colour), 0.15 + 0.75 * size, theme);
    return { colour: tone, width: 0.6 + 3.4 * size, level: 1 + size };
  }
}

/** A link less probable than this is a missing one. */
export const MISSING_LINK = 0.5;

/** Links that are drawn, those that lie above the others last; a walk may step where none is known. */
export function shownLinks(
  scene: Scene,
  links: readonly DrawnLink[],
  looks: Looks,
): { link: DrawnLink; look: LinkLook }[] {
  const known = new Set(links.map(({ i, j }) => pairKey(i, j)));
  const stepped = steppedPairs(highlightedWalks(scene))
    .filter(({ i, j }) => !known.has(pairKey(i, j)))
    .map(
      ({ i, j }): DrawnLink => ({ i, j, probability: linkOf(scene.graph, i, j), strength: 0, isTrue: false }),
    );
  return [...links, ...stepped]
    .flatMap((link) => {
      const look = looks.link(link);
      return look ? [{ link, look }] : [];
    })
    .sort((a, b) => a.look.level - b.look.level);
}
