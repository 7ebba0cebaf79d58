import { UserError } from '../errors.ts';
import type { TextLine } from './lines.ts';

export interface CsvRecord {
  fields: string[];
  /** The line on which it begins. */
  line: number;
  /** Longer than is held, so that fields are missing. */
  cut: boolean;
  skip: boolean;
}

/** One record as it is put together from lines, after RFC 4180. */
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

  constructor(line: number, limit: number) {
    this.line = line;
    this.#limit = limit;
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
    const afterQuote = at > 0 && text[at - 1] === '"' && text[at] === ',';
    if (afterQuote) {
      this.#finish();
      return at + 1;
    }
    if (text[at] === '"' && this.#field === '' && (at === 0 || text[at - 1] === ',')) {
      this.quoted = true;
      return at + 1;
    }
    if (at > 0 && text[at - 1] !== ',')
      throw new UserError(
        `${name}:${line} has ${JSON.stringify(text.slice(at, at + 12))} after a closing quotation mark; expected a comma (a mark inside a field is written twice)`,
      );
    const comma = text.indexOf(',', at);
    this.#add(text.slice(at, comma < 0 ? text.length : comma));
    this.#finish();
    return comma < 0 ? text.length + 1 : comma + 1;
  }

  #add(text: string): void {
    const room = Math.max(0, this.#limit - this.#held);
    if (text.length > room) this.cut = true;
    this.#field += text.slice(0, room);
    this.#held += Math.min(room, text.length);
  }

  #finish(): void {
    this.fields.push(this.#field);
    this.#field = '';
  }
}

/** Records of a CSV file from its lines; quoted fields may hold commas, doubled marks and line ends. */
export function* csvRecords(lines: Iterable<TextLine>, name: string, limit: number): Generator<CsvRecord> {
  let record: Assembly | undefined;
  for (const line of lines) {
    record ??= new Assembly(line.number, limit);
    record.take(line, name);
    if (record.quoted) continue;
    const { fields, cut, skip } = record;
    yield { fields, line: record.line, cut, skip };
    record = undefined;
  }
  if (record)
    throw new UserError(
      `${name}:${record.line} opens a quotation mark that is never closed; write a mark inside a field twice`,
    );
}
