import { Random } from '@hidden-schema/base/random';
import type { DocumentTerms } from '@hidden-schema/studies/measures/document-terms';
import { dot } from '@hidden-schema/studies/measures/dot';
import { largestOfRows, type TopicModel, wordsByWeight } from './topic-model.ts';

// Shapes: N texts, V words, K topics.

interface NmfOptions {
  topics: number;
  seed: number;
  iterations?: number;
  /** Ends when a sweep lowers the error by less, as a share of the first error. */
  tolerance?: number;
}

interface NmfFit {
  /** Topics of texts. [N, K] */
  readonly texts: Float64Array;
  /** Words of topics, a row a word. [V, K] */
  readonly words: Float64Array;
  /** Frobenius norm of X − WH. */
  readonly error: number;
}

/** A matrix in compressed sparse rows, and which rows it has. */
interface Sparse {
  readonly starts: Uint32Array;
  readonly columns: Uint32Array;
  readonly values: ArrayLike<number>;
}

/**
 * Non-negative factors X ≈ WH of least squared error, element by element in closed form (HALS: Cichocki & Phan 2009),
 * for values such as TF-IDF on the places of a matrix of texts and words.
 */
export function fitNmf(matrix: DocumentTerms, values: ArrayLike<number>, options: NmfOptions): NmfFit {
  const { topics: K, iterations = 200, tolerance = 1e-5 } = options;
  const byText: Sparse = { starts: matrix.starts, columns: matrix.terms, values };
  const byWord = transposed(byText, matrix.words.length);
  const [N, V] = [matrix.starts.length - 1, matrix.words.length];
  let [total, squares] = [0, 0];
  for (let at = 0; at < values.length; at++) {
    total += values[at]!;
    squares += values[at]! * values[at]!;
  }
  const random = new Random(options.seed);
  const scale = Math.sqrt(total / Math.max(1, N * V) / K);
  const start = (count: number) =>
    Float64Array.from({ length: count }, () => scale * Math.abs(random.normal()));
  const [texts, words] = [start(N * K), start(V * K)];
  let error = squares;
  for (let i = 0, done = false; !done; i++) {
    const before = error;
    const byWords = gramOf(words, K);
    const overlap = improve(texts, words, byWords, byText);
    const byTexts = gramOf(texts, K);
    // ‖X − WH‖² = ‖X‖² − 2 ⟨X, WH⟩ + ⟨WᵀW, HHᵀ⟩
    error = squares - 2 * overlap + dot(byTexts, byWords);
    done = i + 1 >= iterations || (i > 0 && before - error <= tolerance * squares);
    if (!done) improve(words, texts, byTexts, byWord);
  }
  return { texts, words, error: Math.sqrt(Math.max(0, error)) };
}

/** Topics by NMF; the text's is the one of the largest weight. */
export function nmfTopics(matrix: DocumentTerms, values: ArrayLike<number>, options: NmfOptions): TopicModel {
  const { texts, words } = fitNmf(matrix, values, options);
  return {
    words: wordsByWeight(matrix.words, words, { topics: options.topics }),
    clusters: largestOfRows(texts, options.topics),
  };
}

/** Best rows of one factor for the other, one element after another; returns ⟨X, WH⟩ with the rows found. */
function improve(rows: Float64Array, other: Float64Array, gram: Float64Array, matrix: Sparse): number {
  const K = Math.sqrt(gram.length);
  const target = new Float64Array(K);
  const slope = new Float64Array(K);
  let overlap = 0;
  for (let row = 0; row + 1 < matrix.starts.length; row++) {
    target.fill(0);
    for (let at = matrix.starts[row]!; at < matrix.starts[row + 1]!; at++) {
      const [value, column] = [matrix.values[at]!, matrix.columns[at]! * K];
      for (let k = 0; k < K; k++) target[k]! += value * other[column + k]!;
    }
    const own = rows.subarray(row * K, (row + 1) * K);
    slope.set(target);
    for (let k = 0; k < K; k++) move(slope, gram, k * K, own[k]!);
    for (let k = 0; k < K; k++) {
      const curvature = gram[k * K + k]!;
      const change = curvature === 0 ? 0 : Math.max(-own[k]!, slope[k]! / curvature);
      own[k]! += change;
      move(slope, gram, k * K, change);
    }
    overlap += dot(own, target);
  }
  return overlap;
}

/** What one element's change does to the slopes of all; most change by nothing. */
function move(slope: Float64Array, gram: Float64Array, from: number, change: number): void {
  if (change === 0) return;
  for (let j = 0; j < slope.length; j++) slope[j]! -= change * gram[from + j]!;
}

/** [K, K] */
function gramOf(rows: Float64Array, K: number): Float64Array {
  const gram = new Float64Array(K * K);
  for (let from = 0; from < rows.length; from += K)
    for (let i = 0; i < K; i++) {
      const value = rows[from + i]!;
      if (value === 0) continue;
      for (let j = 0; j < K; j++) gram[i * K + j]! += value * rows[from + j]!;
    }
  return gram;
}

function transposed({ starts, columns, values }: Sparse, width: number): Sparse {
  const turned = new Uint32Array(width + 1);
  for (const column of columns) turned[column + 1]!++;
  for (let column = 0; column < width; column++) turned[column + 1]! += turned[column]!;
  const next = turned.slice();
  const rows = new Uint32Array(columns.length);
  const moved = new Float64Array(columns.length);
  for (let row = 0; row + 1 < starts.length; row++)
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const place = next[columns[at]!]!++;
      rows[place] = row;
      moved[place] = values[at]!;
    }
  return { starts: turned, columns: rows, values: moved };
}
