import { css, type Rgb } from '@hidden-schema/studies/drawing';
import type { Graph } from '../client.ts';
import { groundOf, inksOf, tonesOf } from '../graph/colours.ts';
import type { StrongLink } from '../graph/scene.ts';
import { scaleOf, toMap } from './camera.ts';
import type { Dots } from './dots.ts';
import { type MapLabel, mapLabels } from './map-labels.ts';
import { followPointers, type Tool } from './map-pointer.ts';
import { MapView } from './map-view.ts';
import { NearestDot } from './nearest-dot.ts';
import { type TextData, walkOf } from './text-data.ts';

/** What a map of texts shows. */
export interface ShownMap {
  data: TextData;
  nodes: Graph['nodes'];
  links: readonly StrongLink[];
  /** 1 for each text that stands out. [N] */
  selected: Uint8Array;
  /** Whether the network is drawn over the texts. */
  networked: boolean;
  /** Colours of dots by their label, that of texts without one last; by their first symbol where null. */
  labelTones: readonly Rgb[] | null;
  /** The symbol whose links stand out while none is pointed at. */
  focus: number | null;
  /** The text whose walk is drawn while none is pointed at, and the one that keys have come to. */
  open: number | null;
  stepped: number | null;
  /** A walk that is drawn where there is no text, or several. */
  walk: readonly number[] | null;
  paths: readonly (readonly number[])[] | null;
  /** A line that texts were drawn around with: x and y in turn, in thousandths. */
  around: readonly number[];
  tool: Tool;
  dark: boolean;
}

/** The text or the symbol under the pointer. */
export interface Pointed {
  text: number | null;
  symbol: number | null;
}
export const NOTHING_POINTED: Pointed = { text: null, symbol: null };

export interface MapEvents {
  /** Another text or symbol came under the pointer. */
  point(at: Pointed): void;
  /** A text was pressed; null for a press beside all of them. */
  selectText(text: number | null): void;
  selectSymbol(symbol: number): void;
  /** A line was drawn around texts: x and y in turn, in thousandths. */
  drawAround(line: readonly number[]): void;
  /** The map was moved or zoomed. */
  move?(camera: MapView['camera']): void;
}

/** Pixels between the pointer and a dot that it points at. */
const REACH = 10;
const PER_MILLE = 1000;

/** The map of texts in an element, which follows pointers: what is under them is drawn, and told. */
export class LiveMap extends MapView {
  events: MapEvents;
  readonly #letGo: () => void;
  #shown: ShownMap | undefined;
  #pointed = NOTHING_POINTED;
  #nearest: NearestDot | undefined;
  #dots: Dots | undefined;
  #labels: readonly MapLabel[] = [];
  #tones: readonly Rgb[] = [];

  constructor(container: HTMLElement, events: MapEvents) {
    super(container);
    this.events = events;
    this.#letGo = followPointers(container, this, {
      tool: () => this.#shown?.tool ?? 'move',
      hover: (place) => this.#hover(place),
      tap: (place, reach) => this.#tap(place, reach),
      drawn: (line) =>
        this.events.drawAround(line.flatMap((place) => this.#onMap(place).map((at) => at * PER_MILLE))),
      move: () => {
        this.#point(NOTHING_POINTED);
        this.events.move?.(this.camera);
      },
    });
  }

  show(shown: ShownMap): void {
    const last = this.#shown;
    const isNew = (...names: (keyof ShownMap)[]) => !last || names.some((name) => last[name] !== shown[name]);
    if (!isNew(...(Object.keys(shown) as (keyof ShownMap)[]))) return;
    const { data, nodes, selected, dark, labelTones } = shown;
    this.#shown = shown;
    if (isNew('data')) this.#nearest = new NearestDot(data.places);
    if (isNew('data', 'selected', 'nodes')) this.#labels = mapLabels(data, selected, nodes);
    if (isNew('nodes', 'dark')) this.#tones = tonesOf(nodes, dark);
    if (isNew('data', 'selected', 'nodes', 'dark', 'labelTones'))
      this.#dots = dotsOf(shown, labelTones ?? this.#tones);
    this.#refresh();
  }

  override destroy(): void {
    this.#letGo();
    super.destroy();
  }

  #refresh(): void {
    const { data, links, networked, labelTones, dark, open, stepped, walk, paths, ...shown } = this.#shown!;
    const { ink, accent, faint } = inksOf(dark);
    const pointed = this.#pointed.text ?? stepped;
    const text = [pointed ?? open].find((n) => n !== null && n < data.count) ?? null;
    // In the colours of labels a symbol has none of its own.
    const colourOf = (symbol: number) =>
      labelTones === null ? css(this.#tones[symbol] ?? [128, 128, 128]) : faint;
    this.draw(this.#dots!, {
      ...{ labels: this.#labels, chosen: open, pointed, around: shown.around, ink, accent },
      network: networked ? { links, colourOf, focus: this.#pointed.symbol ?? shown.focus } : null,
      walk: [...new Set(text === null ? walk : walkOf(data, text))],
      paths: (pointed ?? open) === null && walk === null ? (paths ?? []) : [],
      halo: `rgba(${groundOf(dark).join(',')},0.85)`,
    });
  }

  #onMap(place: readonly [number, number]): [number, number] {
    return toMap(this.camera, this.size, place);
  }

  /** The text that stands out and is nearest to a place, within a reach in pixels. */
  #textAt(place: readonly [number, number], reach: number): number | null {
    const [wide, high] = scaleOf(this.camera, this.size);
    return (
      this.#nearest?.find(this.#onMap(place), [reach / wide, reach / high], this.#shown!.selected) ?? null
    );
  }

  #hover(place: readonly [number, number] | null): void {
    const symbol = place && this.symbolAt(place);
    this.#point({ symbol, text: place && symbol === null ? this.#textAt(place, REACH) : null });
  }

  #point(at: Pointed): void {
    if (at.text === this.#pointed.text && at.symbol === this.#pointed.symbol) return;
    this.#pointed = at;
    this.events.point(at);
    if (this.#shown) this.#refresh();
  }

  #tap(place: readonly [number, number], reach: number): void {
    const symbol = this.symbolAt(place);
    if (symbol !== null) {
      this.events.selectSymbol(symbol);
      return;
    }
    const text = this.#textAt(place, reach);
    this.#point({ text, symbol: null });
    this.events.selectText(text);
  }
}

/** Dots by their label where there are colours of labels, else by their first symbol. */
const dotsOf = ({ data, selected, dark, labelTones }: ShownMap, palette: readonly Rgb[]): Dots => ({
  ...{ places: data.places, palette, selected, ground: groundOf(dark) },
  colourOf: Uint16Array.from({ length: data.count }, (_, n) => {
    if (labelTones === null) return data.walks[n * data.length]!;
    return data.labelOf[n]! < 0 ? palette.length - 1 : data.labelOf[n]!;
  }),
});
