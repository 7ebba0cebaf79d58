import { type Fail, quoted, type SafetensorsRule } from './errors.ts';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

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
    while (this.#at - start < maxNumberLength && isNumberByte(this.#bytes[this.#at])) this.#at++;
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

function isNumberByte(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === 0x2b ||
    byte === 0x2e ||
    (byte | 0x20) === 0x65
  );
}
