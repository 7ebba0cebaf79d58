import { UserError } from '@hidden-schema/base';
import { describe, findColumns, type RecordSettings, typedRecord, valueAt } from './columns.ts';
import { type CorpusReport, emptyReport } from './corpus-report.ts';
import { type LineSource, textLines, utf8Blocks } from './lines.ts';
import type { TextRecord } from './settings.ts';

/** One JSON object a line, or a list of them; objects without a text are passed over and counted. */
export async function* jsonRecords(
  source: LineSource,
  settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  const rows = new JsonRows(source.name, settings, report);
  for await (const { text, number, cut } of jsonTexts(source, report)) {
    if (cut) report.tooLong++;
    else if (text.trim() === '') yield { text: '', label: undefined, line: number };
    else {
      const record = rows.read(text, number);
      if (record) yield record;
      else report.missing = (report.missing ?? 0) + 1;
    }
  }
  rows.finish();
}

interface WrittenJson {
  text: string;
  number: number;
  cut: boolean;
}

/** What is written of each object, by lines or by elements of the list that the file is. */
async function* jsonTexts(source: LineSource, report: CorpusReport): AsyncGenerator<WrittenJson> {
  if (await beginsList(source)) return yield* listElements(source, report);
  for await (const lines of textLines(source, report)) for (const line of lines) if (!line.skip) yield line;
}

/** Whether the first character of a file opens a list. */
async function beginsList({ onBytes: _, ...source }: LineSource): Promise<boolean> {
  for await (const block of utf8Blocks(source, emptyReport('replace'))) {
    const begin = /[^\s\uFEFF]/.exec(block.toString('utf8'))?.[0];
    if (begin !== undefined) return begin === '[';
  }
  return false;
}

async function* listElements(source: LineSource, report: CorpusReport): AsyncGenerator<WrittenJson> {
  const elements = new JsonElements(source.longestLine);
  for await (const block of utf8Blocks(source, report))
    for (const element of elements.split(block)) {
      report.lines++;
      yield element;
    }
  if (!elements.ended)
    throw new UserError(`${source.name} is not whole: the list that it begins with is never closed`);
}

/** Reads objects, and remembers which of the columns that are asked for some object had. */
class JsonRows {
  readonly #name: string;
  readonly #settings: RecordSettings;
  readonly #found = new Set<string>();
  #keys: string[] | undefined;

  constructor(name: string, settings: RecordSettings, report: CorpusReport) {
    this.#name = name;
    this.#settings = settings;
    report.missing ??= 0;
  }

  /** Nothing where the object has no text. */
  read(line: string, number: number): TextRecord | undefined {
    const where = `${this.#name}:${number}`;
    const row = parsed(line, where);
    if (typeof row === 'string') return { text: row, label: undefined, line: number };
    this.#keys ??= Object.keys(row);
    const { textColumn = 'text', labelColumn = 'label', further } = this.#settings;
    const value = (column: string) => {
      const read = valueAt(row, column);
      if (read !== undefined) this.#found.add(column);
      return read;
    };
    const text = value(textColumn);
    const record = { text, label: value(labelColumn), values: further?.map(value) };
    return text === undefined ? undefined : typedRecord(record, textColumn, where, number);
  }

  /** Refuses columns that no object has. */
  finish(): void {
    if (!this.#keys) return;
    const { textColumn = 'text', labelColumn } = this.#settings;
    findColumns([...this.#keys, ...this.#found], { textColumn, labelColumn }, this.#name);
  }
}

/** An object, or a text that stands for itself. */
function parsed(text: string, where: string): object | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(
      `${where} is not JSON: ${(error as Error).message}; expected a list of objects, or one object a line`,
    );
  }
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new UserError(`${where} is ${describe(value)}; expected one object a line, with a text`);
  return value;
}

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44];
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);
const SPACE = new Set([9, 10, 13, 32]);

/** An element of a JSON array as it is written. */
export interface JsonElement {
  text: string;
  /** From 1. */
  number: number;
  /** Longer than is held: only its beginning is here. */
  cut: boolean;
}

/** Cuts the elements out of a JSON array, block by block; of an element no more than `limit` bytes are held. */
export class JsonElements {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;
  #cut = false;
  #number = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #some = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether the array was closed. */
  get ended(): boolean {
    return this.#number > 0 && this.#depth === 0;
  }

  /** The elements that end in a block. */
  *split(block: Buffer): Generator<JsonElement> {
    let start = 0;
    for (let at = 0; at < block.length; at++) {
      const ends = this.#step(block[at]!);
      if (ends === 'begin') start = at + 1;
      else if (ends === 'element') {
        this.#keep(block.subarray(start, at));
        start = at + 1;
        const element = this.#take();
        if (element) yield element;
      }
    }
    if (this.#depth > 0) this.#keep(block.subarray(start));
  }

  /** Reads one byte; whether it opens the array, or ends one of its elements. */
  #step(byte: number): 'begin' | 'element' | undefined {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return undefined;
    }
    if (byte === QUOTE) {
      this.#inString = true;
      this.#some = true;
    } else if (OPENING.has(byte)) {
      if (this.#depth++ > 0) this.#some = true;
      else return 'begin';
    } else if (CLOSING.has(byte)) {
      if (--this.#depth === 0) return 'element';
    } else if (byte === COMMA && this.#depth === 1) return 'element';
    else if (this.#depth > 0 && !SPACE.has(byte)) this.#some = true;
    return undefined;
  }

  #keep(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#limit - this.#size));
    if (kept.length > 0) this.#parts.push(Buffer.from(kept));
    this.#size += kept.length;
    this.#cut ||= kept.length < piece.length;
  }

  /** Nothing for an array without elements. */
  #take(): JsonElement | undefined {
    const bytes = Buffer.concat(this.#parts);
    const cut = this.#cut;
    const some = this.#some;
    this.#parts = [];
    this.#size = 0;
    this.#cut = this.#some = false;
    this.#number++;
    return some ? { text: bytes.toString('utf8'), number: this.#number, cut } : undefined;
  }
}
