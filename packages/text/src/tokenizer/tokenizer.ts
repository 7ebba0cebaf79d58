import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isFolder, readJsonFile, readText, reasonOf, UserError } from '@hidden-schema/base';
import { type Encoding, Tokenizer as RustTokenizer } from 'tokenizers';
import { fault } from './definition.ts';
import { requireSafe } from './probe.ts';

export interface EncodeOptions {
  /** Add what the model expects around a text ([CLS] … [SEP]). */
  specials?: boolean;
  /** Special tokens spelled out in the text are plain text, so that no text can end or mask itself. */
  literal?: boolean;
  /** Keep at most so many tokens; the tokens added after a text stay. */
  longest?: number;
}

export interface EncodedIds {
  ids: Int32Array;
  /** Tokens that `longest` cut off. */
  lost: number;
}

export interface Encoded extends EncodedIds {
  tokens: string[];
  /** Half-open ranges of the text in UTF-16 units, flat pairs; 0, 0 for added special tokens. */
  offsets: Int32Array;
  /** Number of the word each token belongs to; null for added special tokens. */
  words: (number | null)[];
}

/** Text to token numbers and back. */
export interface Tokenizer {
  /** Numbers run from 0 to one less: the rows that an embedding needs. */
  readonly vocabulary: number;
  readonly special: SpecialTokens;
  /** sha256 of the tokenizer's definition. */
  readonly hash: string;
  /** The definition, as tokenizer.json has it. */
  readonly json: string;
  encode(text: string, options?: EncodeOptions): Promise<Encoded>;
  /** Ids alone, for whole batches. */
  encodeBatch(texts: readonly string[], options?: EncodeOptions): Promise<EncodedIds[]>;
  decode(ids: ArrayLike<number>, options?: { specials?: boolean }): Promise<string>;
  idOf(token: string): number | undefined;
  tokenOf(id: number): string | undefined;
}

/** A tokenizer from a tokenizer.json, or from a folder that holds one. */
export function loadTokenizer(fileOrFolder: string): Tokenizer {
  const file = isFolder(fileOrFolder) ? path.join(fileOrFolder, 'tokenizer.json') : fileOrFolder;
  let json: string;
  try {
    json = readText(file);
  } catch (error) {
    throw new UserError(`${file} cannot be read (${(error as Error).message}); expected a tokenizer.json`);
  }
  return tokenizerFromJson(json, file, readConfig(path.join(path.dirname(file), 'tokenizer_config.json')));
}

/** A tokenizer from the text of a tokenizer.json, whoever wrote it; `name` is what faults call it. */
export function tokenizerFromJson(
  json: string,
  name = 'the tokenizer',
  config: Readonly<Record<string, unknown>> = {},
): Tokenizer {
  requireSafe(json, name);
  try {
    return new JsonTokenizer(json, config);
  } catch (error) {
    throw fault(name, reasonOf(error));
  }
}

/** The same of a definition that this program has made itself. */
export const ownTokenizer = (json: string, config: Readonly<Record<string, unknown>> = {}): Tokenizer =>
  new JsonTokenizer(json, config);

function readConfig(file: string): Record<string, unknown> {
  if (!fs.existsSync(file)) return {};
  return readJsonFile<Record<string, unknown>>(file);
}

interface Definition {
  padding?: unknown;
  truncation?: unknown;
  added_tokens?: { content: string; special?: boolean }[];
}

/** The Rust library on a tokenizer.json, its own padding and truncation switched off. */
class JsonTokenizer implements Tokenizer {
  readonly vocabulary: number;
  readonly special: SpecialTokens;
  readonly hash: string;
  readonly json: string;
  readonly #rust: RustTokenizer;
  readonly #definition: Definition;
  #literal: RustTokenizer | undefined;

  constructor(json: string, config: Readonly<Record<string, unknown>>) {
    this.#definition = { ...(JSON.parse(json) as Definition), padding: null, truncation: null };
    this.json = json;
    this.hash = createHash('sha256').update(json).digest('hex');
    this.#rust = RustTokenizer.fromString(JSON.stringify(this.#definition));
    let highest = -1;
    for (const id of Object.values(this.#rust.getVocab(true))) highest = Math.max(highest, id);
    this.vocabulary = highest + 1;
    this.special = specialTokens((token) => this.idOf(token), config);
  }

  async encode(text: string, options: EncodeOptions = {}): Promise<Encoded> {
    const encoding = await this.#for(options).encode(text, null, {
      addSpecialTokens: options.specials ?? true,
    });
    const kept = keptTokens(encoding, options.longest);
    const pick = <T>(all: readonly T[]): T[] => kept.map((at) => all[at]!);
    return {
      ids: Int32Array.from(pick(encoding.getIds())),
      lost: encoding.getLength() - kept.length,
      tokens: pick(encoding.getTokens()),
      offsets: utf16Offsets(text, pick(encoding.getOffsets())),
      words: pick(encoding.getWordIds()).map((word) => word ?? null),
    };
  }

  async encodeBatch(texts: readonly string[], options: EncodeOptions = {}): Promise<EncodedIds[]> {
    const how = { addSpecialTokens: options.specials ?? true };
    const encodings = await this.#for(options).encodeBatch(texts as string[], how);
    return encodings.map((encoding) => {
      const all = encoding.getIds();
      if (options.longest === undefined || all.length <= options.longest)
        return { ids: Int32Array.from(all), lost: 0 };
      const kept = keptTokens(encoding, options.longest);
      return { ids: Int32Array.from(kept, (at) => all[at]!), lost: all.length - kept.length };
    });
  }

  decode(ids: ArrayLike<number>, options: { specials?: boolean } = {}): Promise<string> {
    return this.#rust.decode(Array.from(ids), !(options.specials ?? true));
  }

  idOf(token: string): number | undefined {
    return this.#rust.tokenToId(token) ?? undefined;
  }

  tokenOf(id: number): string | undefined {
    return this.#rust.idToToken(id) ?? undefined;
  }

  #for({ literal }: EncodeOptions): RustTokenizer {
    if (!literal) return this.#rust;
    this.#literal ??= RustTokenizer.fromString(
      JSON.stringify({
        ...this.#definition,
        added_tokens: (this.#definition.added_tokens ?? []).filter((token) => !token.special),
      }),
    );
    return this.#literal;
  }
}

/** Positions kept when at most `longest` may be: the first ones, and the special tokens that end the text. */
function keptTokens(encoding: Encoding, longest = Number.POSITIVE_INFINITY): number[] {
  const length = encoding.getLength();
  const all = Array.from({ length }, (_, at) => at);
  if (length <= longest) return all;
  const special = encoding.getSpecialTokensMask();
  let tail = 0;
  while (tail < longest - 1 && special[length - 1 - tail] === 1) tail++;
  return [...all.slice(0, longest - tail), ...all.slice(length - tail)];
}

/** Index of every code point in UTF-16 units, the end included; nothing where the two agree. */
function unitsOf(text: string): Int32Array | undefined {
  if (!/[\uD800-\uDBFF]/.test(text)) return undefined;
  const units = new Int32Array(text.length + 1);
  let points = 0;
  let at = 0;
  for (const character of text) {
    units[points++] = at;
    at += character.length;
  }
  units[points] = at;
  return units;
}

/** Ranges in code points, as Rust counts, to ranges in UTF-16 units, as JavaScript slices; flat pairs. */
export function utf16Offsets(text: string, ranges: readonly (readonly number[])[]): Int32Array {
  const units = unitsOf(text);
  const flat = new Int32Array(2 * ranges.length);
  for (const [i, [start = 0, end = 0]] of ranges.entries()) {
    flat[2 * i] = units ? units[start]! : start;
    flat[2 * i + 1] = units ? units[end]! : end;
  }
  return flat;
}

/** Numbers of the tokens that mean something to a model rather than to a reader. */
export interface SpecialTokens {
  pad?: number;
  unknown?: number;
  /** Stands before a text: [CLS], <s>, or GPT-2's end of text. */
  begin?: number;
  /** Stands after a text: [SEP], </s>, <|endoftext|>. */
  end?: number;
  mask?: number;
}

type Role = keyof SpecialTokens;

const usualNames: Record<Role, readonly string[]> = {
  pad: ['[PAD]', '<pad>', '<|pad|>'],
  unknown: ['[UNK]', '<unk>'],
  begin: ['[CLS]', '<s>', '<|begin_of_text|>', '<|startoftext|>', '<|endoftext|>'],
  end: ['[SEP]', '</s>', '<|end_of_text|>', '<|endoftext|>'],
  mask: ['[MASK]', '<mask>'],
};

/** Keys of tokenizer_config.json, the more telling first. */
const configKeys: Record<Role, readonly string[]> = {
  pad: ['pad_token'],
  unknown: ['unk_token'],
  begin: ['bos_token', 'cls_token'],
  end: ['eos_token', 'sep_token'],
  mask: ['mask_token'],
};

/** Special tokens by what tokenizer_config.json says, else by their usual names. */
export function specialTokens(
  idOf: (token: string) => number | undefined,
  config: Readonly<Record<string, unknown>> = {},
): SpecialTokens {
  const found: SpecialTokens = {};
  for (const role of Object.keys(usualNames) as Role[]) {
    const stated = configKeys[role].map((key) => contentOf(config[key])).filter((name) => name !== undefined);
    for (const name of [...stated, ...usualNames[role]]) {
      const id = idOf(name);
      if (id === undefined) continue;
      found[role] = id;
      break;
    }
  }
  return found;
}

function contentOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : undefined;
}

/** What tokenizer_config.json must say so that the same tokens are found again; nothing where usual names find them. */
export function specialConfig(
  special: SpecialTokens,
  names: { idOf(token: string): number | undefined; tokenOf(id: number): string | undefined },
): Record<string, string> | undefined {
  const usual = specialTokens((token) => names.idOf(token));
  const roles = (Object.keys(usualNames) as Role[]).filter((role) => special[role] !== undefined);
  if (roles.every((role) => special[role] === usual[role])) return undefined;
  return Object.fromEntries(roles.map((role) => [configKeys[role][0]!, names.tokenOf(special[role]!)!]));
}
