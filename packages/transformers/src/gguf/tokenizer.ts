import { addedToken, type BytePairSplit, byteBpeJson } from '@hidden-schema/text/tokenizer/byte-bpe';
import { byteToken, pieceTokenizerJson } from '../piece-tokenizer.ts';
import type { GgufFile } from './reader.ts';

/** What a token is, in `tokenizer.ggml.token_type`. */
const kinds = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const;

/** How texts are cut before bytes are joined, by the name in `tokenizer.ggml.pre`; LLaMA 3's puts its start first. */
const splits: Readonly<Record<string, BytePairSplit>> = {
  'gpt-2': 'gpt2',
  default: 'gpt2',
  smollm: 'digits',
  starcoder: 'digits',
  refact: 'digits',
  'llama-bpe': 'llama3',
  'llama-v3': 'llama3',
  llama3: 'llama3',
};

interface Tokens {
  names: readonly string[];
  types: readonly number[];
}

/** Special tokens by the names that tokenizer_config.json has for them. */
export type SpecialNames = Readonly<Record<string, string>>;

/** The tokenizer that a GGUF's metadata holds: its tokenizer.json, and what stands beside it. */
export function ggufTokenizer(file: GgufFile): { json: string; special: SpecialNames } {
  const model = file.text('tokenizer.ggml.model');
  if (model !== 'gpt2' && model !== 'llama')
    file.fail(
      `its tokenizer is of the kind ${JSON.stringify(model)}; gpt2 (byte pairs) and llama (SentencePiece) can be read`,
    );
  const tokens = tokensOf(file);
  const json = model === 'gpt2' ? bytePairs(file, tokens) : pieces(file, tokens);
  return { json, special: specialNames(file, tokens) };
}

function tokensOf(file: GgufFile): Tokens {
  const names = file.texts('tokenizer.ggml.tokens');
  const types = file.has('tokenizer.ggml.token_type')
    ? file.numbers('tokenizer.ggml.token_type')
    : names.map(() => kinds.normal);
  if (types.length !== names.length)
    file.fail(`its tokenizer has ${names.length} tokens but ${types.length} types of them`);
  const first = new Map<string, number>();
  for (const [id, name] of names.entries()) {
    const earlier = first.get(name);
    if (earlier !== undefined)
      file.fail(`its tokenizer has ${JSON.stringify(name)} twice, as ${earlier} and ${id}`);
    first.set(name, id);
  }
  return { names, types };
}

function addedOf({ names, types }: Tokens) {
  return names.flatMap((name, id) => {
    const type = types[id];
    if (type === kinds.userDefined) return [addedToken(name, id, false)];
    return type === kinds.control || type === kinds.unknown ? [addedToken(name, id)] : [];
  });
}

function startOf(file: GgufFile, tokens: Tokens, usual: boolean) {
  if (!file.flag('tokenizer.ggml.add_bos_token', usual)) return undefined;
  const id = file.number('tokenizer.ggml.bos_token_id');
  return { token: nameOf(file, tokens, id, 'bos'), id };
}

function nameOf(file: GgufFile, { names }: Tokens, id: number, role: string): string {
  return names[id] ?? file.fail(`its ${role} token is ${id}, of ${names.length} tokens`);
}

function bytePairs(file: GgufFile, tokens: Tokens): string {
  const pre = file.text('tokenizer.ggml.pre', 'default');
  const split = Object.hasOwn(splits, pre) ? splits[pre] : undefined;
  if (!split)
    file.fail(
      `its tokenizer cuts texts as ${JSON.stringify(pre)}; ${Object.keys(splits).join(', ')} are known`,
    );
  return byteBpeJson({
    ids: new Map(tokens.names.map((name, id) => [name, id])),
    merges: file.texts('tokenizer.ggml.merges'),
    added: addedOf(tokens),
    split,
    start: startOf(file, tokens, split === 'llama3'),
  });
}

function pieces(file: GgufFile, tokens: Tokens): string {
  const { names, types } = tokens;
  const scores = file.numbers('tokenizer.ggml.scores');
  if (scores.length !== names.length)
    file.fail(`its tokenizer has ${names.length} tokens but ${scores.length} scores of them`);
  const known = new Set(names);
  const missing = Array.from({ length: 256 }, (_, byte) => byteToken(byte)).find((name) => !known.has(name));
  if (missing !== undefined) file.fail(`its tokenizer has no token for the byte ${missing}`);
  const unknown = file.number('tokenizer.ggml.unknown_token_id', 0);
  return pieceTokenizerJson({
    names,
    pieces: names.flatMap((text, id) => (types[id] === kinds.normal ? [{ text, score: scores[id]! }] : [])),
    added: addedOf(tokens),
    unknown: nameOf(file, tokens, unknown, 'unknown'),
    spaceFirst: file.flag('tokenizer.ggml.add_space_prefix', true),
    start: startOf(file, tokens, true),
  });
}

const roles = {
  bos_token: 'bos_token_id',
  eos_token: 'eos_token_id',
  unk_token: 'unknown_token_id',
  pad_token: 'padding_token_id',
} as const;

function specialNames(file: GgufFile, tokens: Tokens): SpecialNames {
  const found = Object.entries(roles).flatMap(([role, key]) => {
    const full = `tokenizer.ggml.${key}`;
    return file.has(full) ? [[role, nameOf(file, tokens, file.number(full), role)]] : [];
  });
  return Object.fromEntries(found) as SpecialNames;
}
