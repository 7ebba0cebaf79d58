import { setImmediate } from 'node:timers/promises';
import {
  type Config,
  evaluateSynthetic,
  graphRecovery,
  readSyntheticCorpus,
  type SyntheticCorpus,
  SyntheticTask,
} from '@hidden-schema/hsn';
import { trainLstmBaseline } from '../baselines/lstm.ts';
import { type Dataset, datasets, ourConfig, paperConfig } from './experiments.ts';
import { baumWelchFigures, countingFigures, drawnCorpus, sweepUntilSettled } from './fit.ts';

export interface Table1Options {
  seeds: number;
  /** Seeds of the rows with the paper's own settings, which train longest. */
  paperSeeds: number;
  sentences: number;
  steps: number;
  paperSteps: number;
  /** Steps of the LSTM; by default as ours, but at least 300. */
  lstmSteps?: number;
  only?: Dataset['name'][];
  /** A folder with the authors' Barabási data in place of a drawn corpus. */
  barabasiCorpus?: string;
  onRow?: (row: Table1Row) => void;
  onProgress?: (text: string) => void;
}

export type Method = 'hsn' | 'paper' | 'lstm' | 'counting' | 'baum-welch';

/** One model trained or one baseline fitted: figures by name. */
export interface Table1Row {
  dataset: Dataset['name'];
  method: Method;
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
    for (const { dataset, method, seed, work } of jobs(name, options)) {
      options.onProgress?.(`${dataset.title}: ${method}, seed ${seed}`);
      const corpus = corpusOf(dataset, options);
      const began = performance.now();
      const { secondsToAuc99, ...figures } = await work(corpus);
      const seconds = (performance.now() - began) / 1000;
      const timed = { seconds, ...(secondsToAuc99 === undefined ? {} : { secondsToAuc99 }) };
      const row: Table1Row = { dataset: dataset.name, method, seed, ...timed, figures };
      rows.push(row);
      options.onRow?.(row);
    }
  }
  return rows;
}

type Figures = Record<string, number> & { secondsToAuc99?: number };
interface Job {
  dataset: Dataset;
  method: Method;
  seed: number;
  work: (corpus: SyntheticCorpus) => Promise<Figures>;
}

/** A seed draws graph, corpus and model, but for the authors' own corpus, which is what it is. */
function jobs(name: Dataset['name'], options: Table1Options): Job[] {
  const lstmSteps = options.lstmSteps ?? Math.max(300, options.steps);
  const job = (
    method: Method,
    seed: number,
    work: (corpus: SyntheticCorpus, p: number) => Promise<Figures>,
  ): Job => {
    const dataset = datasets(options.sentences, seed).find((each) => each.name === name)!;
    return { dataset, method, seed, work: (corpus) => work(corpus, dataset.paperP) };
  };
  const seeds = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
  const paperSeeds = name === 'shared' ? 0 : options.paperSeeds;
  return [
    ...seeds(options.seeds).map((seed) =>
      job('hsn', seed, (corpus) => trainOnce(ourConfig(seed, options.steps), corpus)),
    ),
    ...seeds(paperSeeds).map((seed) =>
      job('paper', seed, (corpus, p) => trainOnce(paperConfig(seed, options.paperSteps, p), corpus)),
    ),
    job('lstm', 1, async (corpus) => ({ ...lstm(corpus, lstmSteps) })),
    job('counting', 1, async (corpus) => ({ ...countingFigures(corpus) })),
    job('baum-welch', 1, async (corpus) => ({ ...baumWelchFigures(corpus) })),
  ];
}

function corpusOf(dataset: Dataset, options: Table1Options): SyntheticCorpus {
  if (dataset.name === 'barabasi' && options.barabasiCorpus)
    return readSyntheticCorpus(options.barabasiCorpus);
  return drawnCorpus(dataset.settings);
}

async function trainOnce(config: Config, corpus: SyntheticCorpus): Promise<Figures> {
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

function lstm(corpus: SyntheticCorpus, steps: number): Record<string, number> {
  return trainLstmBaseline(corpus, {
    hidden: 256,
    steps,
    batch: 256,
    rate: 3e-3,
    seed: 1,
    noise: 1e-3,
  });
}
