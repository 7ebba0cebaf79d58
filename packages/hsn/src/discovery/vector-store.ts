import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, reasonOf, UserError } from '@hidden-schema/base';
import { openSafetensors, type Tensor, writeSafetensors } from '@hidden-schema/torch';
import { encodeTexts, type TextVectorOptions } from './text-vectors.ts';

export interface StoredVectorOptions extends TextVectorOptions {
  /** The folder of caches; HSN_CACHE or the user's unless given. */
  cache?: string;
  /** Hears where vectors came from, and what went wrong with the store. */
  onNote?: (text: string) => void;
}

const format = 1;
const name = 'vectors';

/**
 * Texts as vectors, encoded once: kept as one safetensors file in the cache, named by the texts, the encoder and how
 * much of a text it reads. A file that is damaged is made again. [N, D] float32
 */
export async function textVectors(texts: readonly string[], options: StoredVectorOptions): Promise<Tensor> {
  const { cache = cacheFolder(), onNote } = options;
  const file = path.join(cache, 'vectors', `${keyOf(texts, options)}.safetensors`);
  if (fs.existsSync(file)) {
    try {
      const vectors = readVectors(file, texts.length);
      onNote?.(`vectors of ${texts.length} texts were in the cache`);
      return vectors;
    } catch (error) {
      onNote?.(`${file} is damaged (${reasonOf(error)}): texts are encoded again`);
    }
  }
  const vectors = await encodeTexts(texts, options);
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    writeSafetensors(file, [[name, vectors]], { sha256: sumOf(vectors) });
  } catch (error) {
    onNote?.(`vectors were not kept for the next time: ${reasonOf(error)}`);
  }
  return vectors;
}

function keyOf(texts: readonly string[], { encoder, longest }: TextVectorOptions): string {
  const hash = createHash('sha256').update(JSON.stringify({ format, encoder, longest }));
  // With lengths between, so that no two lists of texts run together to the same bytes.
  for (const text of texts) hash.update(`\n${text.length} `).update(text);
  return hash.digest('hex');
}

function sumOf(vectors: Tensor): string {
  return createHash('sha256')
    .update(vectors.toArray() as Float32Array)
    .digest('hex');
}

function readVectors(file: string, texts: number): Tensor {
  const weights = openSafetensors(file);
  try {
    const found = weights.get(name);
    const { dtype, shape } = found;
    if (dtype !== 'float32' || shape.length !== 2 || shape[0] !== texts)
      throw new UserError(`expected ${texts} rows of float32, got ${dtype} [${shape.join(', ')}]`);
    if (weights.metadata.get('sha256') !== sumOf(found))
      throw new UserError('its numbers are not those that were written');
    return found;
  } finally {
    weights.close();
  }
}
