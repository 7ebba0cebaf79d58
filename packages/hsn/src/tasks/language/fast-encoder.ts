import type { TextCorpus } from '@hidden-schema/text';
import { packedProductsHere } from '@hidden-schema/torch';
import { distilledPieces } from '@hidden-schema/transformers/distil';
import type { StaticEncoder } from '@hidden-schema/transformers/static-encoder';
import { fitStatic, rarityOf, sampleRows } from '../../discovery/fit-static.ts';
import { rememberedVectors } from '../../discovery/text-memory.ts';
import type { OpenedEncoder } from '../../discovery/text-vectors.ts';
import { teacherOf } from './encoder-names.ts';

export interface FastOptions {
  name: string;
  seed: number;
  /** Tokens of a text that are read. */
  longest: number;
  cache?: string | undefined;
  signal?: AbortSignal | undefined;
  onNote?: ((text: string) => void) | undefined;
}

/** A static encoder for a corpus: distilled from a teacher, once, and fitted to the teacher's vectors of some texts. */
export async function fitFastEncoder(
  teacher: OpenedEncoder,
  { store, splits }: Pick<TextCorpus, 'store' | 'splits'>,
  options: FastOptions,
): Promise<StaticEncoder> {
  const { name, seed, longest, cache, signal, onNote } = options;
  for (const [, tensor] of teacher.encoder.namedTensors()) tensor.requireGrad(false);
  // A fit to a thousand vectors does not feel what bfloat16 rounds off.
  if (packedProductsHere().bfloat16) teacher.encoder.precision = 'bfloat16';
  const given = { ...(cache ? { cache } : {}), ...(signal ? { signal } : {}), ...(onNote ? { onNote } : {}) };
  const pieces = await distilledPieces(teacher, given);
  const rows = sampleRows(splits.train, seed);
  const texts = Array.from(rows, (row) => store.example(row).text);
  const vectors = await rememberedVectors(texts, teacher, { longest, ...(signal ? { signal } : {}) });
  const { vocabulary } = teacher.encoder;
  const special = Object.values(teacher.tokenizer.special).filter((id) => typeof id === 'number');
  const rarity = rarityOf(storedTokens(store, splits.train), vocabulary, special);
  try {
    const tokens = Array.from(storedTokens(store, rows));
    const { encoder, cosine } = fitStatic({ texts: tokens, vectors, rarity, pieces }, teacherOf(name));
    onNote?.(
      `encoder ${name}: a bag of word pieces in place of ${teacherOf(name)}, fitted to its vectors of ${texts.length} texts; mean cosine to them ${cosine.toFixed(2)} on texts left out`,
    );
    return encoder;
  } finally {
    pieces.free();
    vectors.free();
  }
}

/** The encoder's tokens of some texts, as many as it reads at once, one text after the other. */
function* storedTokens(store: TextCorpus['store'], rows: Iterable<number>): Generator<Int32Array> {
  for (const row of rows) yield store.ids('encoder', store.row(row));
}
