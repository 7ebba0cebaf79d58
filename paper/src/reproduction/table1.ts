import { setImmediate } from 'node:timers/promises';
import type { SyntheticConfig } from '@hidden-schema/hsn/config/network';
import { readSyntheticCorpus, type SyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import { evaluateSynthetic, graphRecovery } from '@hidden-schema/hsn/tasks/synthetic/evaluation';
import { sweepUntilSettled } from '@hidden-schema/hsn/tasks/synthetic/graph-sweeps';
import { SyntheticTask } from '@hidden-schema/hsn/tasks/synthetic/task';
import { trainLstmBaseline } from '../baselines/lstm.ts';
import { type Dataset, datasets, ourConfig, type PaperSettings, paperConfig } from './experiments.ts';
import { baumWelchFigures, countingFigures, drawnCorpus } from './fit.ts';
import { seedsTo } from './presets/preset.ts';

export interface Table1Options {
  seeds: number;
  /** Seeds of the rows with the paper's own settings, which train longest. */
  paperSeeds: number;
  /** Seeds of the LSTM, of counting and of Baum-Welch. */
  baselineSeeds: number;
  sentences: number;
  steps: number;
  paperSteps: number;
  /** Steps of the LSTM; by default as ours, but at least 300. */
  lstmSteps?: number;
  only?: Dataset['name'][];
  /** Prior link probabilities of the paper's rows; those of Table 5 unless given. */
  priors?: readonly number[];
  /** Whether those rows have settings near the paper's, which train in minutes, or a preset's own. */
  settings?: PaperSettings;
  /** Folders with the authors' data in place of drawn corpora. */
  corpora?: Partial<Record<Dataset['name'], string>>;
  /** Rows that are there from a table that was stopped, with the same options. */
  done?: readonly Table1Row[];
  onRow?: (row: Table1Row) => void;
  onProgress?: (text: string) => void;
}

export type Method = 'hsn' | 'paper' | 'lstm' | 'counting' | 'baum-welch';

/** One model trained or one baseline fitted: figures by name. */
export interface Table1Row {
  dataset: Dataset['name'];
  method: Method;
  /** Of the paper's rows: the prior link probability, and the preset. */
  p?: number;
  settings?: PaperSettings;
  seed: number;
  seconds: number;
  /** Seconds until AUC first reached 0.99. */
  secondsToAuc99?: number;
  figures: Record<string, number>;
}

/** Trains everything that Table 1 and its supplement compare. */
export async function table1(options: Table1Options): Promise<Table1Row[]> {
  const rows: Table1Row[] = [];
  const names = datasets(options.sentences, 1).map(({ name }) => name);
  for (const name of names.filter((each) => options.only?.includes(each) ?? true)) {
    for (const { dataset, work, ...kind } of table1Jobs(name, options)) {
      const known = options.done?.find((row) => isOf(row, { dataset: dataset.name, ...kind }));
      if (known) {
        rows.push(known);
        options.onRow?.(known);
        continue;
      }
      const prior = kind.p === undefined ? '' : `, p = ${kind.p}`;
      options.onProgress?.(`${dataset.title}: ${kind.method}${prior}, seed ${kind.seed}`);
      const corpus = corpusOf(dataset, options);
      const began = performance.now();
      const { secondsToAuc99, ...figures } = await work(corpus);
      const seconds = (performance.now() - began) / 1000;
      const timed = { seconds, ...(secondsToAuc99 === undefined ? {} : { secondsToAuc99 }) };
      const row: Table1Row = { dataset: dataset.name, ...kind, ...timed, figures };
      rows.push(row);
      options.onRow?.(row);
    }
  }
  return rows;
}

const isOf = (row: Table1Row, job: Pick<Table1Row, 'dataset' | 'method' | 'p' | 'seed'>): boolean =>
  row.dataset === job.dataset && row.method === job.method && row.p === job.p && row.seed === job.seed;

/** How many models and baselines the table has. */
export function table1Size(options: Table1Options): number {
  const names = datasets(options.sentences, 1).map(({ name }) => name);
  return names
    .filter((name) => options.only?.includes(name) ?? true)
    .reduce((sum, name) => sum + table1Jobs(name, options).length, 0);
}

type Figures = Record<string, number> & { secondsToAuc99?: number };
interface Job {
  dataset: Dataset;
  method: Method;
  p?: number;
  settings?: PaperSettings;
  seed: number;
  work: (corpus: SyntheticCorpus) => Promise<Figures>;
}

/** A seed draws graph, corpus and model, but for the authors' own corpus, which is what it is. */
function table1Jobs(name: Dataset['name'], options: Table1Options): Job[] {
  const lstmSteps = options.lstmSteps ?? Math.max(300, options.steps);
  const dataset = (seed: number) =>
    datasets(options.sentences, seed, options.settings).find((each) => each.name === name)!;
  const job = (method: Method, seed: number, work: Job['work']): Job => ({
    ...{ dataset: dataset(seed), method, seed, work },
  });
  // Counting and Baum-Welch draw nothing: of a corpus that is given they have one result.
  const fixed = seedsTo(options.corpora?.[name] ? Math.min(1, options.baselineSeeds) : options.baselineSeeds);
  return [
    ...seedsTo(options.seeds).map((seed) =>
      job('hsn', seed, (corpus) => trainOnce(ourConfig(seed, options.steps), corpus)),
    ),
    ...paperJobs(dataset, options),
    ...seedsTo(options.baselineSeeds).map((seed) =>
      job('lstm', seed, async (corpus) => ({ ...lstm(corpus, lstmSteps, seed) })),
    ),
    ...fixed.map((seed) => job('counting', seed, async (corpus) => ({ ...countingFigures(corpus) }))),
    ...fixed.map((seed) => job('baum-welch', seed, async (corpus) => ({ ...baumWelchFigures(corpus) }))),
  ];
}

/** The paper's rows: for each prior and seed one; of shared tokens it has none. */
function paperJobs(dataset: (seed: number) => Dataset, options: Table1Options): Job[] {
  const { name, priors: own } = dataset(1);
  const { settings = 'near' } = options;
  // The authors' prior has no p: its row stands beside Table 1's.
  const tabled = settings === 'authors' ? own.slice(-1) : own;
  const priors = name === 'shared' ? [] : (options.priors ?? tabled);
  return priors.flatMap((p) =>
    seedsTo(options.paperSeeds).map((seed) => ({
      ...{ dataset: dataset(seed), method: 'paper' as const, p, settings, seed },
      work: (corpus: SyntheticCorpus) =>
        trainOnce(paperConfig(seed, options.paperSteps, p, settings), corpus),
    })),
  );
}

function corpusOf(dataset: Dataset, options: Table1Options): SyntheticCorpus {
  const folder = options.corpora?.[dataset.name];
  return folder === undefined ? drawnCorpus(dataset.settings) : readSyntheticCorpus(folder);
}

async function trainOnce(config: SyntheticConfig, corpus: SyntheticCorpus): Promise<Figures> {
  const task = new SyntheticTask(config, corpus);
  const { trainer } = task;
  const began = performance.now();
  let reached: number | undefined;
  const look = () => {
    const { auc } = graphRecovery(task.model, corpus, { samples: 1 });
    if (reached === undefined && typeof auc === 'number' && auc >= 0.99)
      reached = (performance.now() - began) / 1000;
  };
  try {
    sweepUntilSettled(task, config.graph.sweeps, look);
    while (!trainer.finished) {
      trainer.trainStep();
      if (trainer.step % 50 === 0) look();
      const { schedule, evaluateEvery } = config.training;
      if (schedule === 'plateau' && trainer.step % evaluateEvery === 0) trainer.validated(trainer.validate());
      await setImmediate();
    }
    const evaluation = evaluateSynthetic(task.model, corpus);
    const numbers = Object.entries(evaluation).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    );
    return { ...Object.fromEntries(numbers), ...(reached === undefined ? {} : { secondsToAuc99: reached }) };
  } finally {
    trainer.free();
  }
}

function lstm(corpus: SyntheticCorpus, steps: number, seed: number): Record<string, number> {
  return trainLstmBaseline(corpus, {
    hidden: 256,
    steps,
    batch: 256,
    rate: 3e-3,
    seed,
    noise: 1e-3,
  });
}
