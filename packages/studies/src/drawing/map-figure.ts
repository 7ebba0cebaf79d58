import { type NetworkFigure, networkFigure } from './network-figure.ts';
import { type PlacedWalks, symbolCentres } from './symbol-centres.ts';

interface MapFigure extends Omit<NetworkFigure, 'layout' | 'dots'> {
  symbols: readonly { name: string; usage: number; colour: string }[];
  /** Draws the dots of every so many texts alone. */
  every?: number;
}

/** Texts as dots in the colours of their first symbols, and the network of symbols at the centres of their texts. */
export function mapFigure(texts: PlacedWalks, { symbols, links, every = 1, ...figure }: MapFigure): string {
  const { places, walks, length } = texts;
  const centres = symbolCentres(texts);
  // Symbols that no text passes have no place.
  const placed = Array.from(symbols.keys()).filter((k) => !Number.isNaN(centres[2 * k]!));
  const at = new Map(placed.map((k, place) => [k, place]));
  const count = Math.ceil(places.length / 2 / every);
  const drawn = Array.from({ length: count }, (_, n) => n * every);
  return networkFigure({
    ...figure,
    symbols: placed.map((k) => symbols[k]!),
    layout: placed.flatMap((k) => [centres[2 * k]!, centres[2 * k + 1]!]),
    links: links.flatMap(([i, j, strength]) =>
      at.has(i) && at.has(j) ? [[at.get(i)!, at.get(j)!, strength] as const] : [],
    ),
    dots: {
      places: drawn.flatMap((n) => [places[2 * n]!, places[2 * n + 1]!]),
      colourOf: (n) => symbols[walks[drawn[n]! * length]!]!.colour,
    },
  });
}
