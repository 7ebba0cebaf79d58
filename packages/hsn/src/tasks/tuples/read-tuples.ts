import { createHash } from 'node:crypto';
import { hashFile, Random, UserError } from '@hidden-schema/base';
import { type BadUtf8Policy, TEXT_SPLITS, type TextSplit } from '@hidden-schema/text/settings';
import { DEFAULT_SHARES, rowDraw, splitOfDraw } from '@hidden-schema/text/text-keys';
import { NONE } from './relations.ts';
import { findTuples, type TupleRow, type TupleSource, tupleRows } from './tuple-files.ts';
import { type BadRow, type Tuple, type TupleCorpus, type TupleReport, TupleTable } from './tuples.ts';

export interface TupleOptions {
  /** Whether objects that say "none" are part of the corpus. */
  none?: 'keep' | 'drop';
  /** Only these relations. */
  relations?: readonly string[] | undefined;
  /** Training events at most, drawn by the seed. */
  heads?: number | undefined;
  onBadUtf8?: BadUtf8Policy;
  /** Draws splits where files give none, and events. */
  seed?: number;
}

/** Malformed rows that are told one by one. */
const shownRows = 10;

interface Placed {
  tuple: Tuple;
  split: TextSplit | null;
  where: string;
}

/** Reads a corpus of tuples and splits it by event; rows that hold none are counted, and the first ten kept. */
export function readTuples(input: string, options: TupleOptions = {}): TupleCorpus {
  const { none = 'keep', onBadUtf8 = 'error', seed = 1 } = options;
  const report: TupleReport = {
    files: [],
    rows: 0,
    blank: 0,
    malformed: 0,
    shown: [],
    none: { policy: none, count: 0 },
    badUtf8: { policy: onBadUtf8, lines: 0 },
    overlapping: 0,
    leftOut: 0,
  };
  const found = findTuples(input).flatMap((source) => readSource(source, report, onBadUtf8));
  const kept = found.filter(({ tuple }) => {
    const empty = tuple.object.toLowerCase() === NONE;
    if (empty) report.none.count++;
    return none === 'keep' || !empty;
  });
  if (kept.length === 0) throw new UserError(`${input} holds no tuple: ${whyEmpty(report)}`);
  const corpus = placed(chosenRelations(kept, options.relations, report), seed, report);
  return limited(corpus, options.heads, seed);
}

function whyEmpty({ rows, malformed, shown, none }: TupleReport): string {
  if (rows === 0) return 'it is empty';
  const first = shown[0] ? ` (${shown[0].where} ${shown[0].reason})` : '';
  return `of ${rows} rows ${malformed} are malformed${first}, ${none.count} say "none"; expected head<TAB>relation<TAB>tail`;
}

function note(report: TupleReport, bad: BadRow): void {
  report.malformed++;
  if (report.shown.length < shownRows) report.shown.push(bad);
}

function readSource(source: TupleSource, report: TupleReport, onBadUtf8: BadUtf8Policy): Placed[] {
  const out: Placed[] = [];
  const rows = tupleRows(source, onBadUtf8);
  let next = rows.next();
  for (; !next.done; next = rows.next()) takeRow(next.value, source, report, out);
  report.badUtf8.lines += next.value.badUtf8.lines;
  const { name, split, file } = source;
  report.files.push({ name, split, sha256: hashFile(file).sha256, tuples: out.length });
  return out;
}

function takeRow(row: TupleRow, source: TupleSource, report: TupleReport, out: Placed[]): void {
  report.rows++;
  if (row.blank) report.blank++;
  for (const bad of row.bad) note(report, bad);
  const split = source.split ?? row.split ?? null;
  for (const tuple of row.tuples) out.push({ tuple, split, where: row.where });
}

/** Without the relations that the settings leave out; one that no tuple has is refused. */
function chosenRelations(
  found: readonly Placed[],
  wanted: readonly string[] | undefined,
  report: TupleReport,
): readonly Placed[] {
  if (!wanted) return found;
  const there = new Set(found.map(({ tuple }) => tuple.relation));
  const strange = wanted.find((relation) => !there.has(relation));
  if (strange !== undefined)
    throw new UserError(
      `tuples.relations: no tuple has the relation ${strange}; there are ${[...there].slice(0, 40).join(', ')}`,
    );
  const kept = found.filter(({ tuple }) => wanted.includes(tuple.relation));
  report.leftOut += found.length - kept.length;
  return kept;
}

/** Tuples in their splits. An event belongs to the last split that names it, so that tests are on unseen events. */
function placed(found: readonly Placed[], seed: number, report: TupleReport): TupleCorpus {
  const last = new Map<string, number>();
  const splits = found.map(({ tuple, split }) => {
    const at = split === null ? drawnSplit(tuple.head, seed) : TEXT_SPLITS.indexOf(split);
    last.set(tuple.head, Math.max(at, last.get(tuple.head) ?? 0));
    return at;
  });
  const trained = new Set(found.filter((_, i) => splits[i] === 0).map(({ tuple }) => tuple.relation));
  const table = new TupleTable();
  const rows = TEXT_SPLITS.map((): number[] => []);
  for (const [i, { tuple, where }] of found.entries()) {
    if (!trained.has(tuple.relation)) {
      const names = [...trained].slice(0, 40).join(', ');
      note(report, { where, reason: `has the unknown relation ${tuple.relation}; train has ${names}` });
    } else if (last.get(tuple.head) !== splits[i]) report.overlapping++;
    else rows[splits[i]!]!.push(table.add(tuple));
  }
  const [train, valid, test] = rows.map((some) => Int32Array.from(some)) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  return { table, splits: { train, valid, test }, report };
}

function drawnSplit(head: string, seed: number): 0 | 1 | 2 {
  const digest = createHash('sha256').update(head).digest();
  return splitOfDraw(
    rowDraw(Uint32Array.of(digest.readUInt32LE(0), digest.readUInt32LE(4)), seed),
    DEFAULT_SHARES,
  );
}

/** At most so many training events, drawn by the seed. */
function limited(corpus: TupleCorpus, heads: number | undefined, seed: number): TupleCorpus {
  const { table, splits, report } = corpus;
  const all = [...new Set(Array.from(splits.train, (row) => table.head[row]!))];
  if (heads === undefined || all.length <= heads) return corpus;
  const kept = new Set(new Random(seed).shuffle(all).slice(0, heads));
  const train = splits.train.filter((row) => kept.has(table.head[row]!));
  report.leftOut += splits.train.length - train.length;
  return { table, splits: { ...splits, train }, report };
}
