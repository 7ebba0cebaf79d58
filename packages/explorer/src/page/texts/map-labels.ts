import { symbolCentres } from '@hidden-schema/studies/drawing';
import type { Graph } from '../client.ts';
import { title } from '../labels.ts';
import type { TextData } from './text-data.ts';

/** A symbol at the centre of the texts that begin with it. */
export interface MapLabel {
  symbol: number;
  text: string;
  x: number;
  y: number;
  /** Selected texts that begin with it. */
  texts: number;
}

const LONGEST = 30;

/** Symbols that texts pass, at their places whatever is selected; those that most selected texts begin with come first. */
export function mapLabels(data: TextData, selected: Uint8Array, nodes: Graph['nodes']): MapLabel[] {
  const centres = symbolCentres(data);
  const counts = new Uint32Array(data.symbols);
  for (let n = 0; n < selected.length; n++) counts[data.walks[n * data.length]!]! += selected[n]!;
  return nodes
    .map((node) => ({
      ...{ symbol: node.symbol, text: shortened(title(node)), texts: counts[node.symbol]! },
      ...{ x: centres[2 * node.symbol]!, y: centres[2 * node.symbol + 1]! },
    }))
    .filter(({ x }) => !Number.isNaN(x))
    .sort((a, b) => b.texts - a.texts || a.symbol - b.symbol);
}

/** Whole words of a name that is too long. */
function shortened(text: string): string {
  const letters = [...text];
  if (letters.length <= LONGEST) return text;
  const cut = letters.slice(0, LONGEST).join('');
  const words = cut.replace(/[\s,]+\S*$/u, '');
  return `${words.length > LONGEST / 3 ? words : cut.trimEnd()} …`;
}

/** What lies above, and below, is under the map's buttons. */
const UNDER = 52;
/** Left free at the other edges. */
const EDGE = 4;

/** A name to be placed: its disc's centre and radius, and its width, in pixels. */
export interface Named {
  x: number;
  y: number;
  width: number;
  /** Of the disc that it stands beside; 0 for a name that stands on its place. */
  radius?: number;
}

/** Half a line, and what is left free around a name. */
const LINE = 8;
const GAP = 3;
const BESIDE = 5;

/** Where a name may stand: under its disc, above it, right or left of it, or at a corner. */
function sides({ x, y, width, radius = 0 }: Named): (readonly [x: number, y: number])[] {
  if (radius === 0) return [[x, y]];
  const [down, across] = [radius + LINE + 2, radius + BESIDE + width / 2];
  const [lower, aside] = [0.7 * radius + LINE, 0.6 * across];
  return [
    ...([
      [x, y + down],
      [x, y - down],
      [x + across, y],
      [x - across, y],
    ] as const),
    ...([
      [x + aside, y + lower],
      [x - aside, y + lower],
      [x + aside, y - lower],
      [x - aside, y - lower],
    ] as const),
  ];
}

/** More names than this are not looked for room in one frame. */
const MOST_NAMES = 300;

/**
 * Of names in their order, those that find room beside their disc without covering another name or the edge. A place that
 * covers no disc is taken first; one over a disc where there is no other.
 */
export function roomFor<T extends Named>(labels: readonly T[], size: { width: number; height: number }): T[] {
  const taken: { x: number; y: number; width: number }[] = [];
  /** Whether a name at a place keeps clear of those that have room; it then has too. */
  const take = ([x, y]: readonly [number, number], width: number): boolean => {
    const overlaps = (other: (typeof taken)[number]) =>
      Math.abs(x - other.x) < (width + other.width) / 2 + 2 * GAP && Math.abs(y - other.y) < 2 * (LINE + GAP);
    return !taken.some(overlaps) && taken.push({ x, y, width }) > 0;
  };
  const seen = labels.filter(({ x, y }) => x >= 0 && x <= size.width && y >= 0 && y <= size.height);
  const names = seen.slice(0, MOST_NAMES);
  return names.flatMap((label) => {
    const { width } = label;
    const inside = sides(label).filter(
      ([x, y]) =>
        x - width / 2 >= EDGE && x + width / 2 <= size.width - EDGE && y >= UNDER && y <= size.height - UNDER,
    );
    const free = inside.filter(
      (place) => !names.some((other) => other !== label && covers(place, width, other)),
    );
    const found = [...free, ...inside].find((place) => take(place, width));
    return found ? [{ ...label, x: found[0], y: found[1] }] : [];
  });
}

/** Whether a name at a place lies over the disc of another. */
const covers = ([x, y]: readonly [number, number], width: number, { radius = 0, ...disc }: Named): boolean =>
  radius > 0 && Math.abs(x - disc.x) < width / 2 + radius && Math.abs(y - disc.y) < LINE + radius - 2;
