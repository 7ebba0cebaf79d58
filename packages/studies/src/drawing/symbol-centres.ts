/** Walks of N texts over K symbols, and where the texts lie. */
export interface PlacedWalks {
  /** [N, L] */
  walks: ArrayLike<number>;
  /** L */
  length: number;
  /** K */
  symbols: number;
  /** x and y of each text in turn. [N, 2] */
  places: ArrayLike<number>;
}

/** Texts of a symbol that its centre is taken from: more change nothing that can be seen. */
const ENOUGH = 400;

/**
 * The centre of each symbol on a map of texts: the median of the texts that begin with it, else of those that pass it.
 * x and y in turn, NaN for a symbol that no text passes. [K, 2]
 */
export function symbolCentres(of: PlacedWalks): Float64Array {
  const centres = new Float64Array(2 * of.symbols).fill(Number.NaN);
  const beginning = textsOf(of, 1);
  const passing = beginning.some((texts) => texts.length === 0) ? textsOf(of, of.length) : beginning;
  for (let k = 0; k < of.symbols; k++) {
    const texts = beginning[k]!.length > 0 ? beginning[k]! : passing[k]!;
    if (texts.length === 0) continue;
    for (const axis of [0, 1])
      centres[2 * k + axis] = median(texts.map((text) => of.places[2 * text + axis]!));
  }
  return centres;
}

/** The first texts on each symbol within so many steps. */
function textsOf({ walks, length, symbols, places }: PlacedWalks, steps: number): number[][] {
  const texts = Array.from({ length: symbols }, (): number[] => []);
  for (let n = 0; 2 * n < places.length; n++)
    for (let step = 0; step < steps; step++) {
      const own = texts[walks[n * length + step]!]!;
      if (own.length < ENOUGH && own.at(-1) !== n) own.push(n);
    }
  return texts;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
