import { UserError } from '@hidden-schema/base';
import {
  checkRunFolder,
  closingRun,
  createLanguageRun,
  discoveringDefaults,
  type LanguageConfig,
  type LanguageFigures,
  LanguageTask,
  languageConfig,
  type languageConfigSchema,
  loadConfig,
  type PreparedLanguage,
  prepareLanguage,
  type Run,
  type Seed,
  Session,
  type StepMetrics,
} from '@hidden-schema/hsn';
import { nameSeeds, writeModelCard } from '@hidden-schema/studies';
import { useDevice } from '@hidden-schema/torch';
import type { z } from 'zod';
import { inOptions } from './option-names.ts';
import { open } from './schema.ts';
import type { Texts } from './texts.ts';

/** Any setting of a language model, by its place; `hsn train --help` and docs/reference/settings.md say what they mean. */
export type Settings = Omit<z.input<typeof languageConfigSchema>, 'model' | 'symbols' | 'length' | 'seed'>;

/** What training does, in this order; `train` only where a decoder is trained. */
export type TrainStage = 'read' | 'encode' | 'train' | 'describe';

/** What `train` is asked to do. */
export interface TrainOptions {
  /** The run's folder, made by `train`. */
  out: string;
  /** K, symbols of the graph; 50 unless given. `auto` takes as many as the texts fall into. */
  symbols?: number | 'auto';
  /** Symbols that are asked for by name and words; they are the first, under their names. */
  seeds?: readonly Seed[];
  /** L, steps of a walk; 5 unless given. */
  length?: number;
  /** Of every draw; the same seed, threads and version give the same run. */
  seed?: number;
  /** All other settings, such as `{ training: { steps: 1000 } }`. */
  settings?: Settings;
  /**
   * Where it ends: after `discover` symbols, graph and walks are found and no decoder is trained; `write`, the default,
   * goes on to the decoder.
   */
  stage?: 'discover' | 'write';
  /** Replaces a run that is there. */
  force?: boolean;
  /** Told of every step. */
  onStep?: (step: StepMetrics) => void;
  /** Told how far each stage is: bytes read, texts encoded, training steps, sentences whose walks are read at the end. */
  onProgress?: (stage: TrainStage, done: number, total: number) => void;
  /** Aborting ends training after the step under way, with a checkpoint; `hsn train --resume` goes on. */
  signal?: AbortSignal;
  /** Whether what the symbols mean is worked out and stored at the end; true unless given. */
  meanings?: boolean;
}

/** A run as training left it. */
export interface TrainedRun {
  /** Its folder, for `open`. */
  directory: string;
  /** `discovered` where it ended after `discover`, `stopped` where a signal ended it. */
  state: 'discovered' | 'finished' | 'stopped';
  /** The last training step; 0 where nothing but symbols was found. */
  step: number;
  /** That training took. */
  seconds: number;
  /** Why it ended before its last step, if it did. */
  reason?: string;
  /** On the test split, of the best model; none where it was stopped. */
  figures?: LanguageFigures;
}

/**
 * Trains a Hidden Schema Network on texts and writes everything about it to a folder, as `hsn train` does.
 *
 * @example
 * const run = await train(texts('reviews.tsv', { label: 'stars' }), {
 *   out: 'run', symbols: 50, length: 5, onStep: ({ step, loss }) => console.log(step, loss),
 * });
 */
export function train(source: Texts, options: TrainOptions): Promise<TrainedRun> {
  return inOptions(() => trained(source, options));
}

async function trained(source: Texts, options: TrainOptions): Promise<TrainedRun> {
  const { out, force = false, signal, onProgress } = options;
  const config = configOf(options);
  if (config.device !== undefined) useDevice(config.device);
  // Before the corpus is read, which may take minutes.
  checkRunFolder(out, force);
  const texts = { input: source.input, settings: source.settings };
  const prepared = await prepareLanguage(config, texts, {
    ...(signal ? { signal } : {}),
    ...(source.stream ? { stdin: source.stream() } : {}),
    ...(onProgress ? preparationProgress(onProgress) : {}),
    chooseSymbols: options.symbols === 'auto',
    onlyDiscover: options.stage === 'discover',
    seeds: options.seeds,
  });
  try {
    const run = createLanguageRun(out, prepared, { force });
    nameSeeds(out, options.seeds ?? []);
    const result = await session(run, prepared, options);
    if (result.state !== 'stopped' && options.meanings !== false && !config.baseline)
      await storeMeanings(options);
    return result;
  } finally {
    prepared.close();
  }
}

function configOf({ symbols, length, seed, settings = {} }: TrainOptions): LanguageConfig {
  const short = { symbols: symbols === 'auto' ? undefined : symbols, length, seed };
  // JSON is YAML too, and so faults are told as those of a settings file are.
  const text = JSON.stringify({ ...settings, ...short, model: 'language' });
  const options = { fallback: 'language', beneath: discoveringDefaults } as const;
  return languageConfig(loadConfig(text, 'settings', [], options));
}

/** A library says nothing by itself. */
const silent = { write: () => undefined };

function session(run: Run, prepared: PreparedLanguage, options: TrainOptions): Promise<TrainedRun> {
  const { out, signal, onProgress } = options;
  const { steps } = prepared.config.training;
  const onStep = (metrics: StepMetrics) => {
    options.onStep?.(metrics);
    onProgress?.('train', metrics.step, steps);
  };
  return closingRun(run, async () => {
    const started = new Session(run, new LanguageTask(prepared), {
      output: silent,
      onlyPrepare: options.stage === 'discover',
      onStep,
      ...(signal ? { signal } : {}),
    });
    const { evaluation, ...result } = await started.train();
    writeModelCard(out);
    return { directory: out, ...result, ...(evaluation ? { figures: evaluation } : {}) };
  });
}

type OnProgress = NonNullable<TrainOptions['onProgress']>;

const preparationProgress = (onProgress: OnProgress) => ({
  onProgress: ({ bytes, totalBytes }: { bytes: number; totalBytes: number }) =>
    onProgress('read', bytes, totalBytes),
  onVectors: (done: number, total: number) => onProgress('encode', done, total),
});

async function storeMeanings({ out, signal, onProgress }: TrainOptions): Promise<void> {
  using schema = await open(out);
  try {
    await schema.describe({
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onProgress: (done, total) => onProgress('describe', done, total) } : {}),
    });
  } catch (error) {
    // The run is whole; what it means can be worked out later.
    if (!signal?.aborted && !(error instanceof UserError)) throw error;
  }
}
