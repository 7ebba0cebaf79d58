import path from 'node:path';
import { live } from '@hidden-schema/cli/terminal';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { Table2Model } from '../reproduction/presets/language.ts';
import { seedsTo } from '../reproduction/presets/preset.ts';
import type { Table2Row } from '../reproduction/table2.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { type Look, lookOf, namedPaths, settingsFlag } from './reproduce-flags.ts';
import { trainedRun } from './reproduce-run.ts';

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
  const { writeResults } = await import('@hidden-schema/studies/drawing/results');
  const { Progress } = await import('@hidden-schema/hsn/run/progress');
  const wanted = await table2Runs(flags);
  const rows: Table2Row[] = [];
  const result = (): Reproduced => {
    const sheet = table2Sheet(rows, caption(flags));
    const seeds = [...new Set(rows.map(({ seed }) => seed))];
    return { name: 'table2', title: sheet.title, data: rows, sheets: [sheet], seeds };
  };
  const progress = new Progress({ label: 'table2', total: wanted.length, unit: 'models', output: live });
  for (const each of wanted) {
    progress.update(rows.length, { now: path.basename(each.out) });
    rows.push(await rowOf(each, flags));
    // What is done stays where the rest is stopped.
    await writeResults(flags.out, result());
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
      seedsTo(seeds).map((seed) => {
        const size = model === 'baseline' ? 'baseline' : `${model.symbols}-${model.length}`;
        const name = `table2${kind}-${corpus}-${size}${seed === 1 ? '' : `-seed${seed}`}`;
        return { corpus, input, model, seed, out: path.join(flags.out, name) };
      }),
    ),
  );
}

async function corporaOf(list: string | undefined): Promise<[string, string][]> {
  const { UserError } = await import('@hidden-schema/base');
  const { publishedCorpora } = await import('../reproduction/published.ts');
  const expected = `expected ${publishedCorpora.map((name) => `${name}=FILE or FOLDER`).join(', ')} (other names have no published figures), with commas between`;
  if (!list) throw new UserError(`table2 needs texts: give --corpus, ${expected}`);
  const named = await namedPaths(list, expected);
  return named.map(([name, input]) => {
    if (!/^[A-Za-z0-9_]+$/.test(name)) throw new UserError(`--corpus has "${name}=${input}": ${expected}`);
    return [name.toLowerCase(), input];
  });
}

async function modelsOf(list: string | undefined): Promise<readonly Table2Model[]> {
  const { UserError } = await import('@hidden-schema/base');
  const { table2ModelName, table2Models } = await import('../reproduction/presets/language.ts');
  if (list === undefined) return table2Models;
  return list.split(',').map((name) => {
    const model = table2Models.find((one) => table2ModelName(one) === name);
    if (model) return model;
    throw new UserError(`--models takes ${table2Models.map(table2ModelName).join(', ')}, got "${name}"`);
  });
}

async function rowOf({ corpus, input, model, seed, out }: Wanted, flags: ReproduceFlags): Promise<Table2Row> {
  const { openLanguage, openLanguageCorpus } = await import('@hidden-schema/hsn/tasks/language/open');
  const { languageFigures } = await import('@hidden-schema/hsn/tasks/language/task');
  const { table2Config } = await import('../reproduction/table2-settings.ts');
  const steps = await wholeNumber('--steps', flags.steps);
  const settings = await settingsFlag('table2', 'ours', flags.settings);
  const quick = flags.quick ?? false;
  const config = table2Config({ corpus, model, seed, settings, quick, steps, set: flags.set ?? [] });
  const spent = await trainedRun(config, input, out);
  const opened = await openLanguage(out, { checkpoint: 'best' });
  const texts = await openLanguageCorpus(opened);
  try {
    const look = await lookOf(flags, quickLook);
    const figures = languageFigures(opened.model, texts, opened.texts.frames, look);
    return { corpus, model, settings, seed, ...spent, figures };
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
