import { publishedCorpora } from '../published.ts';
import { NO_PATIENCE, type PresetName, type PresetSettings, stepsOf } from './preset.ts';

type PresetCorpusName = (typeof publishedCorpora)[number];
/** HSN(K, L), or GPT-2 alone. */
export type Table2Model = 'baseline' | { symbols: number; length: number };

/** The models of Table 2 in its order. */
export const table2Models: readonly Table2Model[] = [
  'baseline',
  ...[50, 100].flatMap((symbols) => [5, 20].map((length) => ({ symbols, length }))),
];

/** `alone`, or `50-5` and so on: of flags, and of what the paper prints. */
export const table2ModelName = (model: Table2Model): string =>
  model === 'baseline' ? 'alone' : `${model.symbols}-${model.length}`;

/** Appendix F.1. */
const TEXTS: Readonly<Record<PresetCorpusName, number>> = { ptb: 38_219, yahoo: 100_000, yelp: 100_000 };
const BATCH = 32;
const RATE = 1e-5;
const EPOCHS = 100;
/** The GPT-2 row: one epoch (Section 5); the authors' file has 50. */
const BASELINE_EPOCHS = { paper: 1, authors: 50 } as const;
/** Cycles of β: as many as the schedule that the paper cites (Fu et al. 2019) has unless told. */
const CYCLES = 4;
/** Tokens that the authors' loaders cut texts at. */
const AUTHORS_LONGEST = { ptb: 140, yahoo: 200, yelp: 200 } as const;

/** Prior and posterior of the graph, in both. */
export const pairsGraph = {
  ...{ posterior: 'pairs', prior: 'bernoulli', p: 0.5, symbols: 'one-hot', hidden: 512, layers: 2 },
  ...{ temperature: 1, hard: false },
} as const;
export const inhomogeneousWalk = {
  ...{ prior: 'inhomogeneous', posterior: 'graph', form: 'paper', range: 'none', temperature: 1 },
} as const;
export const BERT = 'google-bert/bert-base-uncased';
export const GPT2 = 'openai-community/gpt2';

/** Appendix F.1: everything is tuned at one rate, from a cold start. */
export const plainTraining = (steps: number) => ({
  ...{ steps, batch: BATCH, rate: RATE, symbolRate: 1, encoderRate: RATE, graphRate: RATE },
  ...{ decay: 0, clip: 'none', warmup: 0, schedule: 'constant', patience: NO_PATIENCE },
});

/** Eq. 28 with β from 0 to 1 in cycles, and thresholds of 0.1 on both divergences. */
export const cyclicalObjective = (steps: number) => ({
  ...{ kind: 'information', aggregation: 'mean', klThreshold: 0.1, graphKlThreshold: 0.1 },
  beta: { kind: 'cyclical', to: 1, steps: Math.ceil(steps / CYCLES), rise: 0.5 },
});

/** 0.3 on the treebank and with 50 symbols; the paper prints "L = 50", which no model has, for K = 50. */
function paperDropout(corpus: PresetCorpusName, model: Table2Model): number {
  if (model === 'baseline') return 0;
  return corpus === 'ptb' || model.symbols === 50 ? 0.3 : 0;
}

function paper(corpus: PresetCorpusName, model: Table2Model): PresetSettings {
  const epochs = model === 'baseline' ? BASELINE_EPOCHS.paper : EPOCHS;
  const steps = stepsOf(TEXTS[corpus], BATCH, epochs).all;
  return {
    graph: { ...pairsGraph, klWeight: 'one' },
    walk: { ...inhomogeneousWalk, hard: false },
    encoder: { name: BERT, frozen: false, walks: 'queries', longest: 512, sharpness: 1 },
    decoder: {
      ...{ name: GPT2, whole: true, wordDropout: paperDropout(corpus, model) },
      ...{ symbolAttention: 'paper', symbolPositions: 1, symbolDeviation: 0.02 },
    },
    objective: cyclicalObjective(steps),
    warmStart: { steps: 0, hold: 0 },
    training: plainTraining(steps),
  };
}

/** The authors' experiments/{ptb,yahoo,yelp}; they have (100, 20) of PTB and (50, 5) of Yahoo and Yelp. */
function authors(corpus: PresetCorpusName, model: Table2Model): PresetSettings {
  const epochs = model === 'baseline' ? BASELINE_EPOCHS.authors : EPOCHS;
  const { epoch } = stepsOf(TEXTS[corpus], BATCH, epochs);
  const treebank = corpus === 'ptb';
  const longest = AUTHORS_LONGEST[corpus];
  const dropped = model !== 'baseline' && !treebank && model.symbols === 50;
  return {
    graph: { ...pairsGraph, klWeight: 'batch', klOf: 'mean', logZero: 'free', selfLoops: true },
    walk: { ...inhomogeneousWalk, hard: true },
    encoder: { name: BERT, frozen: false, walks: 'queries', longest, sharpness: 1 },
    decoder: {
      ...{ name: GPT2, longest, wordDropout: dropped ? 0.3 : 0, wordDropoutBy: 'mask' },
      // Positions of symbols are switched on for Yahoo alone.
      ...{ symbolAttention: 'authors', symbolPositions: corpus === 'yahoo' ? 1 : 0, symbolDeviation: 0.02 },
    },
    objective: {
      ...{ kind: 'information', aggregation: 'mean', klThreshold: 0.1, graphKlThreshold: 0.1 },
      beta: { kind: 'cyclical', to: 1, steps: epoch, zero: 0.5, rise: 0.25 },
    },
    warmStart: { steps: 0, hold: 0 },
    training: {
      ...{ ...plainTraining(epochs * epoch), schedule: 'plateau', evaluateEvery: epoch },
      plateau: { factor: 0.8, patience: treebank && model !== 'baseline' ? 0 : 1 },
    },
  };
}

/** The settings of a model of Table 2; of a corpus that the paper does not have, those of the treebank. */
export function languagePreset(preset: PresetName, corpus: string, model: Table2Model): PresetSettings {
  const known = publishedCorpora.find((name) => name === corpus) ?? 'ptb';
  const sizes = model === 'baseline' ? { symbols: 50, length: 5, baseline: true } : model;
  const settings = preset === 'paper' ? paper(known, model) : authors(known, model);
  return { model: 'language', ...sizes, ...settings };
}
