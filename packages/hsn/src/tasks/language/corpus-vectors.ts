import type { TokenStore } from '@hidden-schema/text';
import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import type { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import type { OpenedEncoder } from '../../discovery/text-vectors.ts';
import type { VectorRows } from '../../discovery/vector-rows.ts';
import { type StoredVectorOptions, storedVectors } from '../../discovery/vector-store.ts';

// Shapes: N texts of the corpus, B some of them, D width of the encoder, S of a point.

/** The vectors of all texts of a corpus, by rows of its store: from the cache, or encoded. */
export function corpusVectors(
  store: TokenStore,
  opened: OpenedEncoder,
  options: StoredVectorOptions,
): Promise<VectorRows> {
  const slice = (first: number, end: number) =>
    Array.from({ length: end - first }, (_, n) => store.example(first + n).text);
  // File by file, so that one which is added leaves the stored vectors of the others as they are.
  const parts = store.manifest.report.files.map(({ sentences }) => sentences);
  return storedVectors({ count: store.count, slice }, opened, { parts, ...options });
}

/** The encoder's tokens of some texts, one after the other. */
export function* storedTokens(store: TokenStore, rows: Iterable<number>): Generator<Int32Array> {
  for (const row of rows) yield store.ids('encoder', store.row(row));
}

/** Texts of a corpus as points, from vectors that were made once. */
export class CorpusPoints {
  readonly #encoder: PursuitEncoder;
  readonly #store: TokenStore;
  readonly #vectors: VectorRows;

  constructor(encoder: PursuitEncoder, store: TokenStore, vectors: VectorRows) {
    this.#encoder = encoder;
    this.#store = store;
    this.#vectors = vectors;
  }

  free(): void {
    this.#vectors.free();
  }

  /** [B, S] */
  of(rows: Int32Array): Tensor {
    const texts = storedTokens(this.#store, rows);
    return scope(() => noGrad(() => this.#encoder.points(texts, this.#vectors.rows(rows))));
  }
}
