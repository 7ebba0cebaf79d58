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
 * Puts the records of a CSV file together from its lines, after RFC 4180: quoted fields may hold delimiters, doubled marks
 * and line ends. Our own, since csv-parse ends at a record above its limit, or loses the records after it: here such a
 * record is left out and counted, and the rest is read.
 */
export class CsvAssembler {
  readonly #name: string;
  readonly #limit: number;
  readonly #delimiter: string;
  #open: CsvRecord | undefined;
  /** Inside quotation marks: commas and line ends belong to the field. */
  #quoted = false;
  #field = '';
  #held = 0;

  constructor(name: string, limit: number, delimiter = ',') {
    this.#name = name;
    this.#limit = limit;
    this.#delimiter = delimiter;
  }

  /** The record that a line completes, if it completes one. */
  take({ text, number, cut, skip, quotesLost }: TextLine): CsvRecord | undefined {
    if (!this.#open) this.#held = 0;
    this.#open ??= { fields: [], line: number, cut: false, skip: false };
    const record = this.#open;
    record.skip ||= skip;
    if (this.#quoted) this.#add('\n', record);
    for (let at = 0; at <= text.length; )
      at = this.#quoted ? this.#inside(text, at, record) : this.#plain(text, at, number, record);
    if (cut) record.cut = true;
    if (cut && quotesLost % 2 === 1) this.#quoted = !this.#quoted;
    if (this.#quoted) return undefined;
    this.#open = undefined;
    this.#field = '';
    return record;
  }

  finish(): void {
    if (!this.#open) return;
    throw new UserError(
      `${this.#name}:${this.#open.line} opens a quotation mark that is never closed; write a mark inside a field twice`,
    );
  }

  /** From `at` to the closing mark or the line's end; where to go on. */
  #inside(text: string, at: number, record: CsvRecord): number {
    const end = text.indexOf('"', at);
    this.#add(text.slice(at, end < 0 ? text.length : end), record);
    if (end < 0) return text.length + 1;
    if (text[end + 1] === '"') {
      this.#add('"', record);
      return end + 2;
    }
    this.#quoted = false;
    if (end + 1 < text.length) return end + 1;
    this.#finish(record);
    return end + 2;
  }

  /** One field from `at`, or what follows a closing mark; where to go on. */
  #plain(text: string, at: number, line: number, record: CsvRecord): number {
    const afterQuote = at > 0 && text[at - 1] === '"' && text[at] === this.#delimiter;
    if (afterQuote) {
      this.#finish(record);
      return at + 1;
    }
    if (text[at] === '"' && this.#field === '' && (at === 0 || text[at - 1] === this.#delimiter)) {
      this.#quoted = true;
      return at + 1;
    }
    if (at > 0 && text[at - 1] !== this.#delimiter)
      throw new UserError(
        `${this.#name}:${line} has ${JSON.stringify(text.slice(at, at + 12))} after a closing quotation mark; expected ${this.#delimiter === ',' ? 'a comma' : JSON.stringify(this.#delimiter)} (a mark inside a field is written twice)`,
      );
    const next = text.indexOf(this.#delimiter, at);
    this.#add(text.slice(at, next < 0 ? text.length : next), record);
    this.#finish(record);
    return next < 0 ? text.length + 1 : next + 1;
  }

  #add(text: string, record: CsvRecord): void {
    const room = Math.max(0, this.#limit - this.#held);
    if (text.length > room) record.cut = true;
    this.#field += text.slice(0, room);
    this.#held += Math.min(room, text.length);
  }

  /** A field takes room even where it is empty. */
  #finish(record: CsvRecord): void {
    if (this.#held <= this.#limit) record.fields.push(this.#field);
    else record.cut = true;
    this.#held++;
    this.#field = '';
  }
}
