import { UserError } from '@hidden-schema/base';
import { specialConfig } from '@hidden-schema/text/tokenizer/special';
import { loadTokenizer, type Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { type DType, openWeights, scope, type Tensor } from '@hidden-schema/torch';
import { z } from 'zod';
import { checkedConfig, readModelConfig, writeModelFolder } from './model-folder.ts';
import { StaticEncoder, type StaticParts } from './static-encoder.ts';

/** config.json of a static encoder. */
const staticConfigSchema = z.looseObject({
  model_type: z.literal('static'),
  /** D, and d of the pieces' vectors. */
  hidden_size: z.int().positive(),
  piece_size: z.int().positive(),
  vocab_size: z.int().positive(),
  teacher: z.string(),
  fitted: z.strictObject({ texts: z.int().nonnegative(), cosine: z.number() }),
});

/** Makes a folder with a static encoder and its tokenizer; tables of pieces are kept in float16. */
export function writeStaticEncoder(
  folder: string,
  { encoder, tokenizer }: { encoder: StaticEncoder; tokenizer: Tokenizer },
): void {
  const config = {
    model_type: 'static',
    hidden_size: encoder.width,
    piece_size: encoder.pieces.dim(1),
    vocab_size: encoder.vocabulary,
    ...encoder.notes,
  };
  const { json, special } = tokenizer;
  scope(() => {
    const tensors = [...encoder.namedTensors()].map(
      ([name, tensor]) => [name, halved.has(name) ? tensor.to('float16') : tensor] as const,
    );
    writeModelFolder(folder, {
      config,
      tensors,
      tokenizer: json,
      special: specialConfig(special, tokenizer),
    });
  });
}

const halved = new Set(['pieces', 'words']);

/** A table as it is after a folder has kept it, so that a run reads texts as its training did. */
export const keptInHalf = (table: Tensor): Tensor => table.to('float16').to('float32');

/** Opens a folder that `writeStaticEncoder` made. */
export function openStaticEncoder(folder: string): { encoder: StaticEncoder; tokenizer: Tokenizer } {
  const config = checkedConfig(staticConfigSchema, readModelConfig(folder), `${folder}/config.json`);
  const tokenizer = loadTokenizer(folder);
  const weights = openWeights(folder);
  try {
    const { hidden_size: width, piece_size: size, vocab_size: pieces } = config;
    const get = (name: string, shape: readonly (number | undefined)[], dtype: DType = 'float32'): Tensor =>
      checkedTensor(folder, name, { found: weights.get(name), shape, dtype });
    if (tokenizer.vocabulary > pieces)
      throw new UserError(
        `${folder}: the tokenizer has ${tokenizer.vocabulary} tokens, the weights ${pieces}`,
      );
    const parts: StaticParts = {
      pieces: get('pieces', [pieces, size]),
      rarity: get('rarity', [pieces]),
      columns: get('columns', [pieces], 'int32'),
      words: get('words', [undefined, width]),
      projection: get('projection', [size, width]),
      shift: get('shift', [width]),
    };
    checkColumns(folder, parts);
    const { teacher, fitted } = config;
    return { encoder: new StaticEncoder(parts, { teacher, fitted }), tokenizer };
  } finally {
    weights.close();
  }
}

/** A tensor of the stated shape, as float32 where it was kept in 16 bits. */
function checkedTensor(
  folder: string,
  name: string,
  { found, shape, dtype }: { found: Tensor; shape: readonly (number | undefined)[]; dtype: DType },
): Tensor {
  const fits =
    found.shape.length === shape.length && shape.every((n, at) => n === undefined || n === found.dim(at));
  const kind = found.dtype === 'float16' ? 'float32' : found.dtype;
  if (!fits || kind !== dtype)
    throw new UserError(
      `${folder}: ${name} is ${found.dtype} [${found.shape.join(', ')}], expected ${dtype} [${shape.map((n) => n ?? 'any').join(', ')}]; take a folder that was written whole`,
    );
  return found.dtype === 'float16' ? found.to('float32') : found;
}

/** Refuses rows that `words` does not have, before libtorch reads there. */
function checkColumns(folder: string, { columns, words }: StaticParts): void {
  const most = words.dim(0);
  const outside = (columns.toArray() as Int32Array).find((row) => row < 0 || row >= most);
  if (outside !== undefined)
    throw new UserError(
      `${folder}: columns names row ${outside} of ${most}; take a folder that was written whole`,
    );
}
