import { UserError } from '@hidden-schema/base';
import {
  counted,
  discoveringDefaults,
  driveTraining,
  type LanguageFigures,
  type languageConfigSchema,
  loadConfig,
  type ReasoningFigures,
  type Run,
  type RunConfig,
  type reasoningConfigSchema,
  type Seed,
  type StepMetrics,
  type SyntheticEvaluation,
  type syntheticOptions,
  type TrainEvent,
} from '@hidden-schema/hsn';
import { keepWithRun } from '@hidden-schema/studies';
import { useDevice } from '@hidden-schema/torch';
import type { z } from 'zod';
import { inOptions, optionText } from './option-names.ts';
import { open } from './schema.ts';
import type { SyntheticLanguage, Texts, Tuples } from './texts.ts';

type Own<Schema extends z.ZodType> = Omit<z.input<Schema>, 'model' | 'symbols' | 'length' | 'seed'>;

/** Any setting of a language model, by its place; `hsn train --help` and docs/reference/settings.md say what they mean. */
export type Settings = Own<typeof languageConfigSchema>;
/** The same of a network of tuples. */
export type TupleSettings = Own<typeof reasoningConfigSchema>;
/** The same of a synthetic language. */
export type SyntheticSettings = Own<typeof syntheticOptions>;

/** What `onProgress` counts, in this order; `train` only where a decoder is trained. */
export type TrainStage = 'read' | 'encode' | 'train' | 'describe';

/** What `train` is asked to do. */
export interface TrainOptions<AnySettings = Settings> {
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
  settings?: AnySettings;
  /**
   * Where it ends: after `discover` symbols, graph and walks are found and no decoder is trained; `write`, the default,
   * goes on to the decoder.
   */
  stage?: 'discover' | 'write';
  /**
   * Goes on with the run in `out` from its last checkpoint, as if it had not been stopped; with settings that differ from
   * the run's own only where `force` is set.
   */
  resume?: boolean;
  /** Replaces a run that is there; with `resume`, goes on with changed settings. */
  force?: boolean;
  /** Called with everything that happens: stages, steps, validations and notes. */
  onEvent?: (event: TrainEvent) => void;
  /** Told of every step. */
  onStep?: (step: StepMetrics) => void;
  /** Told how far each stage is: bytes read, texts encoded, training steps, sentences whose walks are read at the end. */
  onProgress?: (stage: TrainStage, done: number, total: number) => void;
  /** Aborting ends training after the step under way, with a checkpoint; `resume` or `hsn train --resume` goes on. */
  signal?: AbortSignal;
  /** Whether what the symbols mean is worked out and stored at the end; true unless given. */
  meanings?: boolean;
}

/** A run as training left it. */
export interface TrainedRun<Figures = LanguageFigures> {
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
  figures?: Figures;
}

/** Trains on a synthetic language whose folder `hsn synth` wrote. */
export function train(
  source: SyntheticLanguage,
  options: TrainOptions<SyntheticSettings>,
): Promise<TrainedRun<SyntheticEvaluation>>;
/** Trains a network of tuples, or with `{ baseline: true }` among the settings COMET. */
export function train(
  source: Tuples,
  options: TrainOptions<TupleSettings>,
): Promise<TrainedRun<ReasoningFigures>>;
/**
 * Trains a Hidden Schema Network on texts and writes everything about it to a folder, as `hsn train` does. With `resume`
 * the source may be left out as `undefined`: the run knows where its texts are.
 *
 * @example
 * const run = await train(texts('reviews.tsv', { label: 'stars' }), {
 *   out: 'run', symbols: 50, length: 5, onStep: ({ step, loss }) => console.log(step, loss),
 * });
 */
export function train(source: Texts | undefined, options: TrainOptions): Promise<TrainedRun>;
export function train(
  source: AnySource | undefined,
  options: TrainOptions<unknown>,
): Promise<TrainedRun<never>> {
  return inOptions(() => trained(source, options));
}

type AnySource = Texts | Tuples | SyntheticLanguage;

async function trained(
  source: AnySource | undefined,
  options: TrainOptions<unknown>,
): Promise<TrainedRun<never>> {
  const { out, signal, stage, seeds, symbols, force = false, resume = false } = options;
  if (!source && !resume)
    throw new UserError('which texts? give texts(file), or with resume: true leave them out');
  const onEvent = eventsTo(options);
  let config: RunConfig | undefined;
  const result = await driveTraining(sourceOf(source), {
    ...{ out, force, resume, signal, stage, seeds, onEvent },
    chooseSymbols: symbols === 'auto',
    config: (earlier) => {
      config = configOf(source, options, earlier);
      if (config.device !== undefined) useDevice(config.device);
      return config;
    },
  });
  const { evaluation, ...ended } = result!;
  const described = config !== undefined && !('baseline' in config && config.baseline);
  if (ended.state !== 'stopped' && options.meanings !== false && described)
    await storeMeanings(out, signal, onEvent);
  return { directory: out, ...ended, ...(evaluation ? { figures: evaluation as never } : {}) };
}

function sourceOf(source: AnySource | undefined) {
  if (!source) return {};
  if ('kind' in source) return { input: source.input };
  const { input, settings, stream } = source;
  return { input, settings, ...(stream ? { stdin: stream() } : {}) };
}

function configOf(
  source: AnySource | undefined,
  { symbols, length, seed, settings }: TrainOptions<unknown>,
  earlier: Run | undefined,
): RunConfig {
  const kind = source && 'kind' in source ? source.kind : 'language';
  const model = earlier?.config.model ?? kind;
  const short = { symbols: symbols === 'auto' ? undefined : symbols, length, seed };
  // JSON is YAML too, and so faults are told as those of a settings file are.
  const text = JSON.stringify({ ...(settings ?? {}), ...short, model });
  const beneath = earlier ? () => ({ ...earlier.config }) : discoveringDefaults;
  return loadConfig(text, 'settings', [], { fallback: model, beneath });
}

type OnEvent = (event: TrainEvent) => Promise<void>;

/** All that is told is made of events; a library says nothing by itself. */
function eventsTo({ onEvent, onStep, onProgress }: TrainOptions<unknown>): OnEvent {
  return async (event) => {
    onEvent?.(event.type === 'note' ? { ...event, text: optionText(event.text) } : event);
    if (!('state' in event)) return keepWithRun(event);
    if (event.state !== 'going') return;
    const { type, done, total, step } = event;
    if (step) onStep?.(step);
    if (type !== 'discover' && type !== 'evaluate') onProgress?.(type, done, total);
  };
}

async function storeMeanings(out: string, signal: AbortSignal | undefined, onEvent: OnEvent): Promise<void> {
  using schema = await open(out);
  const stage = counted({ type: 'describe', label: 'read', unit: 'sentences' }, onEvent);
  try {
    await schema.describe({ signal, onProgress: stage.going });
  } catch (error) {
    // The run is whole; what it means can be worked out later.
    if (!signal?.aborted && !(error instanceof UserError)) throw error;
  } finally {
    stage.end();
  }
}
