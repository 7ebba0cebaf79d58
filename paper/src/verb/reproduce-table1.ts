import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { outputWriter } from '@hidden-schema/cli/output-files';
import { live } from '@hidden-schema/cli/terminal';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import { seedsTo } from '../reproduction/presets/preset.ts';
import type { Table1Options, Table1Row } from '../reproduction/table1.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { namedPaths, settingsFlag, spelled } from './reproduce-flags.ts';

type Graph = NonNullable<Table1Options['only']>[number];

/** Rows so far, and the options that they are of. */
interface Stopped {
  key: string;
  rows: Table1Row[];
}

/** Trains everything that Tables 1 and 5 compare; what is done is written after each model, and kept when stopped. */
export async function reproduceTable1(flags: ReproduceFlags): Promise<Reproduced> {
  const { Progress } = await import('@hidden-schema/hsn/run/progress');
  const { plainJson } = await import('@hidden-schema/studies/drawing/results');
  const { sheetText } = await import('@hidden-schema/studies/drawing/sheets');
  const { table1, table1Size } = await import('../reproduction/table1.ts');
  const { table1Sheet } = await import('../reproduction/table1-page.ts');
  const options = await optionsOf(flags);
  const { readJsonIfThere } = await import('@hidden-schema/base');
  const write = await outputWriter();
  const key = JSON.stringify(options);
  const file = path.join(flags.out, 'table1-rows.json');
  const before = readJsonIfThere<Stopped>(file);
  const rows: Table1Row[] = [];
  const progress = new Progress({
    ...{ label: 'table1', total: table1Size(options), unit: 'models', output: live },
  });
  await table1({
    ...options,
    ...(before?.key === key ? { done: before.rows } : {}),
    onProgress: (text) => progress.update(rows.length, { now: text }),
    onRow: (row) => {
      progress.update(rows.push(row));
      mkdirSync(flags.out, { recursive: true });
      write(file, plainJson({ key, rows } satisfies Stopped));
      const table = sheetText(table1Sheet(rows), 'markdown');
      write(path.join(flags.out, 'table1.md'), `${table}\n${caption}\n`);
    },
  });
  progress.finish();
  const sheet = { ...table1Sheet(rows), caption };
  const most = Math.max(options.seeds, options.paperSeeds, options.baselineSeeds);
  return { name: 'table1', title: sheet.title, data: rows, sheets: [sheet], seeds: seedsTo(most) };
}

async function optionsOf(flags: ReproduceFlags): Promise<Table1Options> {
  const quick = flags.quick ?? false;
  const number = async (flag: keyof ReproduceFlags, fallback: number) =>
    (await wholeNumber(spelled(flag), flags[flag] as string | undefined, 0)) ?? fallback;
  const seeds = await number('seeds', quick ? 2 : 10);
  const paperSeeds = await number('paperSeeds', quick ? 1 : seeds);
  const baselineSeeds = await number('baselineSeeds', quick ? 1 : seeds);
  if (seeds + paperSeeds + baselineSeeds === 0) {
    const { UserError } = await import('@hidden-schema/base');
    throw new UserError('--seeds 0 leaves nothing to train; give --paper-seeds or --baseline-seeds as well');
  }
  return {
    seeds,
    paperSeeds,
    baselineSeeds,
    sentences: await number('sentences', quick ? 20_000 : 100_000),
    steps: await number('steps', quick ? 100 : 200),
    paperSteps: await number('paperSteps', quick ? 200 : 1000),
    ...(flags.lstmSteps ? { lstmSteps: await number('lstmSteps', 300) } : {}),
    ...(flags.only ? { only: await chosen(flags.only) } : {}),
    ...(flags.priors ? { priors: await priorsOf(flags.priors) } : {}),
    ...(flags.settings ? { settings: await settingsFlag('table1', 'near', flags.settings) } : {}),
    ...(flags.corpus ? { corpora: await corporaOf(flags.corpus) } : {}),
  };
}

const caption = `‖·‖ are Frobenius norms over pairs of symbols, of link probabilities for HSN and of called links for the baselines; NLL is in the authors' convention (bag probabilities as logits), "NLL true" the likelihood itself. KL-G is the sum over links; the paper's was divided by the batch of 256 (docs/research/departures.md). "exact" counts the seeds that found every link and no other. The paper's rows were trained for 200 epochs. "near the paper": its network, prior and objective with larger rates; "paper preset": appendix E to the letter, its corpora too; "authors' preset": their program, whose prior has no p.`;

const graphs: readonly Graph[] = ['barabasi', 'erdos', 'shared'];
const isGraph = (name: string): name is Graph => (graphs as readonly string[]).includes(name);

async function chosen(text: string): Promise<Graph[]> {
  const { UserError } = await import('@hidden-schema/base');
  return text.split(',').map((name) => {
    if (isGraph(name)) return name;
    throw new UserError(`--only takes barabasi, erdos and shared, got "${name}"`);
  });
}

async function priorsOf(text: string): Promise<number[]> {
  const { UserError } = await import('@hidden-schema/base');
  return text.split(',').map((part) => {
    const p = Number(part);
    if (part.trim() !== '' && p > 0 && p < 1) return p;
    throw new UserError(`--priors takes link probabilities between 0 and 1, such as 0.1,0.2, got "${part}"`);
  });
}

async function corporaOf(list: string): Promise<NonNullable<Table1Options['corpora']>> {
  const { UserError } = await import('@hidden-schema/base');
  const expected = 'expected barabasi=FOLDER, erdos=FOLDER, with a comma between';
  const named = await namedPaths(list, expected);
  for (const [name] of named)
    if (!isGraph(name) || name === 'shared') throw new UserError(`--corpus has "${name}": ${expected}`);
  return Object.fromEntries(named);
}
