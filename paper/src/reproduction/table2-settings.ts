import type { LanguageConfig } from '@hidden-schema/hsn/config/language';
import { languageConfig, loadConfig } from '@hidden-schema/hsn/config/settings';
import type { Table2Model } from './table2.ts';

/** Ours, as experiments/language has them; or appendix F.1 as written. */
export type Table2Settings = 'ours' | 'written';

export interface Table2Choice {
  corpus: string;
  model: Table2Model;
  seed: number;
  settings: Table2Settings;
  quick: boolean;
  steps?: number | undefined;
  /** `key.path=value`, on top of all others. */
  set: readonly string[];
}

/** The settings of one model of Table 2. */
export function table2Config({ corpus, model, seed, ...choice }: Table2Choice): LanguageConfig {
  const sizes = model === 'baseline' ? { symbols: 50, length: 5, baseline: true } : model;
  const base = choice.settings === 'written' ? written(corpus) : ours(corpus, sizes.length);
  const steps = choice.steps === undefined ? [] : [`training.steps=${choice.steps}`];
  const text = JSON.stringify({ model: 'language', seed, ...sizes, ...base });
  const overrides = [...(choice.quick ? quick : []), ...steps, ...choice.set];
  return languageConfig(loadConfig(text, 'settings', overrides));
}

/** Nats that a step of a walk may tell for nothing: 7.5 of 5 steps, as chosen on validation sentences. */
const capacityOfStep = 1.5;

/** How long walks are held differs: on the treebank they say more when the decoder has them unchanged for longer. */
function ours(corpus: string, length: number) {
  const treebank = corpus === 'ptb';
  return {
    graph: { posterior: 'pairs', prior: 'bernoulli', p: 0.2 },
    walk: { prior: 'inhomogeneous' },
    objective: { kind: 'information', aggregation: 'mean', capacity: capacityOfStep * length },
    warmStart: treebank
      ? { code: 'vectors', steps: 3000, hold: 2000 }
      : { code: 'vectors', steps: 2000, hold: 500 },
    encoder: { walks: 'queries', longest: 512 },
    decoder: { whole: true },
    training: { steps: 3000, batch: 64, patience: 20, ...(treebank ? { encoderRate: 1e-4 } : {}) },
  };
}

const batch = 32;
const epochs = 100;
const trainingTexts: Readonly<Record<string, number>> = { ptb: 38_219, yahoo: 100_000, yelp: 100_000 };

/** Appendix F.1, as experiments/language/paper-*.yaml have it; 0.3 of the words are dropped on the treebank only. */
function written(corpus: string) {
  const steps = Math.ceil((epochs * (trainingTexts[corpus] ?? trainingTexts.ptb!)) / batch);
  return {
    graph: {
      ...{ posterior: 'pairs', prior: 'bernoulli', p: 0.5, symbols: 'one-hot', hidden: 512, layers: 2 },
      ...{ temperature: 1, hard: false, klWeight: 'one' },
    },
    walk: {
      ...{ prior: 'inhomogeneous', posterior: 'graph', form: 'paper', range: 'none' },
      ...{ temperature: 1, hard: false },
    },
    encoder: {
      ...{ name: 'google-bert/bert-base-uncased', frozen: false, walks: 'queries' },
      ...{ longest: 512, sharpness: 1 },
    },
    decoder: {
      ...{ name: 'openai-community/gpt2', whole: true, wordDropout: corpus === 'ptb' ? 0.3 : 0 },
      ...{ symbolAttention: 'paper', symbolPositions: 1, symbolDeviation: 0.02 },
    },
    objective: {
      ...{ kind: 'information', aggregation: 'mean', klThreshold: 0.1, graphKlThreshold: 0.1 },
      beta: { kind: 'cyclical', to: 1, steps: Math.ceil(steps / 10), rise: 0.5 },
    },
    warmStart: { steps: 0, hold: 0 },
    training: {
      ...{ steps, batch, rate: 1e-5, symbolRate: 1, encoderRate: 1e-5, graphRate: 1e-5 },
      ...{ decay: 0, clip: 'none', warmup: 0, schedule: 'constant', patience: 1_000_000 },
    },
  };
}

/** A table in minutes: not the figures of a full one, and hardly their order. */
const quick: readonly string[] = [
  'decoder.width=64',
  'decoder.layers=2',
  'decoder.vocabularySize=800',
  'decoder.longest=48',
  'decoder.whole=false',
  'encoder.longest=48',
  'warmStart.steps=40',
  'warmStart.hold=20',
  'warmStart.sentences=500',
  'training.steps=60',
  'training.batch=16',
  'training.evaluateEvery=60',
];
