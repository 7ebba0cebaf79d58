import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { writeOutput } from '@hidden-schema/cli/output-files';
import { print, say } from '@hidden-schema/cli/terminal';
import type { SheetCell } from '@hidden-schema/studies/drawing/sheets';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { smallTexts, smallTuples } from './reproduce-corpora.ts';
import { type Piece, type PieceRecord, writePages } from './reproduce-pages.ts';

/** What the pieces are made of. */
interface ReproductionInputs {
  flags: ReproduceFlags;
  /** NAME=PATH of texts, as table2 takes them. */
  texts: string;
  tuples?: string;
  /** NAME=PATH of the authors' data, where they are given. */
  graphs?: string;
}

interface Planned {
  name: string;
  make: (from: ReproductionInputs) => Promise<Reproduced>;
}

/** Minutes in all on two cores: the least that still goes through every part. */
const smallTable1 = { seeds: '1', sentences: '2000', steps: '20', paperSteps: '20', lstmSteps: '50' };
const smallTable3 = [
  'symbols=20',
  'length=6',
  'tuples.heads=200',
  'decoder.width=64',
  'decoder.layers=2',
  'decoder.vocabularySize=600',
  'warmStart.steps=60',
  'warmStart.hold=40',
  'warmStart.sentences=500',
  'training.steps=80',
  'training.batch=32',
  'path.hidden=64',
  'path.width=64',
  'path.layers=1',
];

const plan: readonly Planned[] = [
  { name: 'table1', make: table1 },
  { name: 'table2', make: table2 },
  { name: 'table3', make: table3 },
  fromRuns('table4', () => true),
  fromRuns('table7', ({ symbols, length }) => symbols === 100 && length === 5),
  fromRuns('table8', () => true),
  fromRuns('table9', ({ symbols, length }) => symbols === 50 && length === 5),
  fromRuns('figure2', ({ symbols, length }) => symbols === 50 && length === 5),
  fromRuns('figure3', ({ symbols, length }) => symbols === 50 && length === 5),
  fromRuns('figure4', () => true),
  fromRuns('figure11', () => true),
];

/** Every table and figure of the paper, each kept as it is made, and one page of them; `onMade` is told of each new one. */
export async function reproduceAll(
  flags: ReproduceFlags,
  onMade: (piece: Reproduced) => Promise<void>,
): Promise<void> {
  const { UserError, reasonOf } = await import('@hidden-schema/base');
  const wanted = await chosen(flags.only);
  await checkPreset(flags.settings);
  const from = await materials(flags, wanted);
  const made = { quick: flags.quick ?? false, set: flags.set ?? [], ...presetOf({ flags, texts: '' }) };
  const key = JSON.stringify({ ...made, texts: from.texts, tuples: from.tuples, graphs: from.graphs });
  const done: Piece[] = [];
  for (const [at, { name, make }] of wanted.entries()) {
    const file = path.join(flags.out, 'pieces', `${name}.json`);
    const kept = await recordOf(file, key);
    say(`${at + 1} of ${wanted.length}: ${name}${kept ? ', made before: kept' : ''}\n`);
    if (kept) done.push({ name, record: kept });
    else {
      try {
        const piece = await timed(() => make(from));
        done.push({ name, record: await record(piece, key, file) });
        await onMade(piece);
      } catch (error) {
        if (!(error instanceof UserError) || /^stopped/.test(error.message)) throw error;
        say(`${name} failed: ${reasonOf(error)}\n`);
        done.push({ name, failure: reasonOf(error) });
      }
    }
    const { quick = false, settings } = flags;
    await writePages(flags.out, done, { quick, settings, texts: from.texts });
  }
  const failed = done.filter((piece) => piece.failure !== undefined).map(({ name }) => name);
  print(`${done.length - failed.length} of ${done.length} made: ${path.join(flags.out, 'index.html')}\n`);
  if (failed.length > 0) throw new UserError(`could not be made: ${failed.join(', ')}; the page says why`);
}

async function checkPreset(settings: string | undefined): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  if (settings !== undefined && settings !== 'paper' && settings !== 'authors')
    throw new UserError(`all takes --settings paper or authors, got "${settings}"`);
}

async function chosen(only: string | undefined): Promise<readonly Planned[]> {
  const { UserError } = await import('@hidden-schema/base');
  if (only === undefined) return plan;
  return only.split(',').map((name) => {
    const found = plan.find((each) => each.name === name);
    if (found) return found;
    throw new UserError(`--only takes of ${plan.map((each) => each.name).join(', ')}, got "${name}"`);
  });
}

/** The corpora given, and small ones drawn in place of those that a quick look lacks. */
async function materials(flags: ReproduceFlags, wanted: readonly Planned[]): Promise<ReproductionInputs> {
  const { UserError } = await import('@hidden-schema/base');
  const { namedPaths } = await import('./reproduce-flags.ts');
  const expected =
    'expected ptb=, yahoo=, yelp= (texts), atomic= (tuples), barabasi=, erdos= (the authors’), with commas between';
  const named = flags.corpus === undefined ? [] : await namedPaths(flags.corpus, expected);
  const missing = named.find(([, where]) => !existsSync(where));
  if (missing) throw new UserError(`--corpus has ${missing.join('=')}, which is not there`);
  const list = (wanted: (name: string) => boolean) =>
    named
      .filter(([name]) => wanted(name))
      .map((pair) => pair.join('='))
      .join(',');
  const isGraph = (name: string) => name === 'barabasi' || name === 'erdos';
  const isTuples = (name: string) => name === 'atomic';
  const own = {
    texts: list((name) => !isGraph(name) && !isTuples(name)),
    tuples: named.find(([name]) => isTuples(name))?.[1],
    graphs: list(isGraph),
  };
  const lacksTexts = own.texts === '' && wanted.some(({ name }) => name !== 'table1' && name !== 'table3');
  const lacksTuples = own.tuples === undefined && wanted.some(({ name }) => name === 'table3');
  if (!flags.quick && (lacksTexts || lacksTuples))
    throw new UserError(
      `all at full size needs --corpus with texts and atomic=; ${expected}; or --quick on small data`,
    );
  const folder = path.join(flags.out, 'corpora');
  const tuples = lacksTuples ? await smallTuples(folder) : own.tuples;
  return {
    flags,
    texts: lacksTexts ? await smallTexts(folder) : own.texts,
    ...(tuples === undefined ? {} : { tuples }),
    ...(own.graphs === '' ? {} : { graphs: own.graphs }),
  };
}

/** A preset for all; without one each table has its own settings. */
const presetOf = ({ flags }: ReproductionInputs) =>
  flags.settings === undefined ? {} : { settings: flags.settings };

const outOf = ({ flags }: ReproductionInputs, name: string): string => path.join(flags.out, name);

async function table1(from: ReproductionInputs): Promise<Reproduced> {
  const { reproduced } = await import('./reproduce-named.ts');
  const { quick } = from.flags;
  const sizes = quick ? { quick, ...smallTable1 } : {};
  const corpus = from.graphs === undefined ? {} : { corpus: from.graphs };
  return reproduced('table1', { ...sizes, ...corpus, ...presetOf(from), out: outOf(from, 'table1') });
}

const table2Flags = (from: ReproductionInputs): ReproduceFlags => ({
  ...(from.flags.quick ? { quick: true } : { seeds: '5' }),
  corpus: from.texts,
  ...presetOf(from),
  set: from.flags.set ?? [],
  out: outOf(from, 'table2'),
});

async function table2(from: ReproductionInputs): Promise<Reproduced> {
  const { reproduced } = await import('./reproduce-named.ts');
  return reproduced('table2', table2Flags(from));
}

async function table3(from: ReproductionInputs): Promise<Reproduced> {
  const { reproduceTable3 } = await import('./reproduce-table3.ts');
  const { quick } = from.flags;
  return reproduceTable3({
    ...(quick ? { quick } : {}),
    // The authors have no settings for ATOMIC: the paper's stand in, and the table says so.
    ...(from.flags.settings === undefined ? {} : { settings: 'paper' }),
    set: [...(quick ? smallTable3 : []), ...(from.flags.set ?? [])],
    ...(from.tuples === undefined ? {} : { corpus: from.tuples }),
    out: outOf(from, 'table3'),
  });
}

/** A piece made from the runs of Table 2 of some sizes, their first seed. */
function fromRuns(name: string, wanted: (model: { symbols: number; length: number }) => boolean): Planned {
  return {
    name,
    make: async (from) => {
      const { reproduced } = await import('./reproduce-named.ts');
      const { table2Runs } = await import('./reproduce-table2.ts');
      const all = await table2Runs(table2Flags(from));
      const runs = all.filter(({ model, seed }) => seed === 1 && model !== 'baseline' && wanted(model));
      const { quick } = from.flags;
      const run = runs.map(({ out }) => out).join(',');
      return reproduced(name, { ...(quick ? { quick } : {}), run, out: outOf(from, name) });
    },
  };
}

async function timed(make: () => Promise<Reproduced>): Promise<Reproduced & { seconds: number }> {
  const began = performance.now();
  const result = await make();
  return { ...result, seconds: (performance.now() - began) / 1000 };
}

/** Writes a piece's files, and what the page needs of it. */
async function record(
  { data, seconds, ...shown }: Reproduced & { seconds: number },
  key: string,
  file: string,
): Promise<PieceRecord> {
  const { plainJson, writeResults } = await import('@hidden-schema/studies/drawing/results');
  await writeResults(path.join(path.dirname(path.dirname(file)), shown.name), { data, ...shown });
  const kept: PieceRecord = { key, seconds, made: new Date().toISOString(), ...shown };
  mkdirSync(path.dirname(file), { recursive: true });
  await writeOutput(file, plainJson(kept));
  return kept;
}

async function recordOf(file: string, key: string): Promise<PieceRecord | undefined> {
  const { readJsonIfThere } = await import('@hidden-schema/base');
  const found = readJsonIfThere<PieceRecord>(file);
  if (found?.key !== key) return undefined;
  const sheets = found.sheets?.map((sheet) => ({
    ...sheet,
    rows: sheet.rows.map((row) => row.map(restored)),
  }));
  return { ...found, ...(sheets ? { sheets } : {}) };
}

/** A cell as it was before JSON, which has neither what is undefined nor what is no number. */
function restored(cell: SheetCell | null): SheetCell {
  if (cell === null) return undefined;
  return typeof cell === 'object' ? { ...cell, mean: cell.mean ?? Number.NaN } : cell;
}
