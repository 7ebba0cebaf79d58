import type { Tokenizer } from '@hidden-schema/text';
import { cat, Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { BertEncoder } from '@hidden-schema/transformers/bert';
import type { LanguageDecoder } from '@hidden-schema/transformers/language-decoder';
import { relationMeaning } from './relations.ts';

/** Token numbers of each relation's meaning. */
async function meaningsOf(tokenizer: Tokenizer, relations: readonly string[]): Promise<Int32Array[]> {
  const encoded = await tokenizer.encodeBatch(relations.map(relationMeaning), {
    specials: false,
    literal: true,
  });
  return encoded.map(({ ids }) => ids);
}

/** A table of embeddings with a row more for each meaning, the mean of its words': up to `rows` rows. */
function extended(table: Tensor, meanings: readonly Int32Array[], rows: number): Tensor {
  const added = meanings.map((ids) =>
    table.indexSelect(0, Tensor.fromArray(ids, [ids.length])).mean(0, true),
  );
  return cat([table, ...added]).narrow(0, 0, rows);
}

/**
 * The same BERT with an embedding for each relation's token: a frozen encoder reads the token as what it stands for,
 * and one that trains goes on from there. Frees the one given. `tokenizer` is that without the relations.
 */
export async function withRelationRows(
  encoder: BertEncoder,
  tokenizer: Tokenizer,
  relations: readonly string[],
): Promise<BertEncoder> {
  const meanings = await meaningsOf(tokenizer, relations);
  const rows = encoder.vocabulary + relations.length;
  const larger = scope(() => new BertEncoder({ ...encoder.config, vocab_size: rows }, new Generator(0)));
  scope(() =>
    noGrad(() => {
      const own = new Map(encoder.namedTensors());
      const name = 'embeddings.word_embeddings.weight';
      larger.load(own.set(name, extended(own.get(name)!, meanings, rows)));
    }),
  );
  encoder.free();
  return larger;
}

/** GPT-2's, LLaMA's and BART's tables with a row a token. */
const tables = /(^|\.)(wte|embed_tokens|lm_head|shared)\.weight$/;

/**
 * A pretrained decoder with rows for the relations' tokens, in one that `make` gives for a vocabulary. Frees the one
 * given. Weights may have spare rows already, which the tokens then take.
 */
export async function decoderWithRelations(
  decoder: LanguageDecoder,
  tokenizer: Tokenizer,
  relations: readonly string[],
  make: (config: Record<string, unknown>) => LanguageDecoder,
): Promise<LanguageDecoder> {
  const rows = Math.max(decoder.vocabularySize, tokenizer.vocabulary + relations.length);
  const meanings = await meaningsOf(tokenizer, relations);
  const larger = make({ ...decoder.configOf(), vocab_size: rows });
  scope(() =>
    noGrad(() => {
      const own = new Map(decoder.namedTensors());
      for (const [name, tensor] of own)
        if (tables.test(name))
          own.set(name, extended(tensor.narrow(0, 0, tokenizer.vocabulary), meanings, rows));
      larger.load(own);
    }),
  );
  decoder.free();
  return larger;
}
