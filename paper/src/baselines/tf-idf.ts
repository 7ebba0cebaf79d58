import type { DocumentTerms } from '@hidden-schema/studies/measures/document-terms';
import { textCount } from '@hidden-schema/studies/measures/text-words';

/**
 * TF-IDF for each entry of the matrix, rows of unit length, as scikit-learn defines it: idf = ln((1 + N) / (1 + n_t)) + 1
 * for a word in n_t of N texts.
 */
export function tfIdf(matrix: DocumentTerms): Float32Array {
  const N = textCount(matrix);
  const idf = Float64Array.from(matrix.frequencies, (n) => Math.log((1 + N) / (1 + n)) + 1);
  const values = new Float32Array(matrix.counts.length);
  for (let text = 0; text < N; text++) {
    const [from, to] = [matrix.starts[text]!, matrix.starts[text + 1]!];
    let squares = 0;
    for (let at = from; at < to; at++) {
      const count = matrix.counts[at]!;
      const value = count * idf[matrix.terms[at]!]!;
      values[at] = value;
      squares += value * value;
    }
    const length = Math.sqrt(squares);
    for (let at = from; at < to; at++) values[at]! /= length;
  }
  return values;
}
