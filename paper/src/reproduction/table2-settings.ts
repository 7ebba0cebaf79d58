import type { LanguageConfig } from '@hidden-schema/hsn/config/language';
import { languageConfig, loadConfig } from '@hidden-schema/hsn/config/settings';
import { languagePreset, type Table2Model } from './presets/language.ts';
import { type PresetName, quickPreset } from './presets/preset.ts';

/** Ours, as experiments/language has them; or a preset. */
type Table2Settings = 'ours' | PresetName;

interface Table2Choice {
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
  const { settings } = choice;
  const sizes = model === 'baseline' ? { symbols: 50, length: 5, baseline: true } : model;
  const base =
    settings === 'ours'
      ? { model: 'language', ...sizes, ...ours(corpus, sizes.length) }
      : languagePreset(settings, corpus, model);
  const steps = choice.steps === undefined ? [] : [`training.steps=${choice.steps}`];
  const text = JSON.stringify({ ...base, seed });
  const small = settings === 'ours' ? quick : [...quick, ...quickPreset];
  const overrides = [...(choice.quick ? small : []), ...steps, ...choice.set];
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
