import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { writeOutput } from '@hidden-schema/cli/output-files';
import { print, say } from '@hidden-schema/cli/terminal';
import type { PathChoice, PathKind } from '@hidden-schema/hsn/config/tuples';
import type { Table3 } from '@hidden-schema/studies/reasoning/table3';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { settingsFlag } from './reproduce-flags.ts';

interface Table3Sizes {
  network: readonly string[];
  path: readonly string[];
  /** Path models that are trained, and those that answer. */
  kinds: readonly PathKind[];
  paths: readonly PathChoice[];
  questions: number;
}

/** The second encoder of a quick look at the paper's preset. */
const quickPath = ['path.encoder.name=transformer'];

/** A table in a quarter of an hour on two cores, small models of few events; and one on all tuples. */
const quick: Table3Sizes = {
  network: [
    'tuples.heads=600',
    'symbols=100',
    'length=6',
    'decoder.width=128',
    'decoder.layers=2',
    'decoder.vocabularySize=3000',
    'training.steps=1000',
    'training.evaluateEvery=500',
  ],
  path: ['training.steps=200', 'training.evaluateEvery=100', 'path.hidden=128'],
  kinds: ['counts', 'lstm'],
  paths: ['counts', 'lstm', 'counts+lstm'],
  questions: 150,
};
const full: Table3Sizes = {
  network: ['symbols=100', 'length=8', 'training.steps=30000'],
  path: ['training.steps=10000'],
  kinds: ['counts', 'prior', 'lstm', 'transformer'],
  paths: ['counts', 'prior', 'lstm', 'transformer', 'counts+transformer'],
  questions: 5000,
};

/** Section 6 as written: HSN(50, 20), an LSTM as its path model, greedy answers; a quick look has its mechanism, smaller. */
async function sizesOf(settings: 'ours' | 'paper', small: boolean): Promise<Table3Sizes> {
  const own = small ? quick : full;
  if (settings === 'ours') return own;
  const { overridesOf, quickPreset } = await import('../reproduction/presets/preset.ts');
  const { tuplesPreset } = await import('../reproduction/presets/tuples.ts');
  const path = small ? [...own.path, 'path.encoder.frozen=true', ...quickPath] : [];
  const network = [
    ...overridesOf(tuplesPreset(50)),
    ...(small ? [...own.network, ...quickPreset, ...quickPath] : []),
  ];
  return { ...own, network, path, kinds: ['lstm'], paths: ['lstm'] };
}

/** Trains what Table 3 compares, each in a folder of --out; runs that are there and finished are kept. */
export async function reproduceTable3(flags: ReproduceFlags): Promise<Reproduced> {
  const { UserError } = await import('@hidden-schema/base');
  if (!flags.corpus) throw new UserError('table3 needs tuples: give --corpus, a file or folder of ATOMIC');
  const settings = await settingsFlag('table3', 'ours', flags.settings);
  if (settings === 'authors')
    throw new UserError('the authors have no settings for ATOMIC; table3 takes ours or paper');
  const sizes = await sizesOf(settings, flags.quick ?? false);
  const changes = [...(flags.steps ? [`training.steps=${flags.steps}`] : []), ...(flags.set ?? [])];
  const { trainReasoning } = await import('@hidden-schema/cli/reason-train');
  const folder = (name: string) => path.join(flags.out, name);
  const shared = { set: [...sizes.network, ...changes], tuples: flags.corpus };
  await trainReasoning({ ...shared, part: 'network', out: folder('table3-hsn') });
  await trainReasoning({ ...shared, part: 'comet', out: folder('table3-comet') });
  await trainReasoning({ ...shared, part: 'comet', decoder: 'bart', out: folder('table3-bart') });
  for (const kind of sizes.kinds)
    await trainReasoning({
      part: 'path',
      run: folder('table3-hsn'),
      set: [...sizes.path, `path.kind=${kind}`],
    });
  return written(flags.out, await evaluated(flags.out, sizes), settings);
}

async function evaluated(out: string, sizes: Table3Sizes): Promise<Table3> {
  const { evaluateReasoning } = await import('@hidden-schema/studies/reasoning/table3');
  return evaluateReasoning(path.join(out, 'table3-hsn'), {
    comet: path.join(out, 'table3-comet'),
    bart: path.join(out, 'table3-bart'),
    limit: sizes.questions,
    paths: sizes.paths,
    onProgress: (text) => say(`${text}\n`),
  });
}

async function written(out: string, table: Table3, settings: 'ours' | 'paper'): Promise<Reproduced> {
  const { table3Caption, table3Sheets, table3Text, table3Title } = await import(
    '@hidden-schema/studies/reasoning/table3-text'
  );
  const caption = `Preset of all rows trained here: ${settings}. ${table3Caption(table)}`;
  const page = path.join(out, 'table3.md');
  mkdirSync(out, { recursive: true });
  await writeOutput(page, `${table3Text(table, 'markdown')}\n${caption}`);
  await writeOutput(path.join(out, 'table3.json'), `${JSON.stringify(table, null, 2)}\n`);
  print(`${table3Text(table, 'terminal')}\n${caption}written to ${page}\n`);
  return { name: 'table3', title: table3Title, sheets: table3Sheets(table), data: table };
}
