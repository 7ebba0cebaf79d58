import { symbolCentres } from '@hidden-schema/studies/drawing';
import type { Graph } from '../client.ts';
import { LabelRoom } from '../label-room.ts';
import { title } from '../labels.ts';
import type { TextData } from './text-data.ts';

/** A symbol at the centre of the texts that begin with it. */
export interface MapLabel {
  symbol: number;
  text: string;
  x: number;
  y: number;
  /** Lit texts that begin with it. */
  texts: number;
}

const LONGEST = 26;

/** Symbols that texts pass, at their places whatever is lit; those that most lit texts begin with come first. */
export function mapLabels(data: TextData, lit: Uint8Array, nodes: Graph['nodes']): MapLabel[] {
  const centres = symbolCentres(data);
  const counts = new Uint32Array(data.symbols);
  for (let n = 0; n < lit.length; n++) counts[data.walks[n * data.length]!]! += lit[n]!;
  return nodes
    .map((node) => ({
      ...{ symbol: node.symbol, text: shortened(title(node)), texts: counts[node.symbol]! },
      ...{ x: centres[2 * node.symbol]!, y: centres[2 * node.symbol + 1]! },
    }))
    .filter(({ x }) => !Number.isNaN(x))
    .sort((a, b) => b.texts - a.texts || a.symbol - b.symbol);
}

const shortened = (text: string): string => {
  const letters = [...text];
  return letters.length <= LONGEST
    ? text
    : `${letters
        .slice(0, LONGEST - 1)
        .join('')
        .trimEnd()}…`;
};

/** What lies above, and below, is under the map's buttons. */
const UNDER = 46;

/** A name to be placed: its disc's centre and radius, and its width, in pixels. */
export interface Named {
  x: number;
  y: number;
  width: number;
  /** Of the disc that it stands beside; 0 for a name that stands on its place. */
  radius?: number;
}

const LINE = 8;
const BESIDE = 5;

/** Where a name may stand: under its disc, above it, right or left of it. */
function sides({ x, y, width, radius = 0 }: Named): (readonly [x: number, y: number])[] {
  if (radius === 0) return [[x, y]];
  const [down, across] = [radius + LINE + 2, radius + BESIDE + width / 2];
  return [
    [x, y + down],
    [x, y - down],
    [x + across, y],
    [x - across, y],
  ];
}

/** Of names in their order, those that find room beside their disc without covering another or the edge. */
export function roomFor<T extends Named>(labels: readonly T[], size: { width: number; height: number }): T[] {
  const room = new LabelRoom();
  return labels.flatMap((label) => {
    const { width } = label;
    const found = sides(label).find(([x, y]) => {
      const inside =
        x - width / 2 >= 0 && x + width / 2 <= size.width && y >= UNDER && y <= size.height - UNDER;
      return inside && room.take(x - width / 2, y, width);
    });
    return found ? [{ ...label, x: found[0], y: found[1] }] : [];
  });
}
