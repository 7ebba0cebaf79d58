import type { BadUtf8Policy, TextSplit } from '@hidden-schema/text';

/** (s, r, o): an event, a relation, and what follows by it. */
export interface Tuple {
  head: string;
  relation: string;
  object: string;
}

/** A row that holds no tuple: where it stands and what is wrong with it. */
export interface BadRow {
  where: string;
  reason: string;
}

/** What was found while tuples were read, for their user. */
export interface TupleReport {
  files: { name: string; split: TextSplit | null; sha256: string; tuples: number }[];
  rows: number;
  blank: number;
  /** Rows, or lists of a CSV row, that held no tuple; the first ten of them are kept. */
  malformed: number;
  shown: BadRow[];
  /** Objects that say there is nothing, and what was done with them. */
  none: { policy: 'keep' | 'drop'; count: number };
  badUtf8: { policy: BadUtf8Policy; lines: number };
  /** Tuples of events that stand in a later split too: left out of the earlier one. */
  overlapping: number;
  /** Tuples of relations or events that the settings leave out. */
  leftOut: number;
}

/** Tuples as numbers of their distinct heads, relations and objects. */
export class TupleTable {
  readonly heads: string[] = [];
  readonly relations: string[] = [];
  readonly objects: string[] = [];
  readonly head: number[] = [];
  readonly relation: number[] = [];
  readonly object: number[] = [];
  readonly #numbers = { heads: new Map(), relations: new Map(), objects: new Map() } as Record<
    'heads' | 'relations' | 'objects',
    Map<string, number>
  >;

  get count(): number {
    return this.head.length;
  }

  /** Adds a tuple; returns its row. */
  add({ head, relation, object }: Tuple): number {
    this.head.push(this.#number('heads', head));
    this.relation.push(this.#number('relations', relation));
    this.object.push(this.#number('objects', object));
    return this.count - 1;
  }

  tuple(row: number): Tuple {
    return {
      head: this.heads[this.head[row]!]!,
      relation: this.relations[this.relation[row]!]!,
      object: this.objects[this.object[row]!]!,
    };
  }

  #number(kind: 'heads' | 'relations' | 'objects', text: string): number {
    const known = this.#numbers[kind].get(text);
    if (known !== undefined) return known;
    this.#numbers[kind].set(text, this[kind].length);
    return this[kind].push(text) - 1;
  }
}

/** Tuples with their splits, by event: no event stands in two of them. */
export interface TupleCorpus {
  table: TupleTable;
  splits: Record<TextSplit, Int32Array>;
  report: TupleReport;
}

/** (s, r) with every object that follows it in a split. */
export interface Prefix {
  head: string;
  relation: string;
  /** A row that begins with it, and all such rows. */
  row: number;
  rows: number[];
  references: string[];
}

/** The distinct (s, r) of some rows, in order of their first row. */
export function prefixesOf(table: TupleTable, rows: Iterable<number>): Prefix[] {
  const found = new Map<number, Prefix>();
  for (const row of rows) {
    const key = table.head[row]! * table.relations.length + table.relation[row]!;
    const { head, relation, object } = table.tuple(row);
    const prefix = found.get(key) ?? { head, relation, row, rows: [], references: [] };
    found.set(key, prefix);
    prefix.rows.push(row);
    prefix.references.push(object);
  }
  return [...found.values()];
}

const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** What a user should know of the tuples that were read; a line each. */
export function tupleNotes({ table, splits, report }: TupleCorpus): string[] {
  const heads = (rows: Int32Array) => new Set(Array.from(rows, (row) => table.head[row]!)).size;
  const { train, valid, test } = splits;
  const sizes = [train, valid, test].map((rows) => `${rows.length} (${counted(heads(rows), 'event')})`);
  const { none, malformed, shown, badUtf8 } = report;
  const lines = [
    `tuples: ${sizes.join(' + ')} for train + valid + test, ${counted(table.relations.length, 'relation')}: ${table.relations.join(', ')}`,
  ];
  if (malformed > 0) {
    const more = malformed > shown.length ? `; the first ${shown.length}` : '';
    lines.push(`${counted(malformed, 'malformed row')} left out${more}:`);
    for (const { where, reason } of shown) lines.push(`  ${where} ${reason}`);
  }
  if (none.count > 0)
    lines.push(
      `${counted(none.count, 'object')} that say "none": ${none.policy === 'keep' ? 'kept' : 'left out'} (tuples.none)`,
    );
  if (report.blank > 0) lines.push(`${counted(report.blank, 'blank line')} passed over`);
  if (badUtf8.lines > 0) lines.push(`${counted(badUtf8.lines, 'line')} not in UTF-8: ${badUtf8.policy}`);
  if (report.overlapping > 0)
    lines.push(
      `${counted(report.overlapping, 'tuple')} left out, since their events stand in a later split too`,
    );
  if (report.leftOut > 0)
    lines.push(`${counted(report.leftOut, 'tuple')} left out by tuples.relations and tuples.heads`);
  return lines;
}
