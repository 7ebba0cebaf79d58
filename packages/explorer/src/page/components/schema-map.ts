import { linkStrengths, scaledLinks } from '@hidden-schema/studies/drawing';
import { LINKS_OF_EACH } from '../graph/scene.ts';
import { WHOLE } from '../texts/camera.ts';
import { passing, selectedTexts } from '../texts/filter.ts';
import { LiveMap, type MapEvents, NOTHING_POINTED, type ShownMap } from '../texts/live-map.ts';
import type { Tool } from '../texts/map-pointer.ts';
import type { TextData } from '../texts/text-data.ts';
import { nodesOf, prepare, type Theme, type ThemeLink } from './themes.ts';

/** What a map of texts shows, and what it calls. N texts, L steps, K themes. */
export interface SchemaMapProps {
  /** x and y of each text in turn, within the unit square. [N, 2] */
  places: ArrayLike<number>;
  /** The themes that each text goes through, one text after the other. [N, L] */
  walks: ArrayLike<number>;
  /** L. */
  length: number;
  themes: readonly Theme[];
  /** Lines between themes; by default the three strongest of each theme, counted in the walks. */
  links?: readonly ThemeLink[];
  /** `both` draws the network over the texts, `map` the texts and names alone. Default: `both`. */
  show?: 'both' | 'map';
  /** Texts that stand out; all where null. Default: null. */
  selected?: readonly number[] | null;
  /** The text whose walk is drawn. Default: none. */
  open?: number | null;
  /** The theme whose links stand out. Default: none. */
  focus?: number | null;
  /** What dragging does: `move` the map, or draw around texts by `lasso` or `box`. Default: `move`. */
  tool?: Tool;
  dark?: boolean;
  /** The map's name for screen readers. */
  label?: string;
  onHoverText?(text: number | null): void;
  onHoverTheme?(theme: number | null): void;
  /** A text was pressed; null for a press beside all of them. */
  onSelectText?(text: number | null): void;
  onSelectTheme?(theme: number): void;
  /** Texts that a line was drawn around. */
  onDrawAround?(texts: number[]): void;
}

/** The map of texts with the network of themes on it, in an element that has a size. */
export class SchemaMap {
  readonly #map: LiveMap;
  #props: SchemaMapProps;
  #data: TextData;
  #nodes: ShownMap['nodes'];
  #links: readonly ThemeLink[];
  #selected: Uint8Array;

  constructor(container: HTMLElement, props: SchemaMapProps) {
    const { themes, walks, length } = props;
    prepare(container, props.label ?? `Map of ${walks.length / length} texts and ${themes.length} themes`);
    this.#props = props;
    this.#data = dataOf(props);
    this.#nodes = nodesOf(themes);
    this.#links = props.links ?? linksOf(props);
    this.#selected = maskOf(props, this.#data.count);
    this.#map = new LiveMap(container, this.#events());
    this.#draw();
  }

  /** Changes some of what is shown; the rest stays, and so does the camera. */
  update(changed: Partial<SchemaMapProps>): void {
    this.#props = { ...this.#props, ...changed };
    const has = (...names: (keyof SchemaMapProps)[]) => names.some((name) => name in changed);
    if (has('places', 'walks', 'length')) this.#data = dataOf(this.#props);
    if (has('themes')) this.#nodes = nodesOf(this.#props.themes);
    if (has('links', 'walks')) this.#links = this.#props.links ?? linksOf(this.#props);
    if (has('walks', 'selected')) this.#selected = maskOf(this.#props, this.#data.count);
    this.#draw();
  }

  /** Shows the whole map again. */
  reset(): void {
    this.#map.camera = WHOLE;
  }

  /** Takes the drawing and its listeners away. */
  destroy(): void {
    this.#map.destroy();
  }

  #draw(): void {
    const { show = 'both', open = null, focus = null, tool = 'move', dark = false } = this.#props;
    this.#map.show({
      ...{ data: this.#data, nodes: this.#nodes, links: this.#links, selected: this.#selected },
      ...{ networked: show === 'both', open, focus, tool, dark, around: NO_LINE },
      ...{ labelTones: null, stepped: null, walk: null, paths: null },
    });
  }

  #events(): MapEvents {
    let last = NOTHING_POINTED;
    return {
      point: (at) => {
        const before = last;
        last = at;
        if (at.text !== before.text) this.#props.onHoverText?.(at.text);
        if (at.symbol !== before.symbol) this.#props.onHoverTheme?.(at.symbol);
      },
      selectText: (text) => this.#props.onSelectText?.(text),
      selectSymbol: (theme) => this.#props.onSelectTheme?.(theme),
      drawAround: (around) => {
        const inside = passing(this.#data, { ...NO_FILTER, around });
        this.#props.onDrawAround?.(selectedTexts(inside, 0, inside.length));
      },
    };
  }
}

const NO_LINE: readonly number[] = [];
const NO_FILTER = { labels: [], symbols: [], between: [null, null], words: null } as const;

/** 1 for each text that stands out. */
function maskOf({ selected = null }: SchemaMapProps, count: number): Uint8Array {
  const mask = new Uint8Array(count).fill(selected === null ? 1 : 0);
  for (const text of selected ?? []) mask[text] = 1;
  return mask;
}

/** Texts as the explorer's own map holds them. */
function dataOf({ places, walks, length, themes }: SchemaMapProps): TextData {
  const count = walks.length / length;
  if (!Number.isInteger(count) || places.length !== 2 * count)
    throw new RangeError(
      `a map takes two places for each text and walks of ${length} steps, got ${places.length} places and ${walks.length} steps`,
    );
  const beyond = Array.from(walks).find((theme) => !(theme in themes));
  if (beyond !== undefined)
    throw new RangeError(`walks go over themes 0 to ${themes.length - 1}, got ${beyond}`);
  return {
    ...{ count, corpus: count, symbols: themes.length, length, labels: [], times: null },
    ...{ places: Float32Array.from(places), walks: Uint16Array.from(walks) },
    labelOf: new Int16Array(count).fill(-1),
  };
}

/** The strongest links of each theme: those that walks take more often than by chance. */
function linksOf({ walks, length, themes }: SchemaMapProps): ThemeLink[] {
  return scaledLinks(linkStrengths({ walks, symbols: themes.length, length }), LINKS_OF_EACH);
}
