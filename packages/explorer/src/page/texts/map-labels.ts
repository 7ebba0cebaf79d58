import type { Graph } from '../client.ts';
import { LabelRoom } from '../label-room.ts';
import { title } from '../labels.ts';
import type { TextData } from './text-data.ts';

/** A symbol's words where the texts lie that begin with it. */
export interface MapLabel {
  symbol: number;
  text: string;
  x: number;
  y: number;
  texts: number;
}

const LONGEST = 26;
/** Texts of a symbol that its place is taken from. */
const ENOUGH = 400;

/** The words of symbols that lit texts begin with, those of most texts first. */
export function mapLabels(
  { walks, length, places, symbols }: TextData,
  lit: Uint8Array,
  nodes: Graph['nodes'],
): MapLabel[] {
  const xs = Array.from({ length: symbols }, (): number[] => []);
  const ys = Array.from({ length: symbols }, (): number[] => []);
  const counts = new Uint32Array(symbols);
  for (let n = 0; n < lit.length; n++) {
    const symbol = walks[n * length]!;
    if (lit[n] === 0 || counts[symbol]!++ >= ENOUGH) continue;
    xs[symbol]!.push(places[2 * n]!);
    ys[symbol]!.push(places[2 * n + 1]!);
  }
  return nodes
    .flatMap((node) => {
      const texts = counts[node.symbol]!;
      if (texts === 0) return [];
      const [x, y] = [middle(xs[node.symbol]!), middle(ys[node.symbol]!)];
      return { symbol: node.symbol, text: shortened(title(node)), x, y, texts };
    })
    .sort((a, b) => b.texts - a.texts || a.symbol - b.symbol);
}

const middle = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

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

/** Of labels with their places and widths on the screen, those that cover neither each other nor the edge. */
export function roomFor<T extends { x: number; y: number; width: number }>(
  labels: readonly T[],
  size: { width: number; height: number },
): T[] {
  const room = new LabelRoom();
  return labels.filter(({ x, y, width }) => {
    const left = x - width / 2;
    const inside = left >= 0 && left + width <= size.width && y >= UNDER && y <= size.height - UNDER;
    return inside && room.take(left, y, width);
  });
}
