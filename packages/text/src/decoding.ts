import { isUtf8 } from 'node:buffer';
import { UserError } from '@hidden-schema/base';
import type { CorpusReport } from './corpus-report.ts';

/** The name that the encoding standard has for an encoding; nothing for UTF-8, which needs no decoder. */
export function encodingName(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === 'utf-8' ? undefined : encoding;
  } catch {
    throw new UserError(
      `--encoding takes the name of an encoding, such as utf-8, windows-1252, utf-16le or shift_jis, got ${label}`,
    );
  }
}

/** The encoding that a byte order mark announces; UTF-8's own mark is left to the reader of lines. */
function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** Turns the blocks of a file into UTF-8, block by block; those of a file that is in UTF-8 pass as they are. */
export class Utf8Blocks {
  readonly #name: string;
  readonly #report: CorpusReport;
  #encoding: string | undefined;
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  /** The first byte of a file, held until the second one shows whether they are a byte order mark. */
  #head: Buffer | undefined = Buffer.alloc(0);

  constructor(name: string, encoding: string | undefined, report: CorpusReport) {
    this.#name = name;
    this.#encoding = encoding;
    this.#report = report;
  }

  take(block: Buffer): Buffer {
    if (this.#head === undefined) return this.#decode(block, true);
    const bytes = this.#head.length > 0 ? Buffer.concat([this.#head, block]) : block;
    if (bytes.length < 2) {
      this.#head = Buffer.from(bytes);
      return Buffer.alloc(0);
    }
    this.#begin(bytes);
    return this.#decode(bytes, true);
  }

  /** What is left once the last block was taken. */
  end(): Buffer {
    const rest = this.#head ?? Buffer.alloc(0);
    if (this.#head !== undefined) this.#begin(rest);
    return this.#decoder ? this.#decode(rest, false) : rest;
  }

  #begin(bytes: Buffer): void {
    this.#head = undefined;
    const marked = markedEncoding(bytes);
    if (marked !== undefined && this.#encoding === undefined)
      this.#report.utf16 = (this.#report.utf16 ?? 0) + 1;
    this.#encoding = marked ?? this.#encoding;
    if (this.#encoding === undefined) return;
    const fatal = this.#report.badUtf8.policy === 'error';
    this.#decoder = new TextDecoder(this.#encoding, { fatal });
  }

  #decode(bytes: Buffer, stream: boolean): Buffer {
    if (!this.#decoder) return bytes;
    try {
      return Buffer.from(this.#decoder.decode(bytes, { stream }));
    } catch {
      throw new UserError(
        `${this.#name} is not valid ${this.#encoding}; name another encoding with --encoding, or choose --on-bad-utf8 replace`,
      );
    }
  }
}

/** The first byte, counted from 1, that does not decode: where decoding and encoding again first differ. */
export function firstBadByte(bytes: Buffer): { place: number; value: string } {
  const again = Buffer.from(bytes.toString('utf8'));
  let at = 0;
  while (at < bytes.length && bytes[at] === again[at]) at++;
  // The replacement character's own bytes may agree with the first bytes of a cut sequence.
  while (at > 0 && !isUtf8(bytes.subarray(0, at))) at--;
  return { place: at + 1, value: `0x${bytes[at]!.toString(16).padStart(2, '0')}` };
}

/** Without the first bytes of a character whose other bytes were cut off. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}
