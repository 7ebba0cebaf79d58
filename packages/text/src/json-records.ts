import { UserError } from '@hidden-schema/base';
import { describe, findColumns, valueAt } from './columns.ts';
import { type CorpusReport, emptyReport } from './corpus-report.ts';
import { JsonElements } from './json-elements.ts';
import { textLines, utf8Blocks } from './lines.ts';
import { type RecordSettings, type RecordSource, typedRecord } from './record-source.ts';
import type { TextRecord } from './settings.ts';

/** One JSON object a line, or a list of them; objects without a text are passed over and counted. */
export async function* jsonRecords(
  source: RecordSource,
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
async function* jsonTexts(source: RecordSource, report: CorpusReport): AsyncGenerator<WrittenJson> {
  if (await beginsList(source)) return yield* listElements(source, report);
  for await (const lines of textLines(source, report)) for (const line of lines) if (!line.skip) yield line;
}

/** Whether the first character of a file opens a list. */
async function beginsList({ onBytes: _, ...source }: RecordSource): Promise<boolean> {
  for await (const block of utf8Blocks(source, emptyReport('replace'))) {
    const begin = /[^\s\uFEFF]/.exec(block.toString('utf8'))?.[0];
    if (begin !== undefined) return begin === '[';
  }
  return false;
}

async function* listElements(source: RecordSource, report: CorpusReport): AsyncGenerator<WrittenJson> {
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
    const found = [...this.#found];
    const names = [...this.#keys, ...found];
    findColumns(names, { textColumn, ...(labelColumn === undefined ? {} : { labelColumn }) }, this.#name);
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
