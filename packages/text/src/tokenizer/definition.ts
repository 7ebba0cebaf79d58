import { parseJson, UserError } from '@hidden-schema/base';
import { z } from 'zod';

/** A part of a tokenizer.json: its type, and what that type takes. */
type Part = { type: string } & Record<string, unknown>;

const id = z.int().min(0).max(0xffffff);
const ids = z.record(z.string(), id);
const part = z.looseObject({ type: z.string() }).nullish();
const definitionSchema = z.looseObject({
  added_tokens: z
    .array(z.looseObject({ id, content: z.string(), special: z.boolean().optional() }))
    .max(1_000_000)
    .nullish(),
  normalizer: part,
  pre_tokenizer: part,
  post_processor: part,
  decoder: part,
  model: z.looseObject({ type: z.string().optional() }),
});
export type Definition = z.infer<typeof definitionSchema>;

/** Every type that is known here, by its place; another one may do anything. */
const TYPES = {
  normalizer:
    'BertNormalizer Strip StripAccents NFC NFD NFKC NFKD Sequence Lowercase Nmt Precompiled Replace Prepend ByteLevel',
  pre_tokenizer:
    'BertPreTokenizer ByteLevel CharDelimiterSplit Metaspace Whitespace WhitespaceSplit Sequence Split Punctuation Digits UnicodeScripts FixedLength',
  post_processor: 'RobertaProcessing BertProcessing ByteLevel TemplateProcessing Sequence',
  decoder: 'BPEDecoder ByteLevel WordPiece Metaspace CTC Sequence Replace Fuse Strip ByteFallback',
} as const;
type Place = keyof typeof TYPES;

const MOST_PARTS = 64;
/** How many times longer replacements may make a text. */
const MOST_GROWTH = 100;

/** A tokenizer.json that the native library can be given: it aborts the process on some that it does not expect. */
export function checkedDefinition(json: string, name: string): Definition {
  const result = definitionSchema.safeParse(parseJson(json, name, { anyKey: true }));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw fault(name, `${issue!.path.join('.') || 'the file'}: ${issue!.message}`);
  }
  const definition = result.data;
  const problem = modelFault(definition.model) ?? placesFault(definition);
  if (problem !== undefined) throw fault(name, problem);
  return definition;
}

export const fault = (name: string, reason: string): UserError =>
  new UserError(`${name} is not a tokenizer.json of Hugging Face's tokenizers: ${reason}`);

/** All parts at a place, those in sequences too. */
export function partsOf(found: unknown): Part[] {
  const waiting = [found as Part | null | undefined];
  const parts: Part[] = [];
  for (let next = waiting.shift(); waiting.length > 0 || next; next = waiting.shift()) {
    if (!next) continue;
    parts.push(next);
    for (const key of ['normalizers', 'pretokenizers', 'processors', 'decoders'])
      if (Array.isArray(next[key])) waiting.push(...(next[key] as Part[]));
    if (parts.length > MOST_PARTS) break;
  }
  return parts;
}

function placesFault(definition: Definition): string | undefined {
  for (const place of Object.keys(TYPES) as Place[]) {
    const parts = partsOf(definition[place]);
    if (parts.length > MOST_PARTS) return `${place} has more than ${MOST_PARTS} parts`;
    let growth = 1;
    for (const one of parts) {
      if (!TYPES[place].split(' ').includes(one.type)) return `${place} has the unknown type ${one.type}`;
      const problem = partFault(one, definition);
      if (problem !== undefined) return `${one.type} in ${place}: ${problem}`;
      growth *= growthOf(one);
    }
    if (growth > MOST_GROWTH) return `${place} makes texts more than ${MOST_GROWTH} times longer`;
  }
  return undefined;
}

function partFault(one: Part, definition: Definition): string | undefined {
  const regex = regexOf(one);
  if (regex !== undefined) return patternFault(regex);
  if (one.type === 'Precompiled') return charsmapFault(String(one.precompiled_charsmap));
  if (one.type === 'FixedLength' && one.length === 0) return 'expected a length from 1';
  if (one.type === 'TemplateProcessing') return templateFault(one, definition);
  return undefined;
}

/** The regular expression of a part, if it has one. */
export function regexOf({ pattern }: Part): string | undefined {
  const regex = (pattern as { Regex?: unknown } | undefined)?.Regex;
  return typeof regex === 'string' ? regex : undefined;
}

function growthOf({ type, pattern, content }: Part): number {
  if (type !== 'Replace' || typeof content !== 'string') return 1;
  const text = (pattern as { String?: unknown } | undefined)?.String;
  // A regular expression may match between any two letters.
  return typeof text === 'string' && text !== ''
    ? Math.max(1, content.length / text.length)
    : 1 + content.length;
}

const pieces = z.array(
  z.union([
    z.object({ Sequence: z.object({ id: z.enum(['A', 'B']) }) }),
    z.object({ SpecialToken: z.object({ id: z.string() }) }),
  ]),
);
const templateSchema = z.looseObject({
  single: pieces,
  pair: pieces,
  special_tokens: z.record(z.string(), z.looseObject({ ids: z.array(id), tokens: z.array(z.string()) })),
});

/** The tokens of a template must be there; one text has no second half. */
function templateFault(one: Part, { model, added_tokens: added }: Definition): string | undefined {
  const result = templateSchema.safeParse(one);
  if (!result.success) return `${result.error.issues[0]!.path.join('.')}: ${result.error.issues[0]!.message}`;
  const { single, pair, special_tokens: special } = result.data;
  if (single.some((piece) => 'Sequence' in piece && piece.Sequence.id === 'B'))
    return 'the template of one text names a second';
  for (const piece of [...single, ...pair])
    if ('SpecialToken' in piece && !Object.hasOwn(special, piece.SpecialToken.id))
      return `the template names ${JSON.stringify(piece.SpecialToken.id)}, which is not among its tokens`;
  const known = new Set([...vocabularyIds(model), ...(added ?? []).map((token) => token.id)]);
  for (const [token, { ids: own, tokens }] of Object.entries(special)) {
    const missing = own.find((number) => !known.has(number));
    if (missing !== undefined)
      return `${JSON.stringify(token)} has the number ${missing}, which no token has`;
    if (own.length !== tokens.length)
      return `${JSON.stringify(token)} has ${own.length} numbers for ${tokens.length} tokens`;
  }
  return undefined;
}

function vocabularyIds({ vocab }: Definition['model']): Iterable<number> {
  return Array.isArray(vocab) ? vocab.keys() : Object.values((vocab ?? {}) as Record<string, number>);
}

const merge = z.union([z.string(), z.tuple([z.string(), z.string()])]);
const modelSchemas: Readonly<Record<string, z.ZodType>> = {
  BPE: z.looseObject({ vocab: ids, merges: z.array(merge) }),
  WordLevel: z.looseObject({ vocab: ids }),
  WordPiece: z.looseObject({ vocab: ids, max_input_chars_per_word: z.int().max(1000).optional() }),
  Unigram: z.looseObject({ vocab: z.array(z.tuple([z.string(), z.number()])) }),
};

function modelFault(model: Definition['model']): string | undefined {
  const type = model.type ?? (model.merges ? 'BPE' : 'WordPiece');
  const schema = modelSchemas[type];
  if (!schema) return `model has the unknown type ${type}`;
  const result = schema.safeParse(model);
  if (!result.success)
    return `model.${result.error.issues[0]!.path.join('.')}: ${result.error.issues[0]!.message}`;
  return type === 'BPE' ? mergesFault(model) : undefined;
}

/** Both parts of a merge, and what they make, must be tokens. */
function mergesFault(model: Definition['model']): string | undefined {
  const vocab = model.vocab as Record<string, number>;
  const prefix = typeof model.continuing_subword_prefix === 'string' ? model.continuing_subword_prefix : '';
  for (const one of model.merges as (string | [string, string])[]) {
    const [left, right, ...more] = typeof one === 'string' ? one.split(' ') : one;
    const made = `${left}${right?.slice(prefix.length)}`;
    const parts = [left, right].every((token) => token !== undefined && Object.hasOwn(vocab, token));
    if (!parts || more.length > 0 || !right!.startsWith(prefix) || !Object.hasOwn(vocab, made))
      return `the merge ${JSON.stringify(one)} is not of tokens that make a token`;
  }
  return undefined;
}

const BYTES_A_UNIT = 4;
/** A step by a byte stays within the block of 256 units that its node is in. */
const BLOCK = 256;

const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6);
const labelOf = (unit: number): number => unit & 0x800000ff;
const hasLeaf = (unit: number): boolean => ((unit >>> 8) & 1) === 1;
const placeOf = (unit: number): number => unit & 0x7fffffff;

/**
 * What is wrong with SentencePiece's table of replaced letters (a double-array trie, then the texts it points to).
 * The native library follows it without looking, so every node that can be reached is visited here first.
 */
export function charsmapFault(base64: string): string | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return 'expected base64';
  const bytes = Buffer.from(base64, 'base64');
  const size = bytes.length >= BYTES_A_UNIT ? bytes.readUInt32LE(0) : 0;
  if (size === 0 || size % (BYTES_A_UNIT * BLOCK) !== 0 || size + BYTES_A_UNIT > bytes.length)
    return 'expected a trie of whole blocks before its texts';
  const texts = bytes.subarray(BYTES_A_UNIT + size);
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(texts);
  } catch {
    return 'expected texts of valid UTF-8';
  }
  const units = Uint32Array.from({ length: size / BYTES_A_UNIT }, (_, at) =>
    bytes.readUInt32LE(BYTES_A_UNIT * (at + 1)),
  );
  return walkFault(units, texts);
}

function walkFault(units: Uint32Array, texts: Buffer): string | undefined {
  const seen = new Uint8Array(units.length);
  const waiting = [0];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const unit = units[node]!;
    const base = (node ^ offsetOf(unit)) >>> 0;
    if (base >= units.length) return `a node leads to ${base}, beyond ${units.length} units`;
    if (node !== 0 && hasLeaf(unit) && !isText(texts, placeOf(units[base]!)))
      return `a text at ${placeOf(units[base]!)} of ${texts.length} bytes`;
    for (let byte = 1; byte < BLOCK; byte++) {
      const next = base ^ byte;
      if (labelOf(units[next]!) !== byte || seen[next]) continue;
      seen[next] = 1;
      waiting.push(next);
    }
  }
  return undefined;
}

/** Whether a text begins there: within the bytes, and not amid a letter. */
const isText = (texts: Buffer, at: number): boolean => at < texts.length && (texts[at]! & 0xc0) !== 0x80;

/** How LLaMA 3 cuts a text into words. */
export const LLAMA3_PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** Patterns of well-known tokenizers, known to take time in proportion to the text. */
const KNOWN: ReadonlySet<string> = new Set([
  // GPT-2
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  LLAMA3_PATTERN,
  // Qwen 2
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
]);

export const isKnownPattern = (pattern: string): boolean => KNOWN.has(pattern);

const LONGEST = 5000;

/** What keeps a regular expression from being run at all: a shape by which some texts take time without bound. */
export function patternFault(pattern: string): string | undefined {
  if (isKnownPattern(pattern)) return undefined;
  if (pattern.length > LONGEST) return `expected at most ${LONGEST} characters, got ${pattern.length}`;
  if (/\\[1-9]|\\[kg][<']|\(\?[(~]|\(\?&|\(\?P[=>]/.test(pattern))
    return 'it refers back to groups, which takes time without bound';
  return repeatsRepetition(pattern)
    ? 'it repeats a group that itself repeats, which takes time without bound'
    : undefined;
}

/** Whether a group with an unbounded repetition in it is repeated without bound, as in (a+)+. */
function repeatsRepetition(pattern: string): boolean {
  // For each open group: whether it holds an unbounded repetition.
  const open: boolean[] = [false];
  let closed: boolean | undefined;
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at];
    const quantifier = /^(?:[*+]|\{\d*,\})/.exec(pattern.slice(at, at + 20))?.[0];
    if (quantifier !== undefined) {
      if (closed) return true;
      open[open.length - 1] = true;
      at += quantifier.length - 1;
      // A lazy or possessive mark behind it is no repetition of its own.
      if (/[?+]/.test(pattern[at + 1] ?? '')) at++;
      closed = undefined;
      continue;
    }
    closed = undefined;
    if (letter === '\\') at += 1;
    else if (letter === '[') at = classEnd(pattern, at);
    else if (letter === '(') open.push(false);
    else if (letter === ')' && open.length > 1) {
      closed = open.pop()!;
      if (closed) open[open.length - 1] = true;
    }
  }
  return false;
}

/** Where a character class ends; classes may hold classes. */
function classEnd(pattern: string, start: number): number {
  let depth = 0;
  for (let at = start; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '[') depth++;
    else if (pattern[at] === ']' && at > start + 1 && --depth === 0) return at;
  }
  return pattern.length;
}
