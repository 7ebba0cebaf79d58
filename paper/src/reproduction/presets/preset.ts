import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';

/** paper: what the paper and its appendices say. authors: what the files beside it say, where they differ. */
export type PresetName = 'paper' | 'authors';

/** Settings as a file has them. */
export interface PresetSettings {
  readonly [key: string]: string | number | boolean | PresetSettings;
}

/** Evaluations without gain that no training has: it ends after its steps. */
export const NO_PATIENCE = 1_000_000;

/** Where appendices speak of a batch, of epochs and of a number of texts: steps of each and of all. */
export function stepsOf(texts: number, batch: number, epochs: number): { epoch: number; all: number } {
  return { epoch: Math.ceil(texts / batch), all: Math.ceil((epochs * texts) / batch) };
}

/** 1, 2 and so on, as experiments seed their trainings. */
export const seedsTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** A quick look at a preset has no pretrained BERT and GPT-2 to tune: the default encoder as it is, GPT-2 from scratch. */
export const quickPreset: readonly string[] = [
  `encoder.name=${DEFAULT_ENCODER}`,
  'encoder.frozen=true',
  'decoder.name=gpt2',
  'training.evaluateEvery=60',
];

/** The same settings as `key.path=value`, for programs that take them so. */
export function overridesOf(settings: PresetSettings, above = ''): string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const name = above === '' ? key : `${above}.${key}`;
    return typeof value === 'object' ? overridesOf(value, name) : [`${name}=${value}`];
  });
}
