import type { TokenStore } from '@hidden-schema/text';
import { type Tensor, withoutGrad } from '@hidden-schema/torch';
import { type PassagePoints, type Passages, textPoints } from '../passages.ts';
import type { PursuitEncoder } from '../pursuit-encoder.ts';
import type { OpenedEncoder } from './text-vectors.ts';
import type { VectorRows } from './vector-file.ts';
import { type StoredVectorOptions, storedVectors } from './vector-store.ts';

// Shapes: N texts of the corpus, B some of them, P their passages, D width of the encoder, S of a point.

/** The texts of a corpus as the encoder reads them, with their vectors. */
export interface PassageVectors {
  passages: Passages;
  /** Of all passages, by their numbers. */
  vectors: VectorRows;
}

/** The vectors of all passages of a corpus, by their numbers: from the cache, or encoded. */
export function corpusVectors(
  store: TokenStore,
  passages: Passages,
  opened: OpenedEncoder,
  options: StoredVectorOptions,
): Promise<VectorRows> {
  const slice = (first: number, end: number) =>
    Array.from({ length: end - first }, (_, n) => passages.text(first + n));
  // File by file, so that one which is added leaves the stored vectors of the others as they are.
  let first = 0;
  const parts = store.manifest.report.files.map(({ sentences }) => {
    first += sentences;
    return passages.between(first - sentences, first);
  });
  return storedVectors({ count: passages.count, slice }, opened, { parts, ...options });
}

/** Texts of a corpus as points, from vectors that were made once. */
export class CorpusPoints {
  readonly #encoder: PursuitEncoder;
  readonly passages: Passages;
  readonly #vectors: VectorRows;

  constructor(encoder: PursuitEncoder, { passages, vectors }: PassageVectors) {
    this.#encoder = encoder;
    this.passages = passages;
    this.#vectors = vectors;
  }

  free(): void {
    this.#vectors.free();
    this.passages.free();
  }

  /** What walks of some texts are read from: a point for each passage, and how many passages each text has. */
  reading(rows: Int32Array): PassagePoints {
    const own = this.passages.rowsOf(rows);
    const tokens = this.passages.tokens(own);
    const points = withoutGrad(() => this.#encoder.points(tokens, this.#vectors.rows(own)));
    return { points, passages: this.passages.countsOf(rows) };
  }

  /** One point for each text. [B, S] */
  of(rows: Int32Array): Tensor {
    const { points, passages } = this.reading(rows);
    if (!passages) return points;
    const all = withoutGrad(() => textPoints({ points, passages }));
    points.free();
    return all;
  }
}
