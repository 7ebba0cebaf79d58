import path from 'node:path';
import { live, say } from '@hidden-schema/cli/terminal';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { Table2Model, Table2Row } from '../reproduction/table2.ts';
import { namedPaths } from './named-paths.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { type Look, lookOf } from './reproduce-look.ts';
import { settingsFlag } from './reproduce-presets.ts';
import { trained, trainLanguageRun } from './reproduce-run.ts';

const quickLook: Look = { limit: 40, walks: 8, graphs: 3 };

/** One model of the table to train, or found trained. */
interface Wanted {
  corpus: string;
  input: string;
  model: Table2Model;
  seed: number;
  out: string;
}

/** Trains what Tables 2 and 6 compare on the corpora given, each model in a folder of --out; finished runs are kept. */
export async function reproduceTable2(flags: ReproduceFlags): Promise<Reproduced> {
  const { table2Sheet } = await import('../reproduction/table2.ts');
  const { writeResults } = await import('@hidden-schema/studies/analysis/results');
  const { Progress } = await import('@hidden-schema/hsn/run/progress');
  const wanted = await table2Runs(flags);
  const rows: Table2Row[] = [];
  const result = (): Reproduced => {
    const sheet = table2Sheet(rows, caption(flags));
    return { name: 'table2', title: sheet.title, data: rows, sheets: [sheet] };
  };
  const progress = new Progress({ label: 'table2', total: wanted.length, unit: 'models', output: live });
  for (const each of wanted) {
    progress.update(rows.length, { now: path.basename(each.out) });
    rows.push(await rowOf(each, flags));
    // What is done stays where the rest is stopped.
    writeResults(flags.out, result());
  }
  progress.finish();
  return result();
}

/** The models that the flags ask for, and where each is kept. */
export async function table2Runs(flags: ReproduceFlags): Promise<Wanted[]> {
  const corpora = await corporaOf(flags.corpus);
  const models = await modelsOf(flags.models);
  const seeds = (await wholeNumber('--seeds', flags.seeds)) ?? 1;
  const settings = await settingsFlag('table2', 'ours', flags.settings);
  const kind = `${flags.quick ? '-quick' : ''}${settings === 'ours' ? '' : `-${settings}`}`;
  return corpora.flatMap(([corpus, input]) =>
    models.flatMap((model) =>
      Array.from({ length: seeds }, (_, i) => {
        const size = model === 'baseline' ? 'baseline' : `${model.symbols}-${model.length}`;
        const name = `table2${kind}-${corpus}-${size}${i === 0 ? '' : `-seed${i + 1}`}`;
        return { corpus, input, model, seed: i + 1, out: path.join(flags.out, name) };
      }),
    ),
  );
}

async function corporaOf(list: string | undefined): Promise<[string, string][]> {
  const { UserError } = await import('@hidden-schema/base');
  const { table2Corpora } = await import('../reproduction/table2.ts');
  const expected = `expected ${table2Corpora.map((name) => `${name}=FILE or FOLDER`).join(', ')} (other names have no published figures), with commas between`;
  if (!list) throw new UserError(`table2 needs texts: give --corpus, ${expected}`);
  const named = await namedPaths(list, expected);
  return named.map(([name, input]) => {
    if (!/^[A-Za-z0-9_]+$/.test(name)) throw new UserError(`--corpus has "${name}=${input}": ${expected}`);
    return [name.toLowerCase(), input];
  });
}

async function modelsOf(list: string | undefined): Promise<readonly Table2Model[]> {
  const { UserError } = await import('@hidden-schema/base');
  const { table2Models } = await import('../reproduction/table2.ts');
  const nameOf = (model: Table2Model) =>
    model === 'baseline' ? 'alone' : `${model.symbols}-${model.length}`;
  if (list === undefined) return table2Models;
  return list.split(',').map((name) => {
    const model = table2Models.find((one) => nameOf(one) === name);
    if (model) return model;
    throw new UserError(`--models takes ${table2Models.map(nameOf).join(', ')}, got "${name}"`);
  });
}

async function rowOf({ corpus, input, model, seed, out }: Wanted, flags: ReproduceFlags): Promise<Table2Row> {
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { openLanguage, openLanguageCorpus } = await import('@hidden-schema/hsn/tasks/language/open');
  const { languageFigures } = await import('@hidden-schema/hsn/tasks/language/task');
  const { table2Config } = await import('../reproduction/table2-settings.ts');
  const steps = await wholeNumber('--steps', flags.steps);
  const settings = await settingsFlag('table2', 'ours', flags.settings);
  const quick = flags.quick ?? false;
  const config = table2Config({ corpus, model, seed, settings, quick, steps, set: flags.set ?? [] });
  if (trained(Run, out, input, config)) say(`${out} was trained before: used again\n`);
  else await trainLanguageRun(config, input, out);
  const opened = await openLanguage(out, { checkpoint: 'best' });
  const texts = await openLanguageCorpus(opened);
  try {
    const look = await lookOf(flags, quickLook);
    const figures = languageFigures(opened.model, texts, opened.texts.frames, look);
    const { step, seconds } = opened.run.record as { step?: number; seconds?: number };
    const done = { steps: step ?? config.training.steps, seconds: seconds ?? Number.NaN };
    return { corpus, model, settings, seed, ...done, figures };
  } finally {
    texts.close();
    opened.model.free();
  }
}

const caption = (flags: ReproduceFlags): string =>
  [
    'The paper fine-tunes BERT and GPT-2 small (110 and 124 million parameters) on the whole of each corpus and counts',
    "GPT-2's tokens; ours is a frozen MiniLM with a small decoder from scratch on the corpus given, unless set otherwise,",
    'and perplexity is per token of its own vocabulary, so that only the ratio to the decoder alone compares. "Eq. 34" has',
    "the graph's weight in every sentence. MI is the paper's estimator, MI exact that of the sample, at most log N.",
    flags.quick ? 'Quick: few steps, a tiny decoder, few test sentences.' : '',
  ]
    .join(' ')
    .trim();
