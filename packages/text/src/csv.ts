import { UserError } from '@hidden-schema/base';
import type { TextLine } from './lines.ts';

export interface CsvRecord {
  fields: string[];
  /** The line on which it begins. */
  line: number;
  /** Longer than is held, so that fields are missing. */
  cut: boolean;
  skip: boolean;
}

/**
 * One record as it is put together from lines, after RFC 4180. Our own, since csv-parse ends at a record above its limit,
 * or loses the records after it: here such a record is left out and counted, and the rest is read.
 */
class Assembly {
  readonly line: number;
  readonly fields: string[] = [];
  cut = false;
  skip = false;
  /** Inside quotation marks: commas and line ends belong to the field. */
  quoted = false;
  #field = '';
  #held = 0;
  readonly #limit: number;
  readonly #delimiter: string;

  constructor(line: number, limit: number, delimiter: string) {
    this.line = line;
    this.#limit = limit;
    this.#delimiter = delimiter;
  }

  /** Reads a line; the record is whole afterwards unless `quoted`. */
  take({ text, number, cut, skip, quotesLost }: TextLine, name: string): void {
    this.skip ||= skip;
    if (this.quoted) this.#add('\n');
    for (let at = 0; at <= text.length; )
      at = this.quoted ? this.#inside(text, at) : this.#plain(text, at, name, number);
    if (!cut) return;
    this.cut = true;
    if (quotesLost % 2 === 1) this.quoted = !this.quoted;
  }

  /** From `at` to the closing mark or the line's end; where to go on. */
  #inside(text: string, at: number): number {
    let end = text.indexOf('"', at);
    if (end < 0) {
      this.#add(text.slice(at));
      return text.length + 1;
    }
    this.#add(text.slice(at, end));
    if (text[end + 1] === '"') {
      this.#add('"');
      return end + 2;
    }
    this.quoted = false;
    end++;
    if (end === text.length) this.#finish();
    return end === text.length ? end + 1 : end;
  }

  /** One field from `at`, or what follows a closing mark; where to go on. */
  #plain(text: string, at: number, name: string, line: number): number {
    const afterQuote = at > 0 && text[at - 1] === '"' && text[at] === this.#delimiter;
    if (afterQuote) {
      this.#finish();
      return at + 1;
    }
    if (text[at] === '"' && this.#field === '' && (at === 0 || text[at - 1] === this.#delimiter)) {
      this.quoted = true;
      return at + 1;
    }
    if (at > 0 && text[at - 1] !== this.#delimiter)
      throw new UserError(
        `${name}:${line} has ${JSON.stringify(text.slice(at, at + 12))} after a closing quotation mark; expected ${this.#delimiter === ',' ? 'a comma' : JSON.stringify(this.#delimiter)} (a mark inside a field is written twice)`,
      );
    const next = text.indexOf(this.#delimiter, at);
    this.#add(text.slice(at, next < 0 ? text.length : next));
    this.#finish();
    return next < 0 ? text.length + 1 : next + 1;
  }

  #add(text: string): void {
    const room = Math.max(0, this.#limit - this.#held);
    if (text.length > room) this.cut = true;
    this.#field += text.slice(0, room);
    this.#held += Math.min(room, text.length);
  }

  /** A field takes room even where it is empty. */
  #finish(): void {
    if (this.#held <= this.#limit) this.fields.push(this.#field);
    else this.cut = true;
    this.#held++;
    this.#field = '';
  }
}

/** Puts the records of a CSV file together from its lines; quoted fields may hold delimiters, doubled marks and line ends. */
export class CsvAssembler {
  readonly #name: string;
  readonly #limit: number;
  readonly #delimiter: string;
  #open: Assembly | undefined;

  constructor(name: string, limit: number, delimiter = ',') {
    this.#name = name;
    this.#limit = limit;
    this.#delimiter = delimiter;
  }

  /** The record that a line completes, if it completes one. */
  take(line: TextLine): CsvRecord | undefined {
    this.#open ??= new Assembly(line.number, this.#limit, this.#delimiter);
    this.#open.take(line, this.#name);
    if (this.#open.quoted) return undefined;
    const { fields, line: first, cut, skip } = this.#open;
    this.#open = undefined;
    return { fields, line: first, cut, skip };
  }

  finish(): void {
    if (!this.#open) return;
    throw new UserError(
      `${this.#name}:${this.#open.line} opens a quotation mark that is never closed; write a mark inside a field twice`,
    );
  }
}
