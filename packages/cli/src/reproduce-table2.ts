import path from 'node:path';
import type { LanguageConfig } from '@hidden-schema/hsn';
import type { Table2Corpus, Table2Model, Table2Row } from '@hidden-schema/studies';
import { deliver } from './analysis.ts';
import { namedPaths } from './named-paths.ts';
import type { ReproduceFlags } from './reproduce.ts';
import { trained, trainLanguageRun } from './reproduce-run.ts';
import { say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

/** Sizes of a table in an hour or so for each corpus: not the figures of a full one, but their order. */
const quick = {
  decoder: { width: 128, layers: 2, vocabularySize: 3000 },
  warmStart: { steps: 800, hold: 200, sentences: 4000 },
  training: { steps: 1000, batch: 32, evaluateEvery: 500 },
};
/** Nats that walks may tell for nothing, as in experiments/language. */
const capacity = 7.5;
const quickLook = { limit: 300, walks: 20, graphs: 5 };
const fullLook = { limit: 2000, walks: 100, graphs: 10 };

/** Trains what Table 2 compares on the corpora given, each model in a folder of --out; finished runs are kept. */
export async function reproduceTable2(flags: ReproduceFlags): Promise<void> {
  const { table2Models, table2Sheet } = await import('@hidden-schema/studies');
  const corpora = await corporaOf(flags.corpus);
  const steps = await wholeNumber('--steps', flags.steps);
  const rows: Table2Row[] = [];
  for (const [corpus, input] of corpora) {
    for (const model of table2Models) {
      rows.push(await rowOf({ corpus, input, model, flags, steps }));
      const sheets = [table2Sheet(rows, caption(flags))];
      await deliver('', { out: flags.out }, { name: 'table2', data: rows, sheets });
    }
  }
}

async function corporaOf(list: string | undefined): Promise<[Table2Corpus, string][]> {
  const { UserError } = await import('@hidden-schema/base');
  const { table2Corpora } = await import('@hidden-schema/studies');
  const expected = `expected ${table2Corpora.map((name) => `${name}=FILE or FOLDER`).join(', ')}, with commas between`;
  if (!list) throw new UserError(`table2 needs texts: give --corpus, ${expected}`);
  return (await namedPaths(list, expected)).map(([name, input]) => {
    const corpus = table2Corpora.find((one) => one === name.toLowerCase());
    if (!corpus) throw new UserError(`--corpus has "${name}=${input}": ${expected}`);
    return [corpus, input];
  });
}

interface Wanted {
  corpus: Table2Corpus;
  input: string;
  model: Table2Model;
  flags: ReproduceFlags;
  steps: number | undefined;
}

async function rowOf({ corpus, input, model, flags, steps }: Wanted): Promise<Table2Row> {
  const hsn = await import('@hidden-schema/hsn');
  const name = model === 'baseline' ? 'baseline' : `${model.symbols}-${model.length}`;
  const out = path.join(flags.out, `table2${flags.quick ? '-quick' : ''}-${corpus}-${name}`);
  const config = await configOf(model, flags.quick ?? false, steps);
  if (trained(hsn.Run, out, input)) say(`${out} was trained before: used again\n`);
  else await trainLanguageRun(config, input, out);
  const opened = await hsn.openLanguage(out, { checkpoint: 'best' });
  const texts = await hsn.openLanguageCorpus(opened);
  try {
    const look = flags.quick ? quickLook : fullLook;
    const figures = hsn.languageFigures(opened.model, texts, opened.texts.frames, look);
    const { step, seconds } = opened.run.record as { step?: number; seconds?: number };
    return { corpus, model, steps: step ?? config.training.steps, seconds: seconds ?? Number.NaN, figures };
  } finally {
    texts.close();
    opened.model.free();
  }
}

async function configOf(
  model: Table2Model,
  isQuick: boolean,
  steps: number | undefined,
): Promise<LanguageConfig> {
  const { languageConfigSchema } = await import('@hidden-schema/hsn');
  const { training, ...sizes } = isQuick ? quick : { training: {} };
  return languageConfigSchema.parse({
    model: 'language',
    ...(model === 'baseline' ? { baseline: true } : model),
    ...sizes,
    objective: { capacity },
    training: { ...training, ...(steps === undefined ? {} : { steps }) },
  });
}

const caption = (flags: ReproduceFlags): string =>
  [
    'The paper fine-tunes BERT and GPT-2 small (110 and 124 million parameters) on the whole of each corpus and counts',
    "GPT-2's tokens; ours is a frozen MiniLM with a small decoder from scratch on the corpus given, and perplexity is per",
    "token of its own vocabulary, so that only the ratio to the decoder alone compares. MI is the paper's estimator, MI",
    'exact that of the sample, at most log N.',
    flags.quick ? 'Quick: few steps, small decoder, 300 test sentences.' : '',
  ].join(' ');
