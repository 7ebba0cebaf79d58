import type { MapAnswer } from '../client.ts';

/** The texts of a run as the page holds them: numbers only, so that a hundred thousand are nothing. */
export interface TextData {
  /** N */
  count: number;
  /** Texts there are, be they on the map or not. */
  corpus: number;
  symbols: number;
  length: number;
  labels: readonly string[];
  /** x and y within the unit square. [N, 2] */
  places: Float32Array;
  /** [N, L] */
  walks: Uint16Array;
  /** −1 for none. [N] */
  labelOf: Int16Array;
  /** UTC milliseconds, NaN for unknown; null where no text has any. [N] */
  times: Float64Array | null;
}

const FINEST = 65_535;

export function textDataOf(answer: MapAnswer): TextData {
  const { count, corpus, symbols, length, labels, places, walks, labelOf, times } = answer;
  return {
    ...{ count, corpus, symbols, length, labels },
    places: Float32Array.from(new Uint16Array(bytesOf(places)), (value) => value / FINEST),
    walks: new Uint16Array(bytesOf(walks)),
    labelOf: new Int16Array(bytesOf(labelOf)),
    times: times === null ? null : new Float64Array(bytesOf(times)),
  };
}

export function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes.buffer;
}

/** The symbols that a text goes through. [L] */
export const walkOf = ({ walks, length }: TextData, n: number): number[] =>
  Array.from(walks.subarray(n * length, (n + 1) * length));
