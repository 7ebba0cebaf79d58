import { basename, extname } from 'node:path';
import { type DType, dtypeNames } from '../tensor-memory.ts';

/** Which rule of the format, or of safe reading, a file broke. */
export type SafetensorsRule =
  | 'file'
  | 'pickle'
  | 'size'
  | 'header-length'
  | 'utf8'
  | 'json'
  | 'duplicate-key'
  | 'limit'
  | 'metadata'
  | 'dtype'
  | 'shape'
  | 'offsets'
  | 'byte-length'
  | 'index'
  | 'shard'
  | 'name'
  | 'closed'
  | 'write';

/** A weight file that cannot be read or written: the file, the rule, what was expected and what came. */
export class SafetensorsError extends Error {
  override name = 'SafetensorsError';
  readonly file: string;
  readonly rule: SafetensorsRule;
  readonly expected: string;
  readonly got: string;

  constructor(file: string, rule: SafetensorsRule, expected: string, got: string) {
    super(`${file}: expected ${expected}, got ${got}`);
    this.file = file;
    this.rule = rule;
    this.expected = expected;
    this.got = got;
  }
}

/** Throws with the file's name filled in; passed to whoever reads a part of the file. */
export type Fail = (rule: SafetensorsRule, expected: string, got: string) => never;

export function failFor(file: string): Fail {
  return (rule, expected, got) => {
    throw new SafetensorsError(file, rule, expected, got);
  };
}

/** Text from a file, shortened and with control characters escaped, so that it is safe to print. */
export function quoted(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return JSON.stringify(short).replace(
    /[\u007f-\u009f]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The longest header the format allows, in bytes. */
export const maxHeaderBytes = 100_000_000;
export const maxTensors = 1_000_000;
export const maxMetadataEntries = 100_000;
/** libtorch's element-wise kernels take at most this many dimensions. */
export const maxDimensions = 64;

/** The element types that the format has names for. */
export const dtypeOfName: ReadonlyMap<string, DType> = new Map(
  Object.entries(dtypeNames).map(([dtype, name]) => [name, dtype as DType]),
);

/** Bytes of a tensor, or undefined where libtorch's arithmetic on sizes and strides would overflow. */
export function byteLength(shape: readonly number[], elementBytes: number): number | undefined {
  let strides = elementBytes;
  let empty = false;
  for (const size of shape) {
    if (size === 0) empty = true;
    strides *= Math.max(size, 1);
    // Exact below 2^53; a product that rounded is above it in any case.
    if (strides > Number.MAX_SAFE_INTEGER) return undefined;
  }
  return empty ? 0 : strides;
}

const extensions = new Set(['.pt', '.pth', '.bin', '.ckpt', '.pkl', '.pickle']);

/** Whether a file's name is one that pickles go by. */
export const hasPickleName = (file: string): boolean => extensions.has(extname(file).toLowerCase());

function refuse(file: string, got: string): never {
  const source = basename(file);
  const target = `${basename(file, extname(file))}.safetensors`;
  const python = `import torch; from safetensors.torch import save_file; save_file({k: v.clone().contiguous() for k, v in torch.load(${JSON.stringify(source)}, map_location="cpu", weights_only=True).items()}, ${JSON.stringify(target)})`;
  throw new SafetensorsError(
    file,
    'pickle',
    'a .safetensors file',
    `${got}. Pickles can run any code when they are loaded, so they are never read here; convert it where you trust it, in Python: ${python}`,
  );
}

export function refusePickleName(file: string): void {
  if (hasPickleName(file)) refuse(file, `a file named ${extname(file)}, a Python pickle by its name`);
}

/** Knows a zip (torch.save) or a pickle by its first bytes, unless they are a header's length and its opening brace. */
export function refusePickleContent(prefix: Uint8Array, file: string): void {
  const [a, b, c, d] = prefix;
  const zip = a === 0x50 && b === 0x4b && c === 0x03 && d === 0x04;
  const pickle = a === 0x80 && b !== undefined && b <= 5;
  if (!(zip || pickle) || couldBeHeader(prefix)) return;
  refuse(file, zip ? 'a zip archive, as torch.save writes it' : 'a Python pickle');
}

// A header of 640 bytes starts with 80 02, as does a pickle of protocol 2.
function couldBeHeader(prefix: Uint8Array): boolean {
  if (prefix.length < 9 || prefix[8] !== 0x7b) return false;
  const length = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  return length <= BigInt(maxHeaderBytes);
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const numberBytes: ReadonlySet<number | undefined> = new Set(Buffer.from('0123456789+-.eE'));

const maxDepth = 32;
const maxNumberLength = 64;
const numberPattern = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const wholePattern = /^(0|[1-9][0-9]*)$/;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * A strict JSON reader that is told what to expect, so that a hostile text fails at its first wrong byte
 * and never builds more than was asked for. JSON.parse would keep the last of two equal keys and round integers.
 * The bytes must be valid UTF-8.
 */
export class JsonCursor {
  readonly #bytes: Buffer;
  readonly #fail: Fail;
  #at = 0;

  constructor(bytes: Buffer, fail: Fail) {
    this.#bytes = bytes;
    this.#fail = fail;
  }

  /** Reads an object; `each` must read the value of the key it is given. */
  object(each: (key: string) => void, limit: number): void {
    this.#take(openBrace, 'an object');
    const seen = new Set<string>();
    if (this.#peek() === closeBrace) {
      this.#at++;
      return;
    }
    for (;;) {
      const key = this.string();
      if (seen.has(key)) this.#fail('duplicate-key', 'every key once in an object', `${quoted(key)} twice`);
      if (seen.size >= limit) this.#fail('limit', `at most ${limit} keys in an object`, 'more');
      seen.add(key);
      this.#take(colon, 'a colon');
      each(key);
      if (!this.#more(closeBrace)) return;
    }
  }

  /** Reads an array; `each` must read one element. */
  array(each: () => void, limit: number): void {
    this.#take(openBracket, 'an array');
    if (this.#peek() === closeBracket) {
      this.#at++;
      return;
    }
    for (let count = 0; ; ) {
      if (++count > limit) this.#fail('limit', `at most ${limit} elements in an array`, 'more');
      each();
      if (!this.#more(closeBracket)) return;
    }
  }

  string(rule: SafetensorsRule = 'json', what = ''): string {
    if (this.#peek() !== quote)
      this.#fail(rule, `${what} a string at byte ${this.#at}`.trim(), this.#found());
    this.#at++;
    const start = this.#at;
    const bytes = this.#bytes;
    let plain = true;
    let at = start;
    for (; ; at++) {
      const byte = bytes[at];
      if (byte === quote) break;
      if (byte === undefined) this.#fail('json', 'a closing quote', 'the end of the text');
      if (byte < 0x20) this.#fail('json', 'no bare control character in a string', `byte ${byte}`);
      if (byte === backslash) {
        plain = false;
        at++;
      }
    }
    this.#at = at + 1;
    return plain ? bytes.toString('utf8', start, at) : this.#unescape(start - 1, at + 1);
  }

  /** A whole number from 0 to 2^53 - 1, exactly; anything else is an error of the given rule. */
  wholeNumber(rule: SafetensorsRule, what: string): number {
    const text = this.#numberText();
    const value = Number(text);
    if (!wholePattern.test(text) || !Number.isSafeInteger(value))
      this.#fail(rule, `${what} to be a whole number from 0 to 2^53 - 1`, text || this.#found());
    return value;
  }

  /** Passes over a value of any kind, checking it all the same. */
  skip(limit: number, depth = 0): void {
    if (depth > maxDepth) this.#fail('limit', `JSON nested at most ${maxDepth} deep`, 'deeper');
    const byte = this.#peek();
    if (byte === openBrace) this.object(() => this.skip(limit, depth + 1), limit);
    else if (byte === openBracket) this.array(() => this.skip(limit, depth + 1), limit);
    else if (byte === quote) this.string();
    else this.#skipLiteral();
  }

  #skipLiteral(): void {
    for (const word of ['true', 'false', 'null']) {
      if (this.#bytes.toString('latin1', this.#at, this.#at + word.length) !== word) continue;
      this.#at += word.length;
      return;
    }
    const text = this.#numberText();
    if (!numberPattern.test(text)) this.#fail('json', 'a JSON value', text || this.#found());
  }

  /** Only white space may follow. */
  end(): void {
    if (this.#peek() !== -1) this.#fail('json', 'nothing after the object', this.#found());
  }

  #peek(): number {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) return -1;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.#at++;
    }
  }

  #take(byte: number, what: string): void {
    if (this.#peek() !== byte) this.#fail('json', `${what} at byte ${this.#at} of the text`, this.#found());
    this.#at++;
  }

  /** After a member: true when another follows, false when the container closes. */
  #more(close: number): boolean {
    const byte = this.#peek();
    if (byte !== comma && byte !== close)
      this.#fail('json', `a comma or ${String.fromCharCode(close)} at byte ${this.#at}`, this.#found());
    this.#at++;
    return byte === comma;
  }

  #found(): string {
    if (this.#peek() === -1) return 'the end of the text';
    return quoted(this.#bytes.toString('utf8', this.#at, this.#at + 16));
  }

  #numberText(): string {
    this.#peek();
    const start = this.#at;
    while (this.#at - start < maxNumberLength && numberBytes.has(this.#bytes[this.#at])) this.#at++;
    return this.#bytes.toString('latin1', start, this.#at);
  }

  #unescape(start: number, end: number): string {
    let text: string | undefined;
    try {
      text = JSON.parse(this.#bytes.toString('utf8', start, end)) as string;
    } catch {
      this.#fail('json', 'valid escapes in a string', quoted(this.#bytes.toString('utf8', start, end)));
    }
    if (loneSurrogate.test(text)) this.#fail('json', 'no lone surrogate in a string', quoted(text));
    return text;
  }
}
