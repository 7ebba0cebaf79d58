import { css, linkStrengths, scaledLinks, symbolTones } from '@hidden-schema/studies/drawing';
import { groundOf } from '../graph/colours.ts';
import { LINKS_OF_EACH } from '../graph/strongest.ts';
import { inksOf } from '../inks.ts';
import { scaleOf, toMap, WHOLE } from '../texts/camera.ts';
import { passing } from '../texts/filter.ts';
import { mapLabels } from '../texts/map-labels.ts';
import { followPointers, type Tool } from '../texts/map-pointer.ts';
import { MapView } from '../texts/map-view.ts';
import { NearestDot } from '../texts/nearest-dot.ts';
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

const REACH = 10;
const PER_MILLE = 1000;

/** The map of texts with the network of themes on it, in an element that has a size. */
export class SchemaMap {
  readonly #view: MapView;
  readonly #letGo: () => void;
  #props: SchemaMapProps;
  #data: TextData;
  #nearest: NearestDot;
  #links: readonly ThemeLink[];
  #mask = new Uint8Array(0);
  #hovered: { text: number | null; theme: number | null } = { text: null, theme: null };

  constructor(container: HTMLElement, props: SchemaMapProps) {
    const { themes, walks, length } = props;
    prepare(container, props.label ?? `Map of ${walks.length / length} texts and ${themes.length} themes`);
    this.#props = props;
    this.#data = dataOf(props);
    this.#nearest = new NearestDot(this.#data.places);
    this.#links = props.links ?? linksOf(props);
    this.#view = new MapView(container);
    this.#letGo = followPointers(container, this.#view, {
      tool: () => this.#props.tool ?? 'move',
      hover: (place) => this.#hover(place),
      tap: (place, reach) => this.#tap(place, reach),
      drawn: (line) => this.#drawnAround(line),
      move: () => this.#hover(null),
    });
    this.#draw();
  }

  /** Changes some of what is shown; the rest stays, and so does the camera. */
  update(changed: Partial<SchemaMapProps>): void {
    this.#props = { ...this.#props, ...changed };
    if ('places' in changed || 'walks' in changed || 'length' in changed) {
      this.#data = dataOf(this.#props);
      this.#nearest = new NearestDot(this.#data.places);
    }
    if ('links' in changed || 'walks' in changed) this.#links = this.#props.links ?? linksOf(this.#props);
    this.#draw();
  }

  /** Shows the whole map again. */
  reset(): void {
    this.#view.camera = WHOLE;
  }

  /** Takes the drawing and its listeners away. */
  destroy(): void {
    this.#letGo();
    this.#view.destroy();
  }

  #draw(): void {
    const { themes, selected = null, show = 'both', open = null, dark = false } = this.#props;
    const { walks, length, count } = this.#data;
    this.#mask = new Uint8Array(count).fill(selected === null ? 1 : 0);
    for (const text of selected ?? []) this.#mask[text] = 1;
    const tones = symbolTones(themes.map(({ community = 0 }) => community));
    const { ink, accent } = inksOf(dark);
    const ground = groundOf(dark);
    const { text, theme } = this.#hovered;
    const shown = text ?? open;
    const colourOf = Uint16Array.from({ length: count }, (_, n) => walks[n * length]!);
    this.#view.draw(
      { places: this.#data.places, colourOf, palette: tones, selected: this.#mask, ground },
      {
        ...{ labels: mapLabels(this.#data, this.#mask, nodesOf(themes)), ink, accent, paths: [], around: [] },
        ...{ chosen: open, pointed: text, halo: `rgba(${ground.join(',')},0.85)` },
        walk: shown === null ? [] : [...new Set(walks.subarray(shown * length, (shown + 1) * length))],
        network:
          show === 'map'
            ? null
            : {
                links: this.#links,
                colourOf: (symbol) => css(tones[symbol]!),
                focus: theme ?? this.#props.focus ?? null,
              },
      },
    );
  }

  #textAt(place: [number, number], reach: number): number | null {
    const { camera, size } = this.#view;
    const [wide, high] = scaleOf(camera, size);
    return this.#nearest.find(toMap(camera, size, place), [reach / wide, reach / high], this.#mask);
  }

  #hover(place: [number, number] | null): void {
    const theme = place && this.#view.symbolAt(place);
    const text = place && theme === null ? this.#textAt(place, REACH) : null;
    const last = this.#hovered;
    if (text === last.text && theme === last.theme) return;
    this.#hovered = { text, theme };
    if (text !== last.text) this.#props.onHoverText?.(text);
    if (theme !== last.theme) this.#props.onHoverTheme?.(theme);
    this.#draw();
  }

  #tap(place: [number, number], reach: number): void {
    const theme = this.#view.symbolAt(place);
    if (theme !== null) this.#props.onSelectTheme?.(theme);
    else this.#props.onSelectText?.(this.#textAt(place, reach));
  }

  #drawnAround(line: readonly [number, number][]): void {
    const { camera, size } = this.#view;
    const around = line.flatMap((place) => toMap(camera, size, place).map((at) => at * PER_MILLE));
    const asked = { labels: [], symbols: [], around, between: [null, null], words: null } as const;
    const inside = passing(this.#data, asked);
    this.#props.onDrawAround?.(Array.from(inside.keys()).filter((text) => inside[text] === 1));
  }
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
