import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { usesPursuit } from '../config/language.ts';
import { isRival } from '../config/rivals.ts';
import type { RunConfig } from '../config/settings.ts';
import type { ReasoningConfig } from '../config/tuples.ts';
import type { Seed } from '../discovery/seeds.ts';
import { closingRun } from '../run/closing.ts';
import { corpusPlaces, recordedPlaces, rememberCorpus } from '../run/corpus-places.ts';
import { Run, refuseEdits } from '../run/run.ts';
import { checkRunFolder } from '../run/run-record.ts';
import { Session } from '../run/session.ts';
import type { SessionResult } from '../run/session-checkpoint.ts';
import { Replicas } from '../train/replicas.ts';
import type { Task } from '../train/task.ts';
import { counted } from '../train/train-events.ts';
import { assigner, type OnTrainEvent, type Prepared, prepare, type Source, type Terms } from './prepared.ts';

/** What a training is asked to do, whatever is trained. */
export interface TrainOptions {
  /** The run's folder. */
  out: string | ((config: RunConfig) => string);
  /** All settings; made of those of the run that goes on, or of where the data are. */
  config:
    | RunConfig
    | ((earlier: Run | undefined, input: string | undefined) => RunConfig | Promise<RunConfig>);
  /** Goes on from the last checkpoint of the run. */
  resume?: boolean;
  /** Replaces a run that is there, or goes on with changed settings. */
  force?: boolean;
  /** Where it ends; `discover` trains no decoder. */
  stage?: 'discover' | 'write' | undefined;
  /** Symbols that are asked for. */
  seeds?: readonly Seed[] | undefined;
  /** Whether there are as many symbols as texts fall into. */
  chooseSymbols?: boolean;
  /** Aborting ends training after the step under way, with a checkpoint. */
  signal?: AbortSignal | undefined;
  /** The processes that train; this one leads them. */
  replicas?: Replicas;
  onEvent?: OnTrainEvent;
  /** In place of training: looks at the batch on which the run stopped. */
  diagnose?: ((run: Run, task: Task<unknown>) => Promise<void>) | undefined;
  /** Trains, with something around it, such as a profile. */
  around?: ((session: Session) => Promise<SessionResult>) | undefined;
}

/** What is known of a training before its corpus is read. */
interface Plan {
  readonly options: TrainOptions;
  readonly source: Source;
  /** Whether the user said where the data are. */
  readonly named: boolean;
  readonly config: RunConfig;
  readonly terms: Terms;
  readonly out: string;
  readonly earlier: Run | undefined;
  readonly replicas: Replicas;
  readonly onEvent: OnTrainEvent;
}

/**
 * Trains whatever the settings name, on texts, a synthetic language or tuples, and writes everything about it to a
 * folder. Gives nothing where it was asked to diagnose.
 */
export async function train(source: Source, options: TrainOptions): Promise<SessionResult | undefined> {
  const plan = await planOf(source, options);
  const { config, earlier, out, replicas, onEvent } = plan;
  // Before the corpus is read, which may take minutes.
  if (!earlier) checkRunFolder(out, options.force ?? false);
  if (isCounted(config)) return countWalks(plan, config);
  const assign = assigner(replicas, plan);
  const how = { replicas, onEvent, onRead: assign, signal: options.signal };
  const prepared = await prepare(plan.source, config, plan.terms, how);
  try {
    if (prepared.chosen) await onEvent({ type: 'chosen', ...prepared.chosen });
    const result = await trainPrepared(plan, prepared, () => assign(prepared));
    if (result) await onEvent({ type: 'ended', directory: out, model: config.model, result });
    return result;
  } finally {
    prepared.close();
  }
}

async function planOf(source: Source, options: TrainOptions): Promise<Plan> {
  const { replicas = Replicas.alone, onEvent = () => {} } = options;
  const earlier = earlierRun(options);
  // A path model's are its network's, which it finds by itself.
  const input = source.input ?? (source.network ? undefined : earlier && corpusPlaces(earlier)[0]);
  const config = typeof options.config === 'function' ? await options.config(earlier, input) : options.config;
  checkStage(config, options, earlier !== undefined);
  const out = typeof options.out === 'string' ? options.out : options.out(config);
  const known = earlier ? await knownOf(earlier, source, config) : { source: {}, terms: {} };
  const asked = {
    ...(options.seeds ? { seeds: options.seeds } : {}),
    chooseSymbols: options.chooseSymbols ?? false,
    onlyDiscover: options.stage === 'discover',
  };
  return {
    ...{ options, config, out, earlier, replicas, onEvent },
    source: { ...source, ...(input === undefined ? {} : { input }), ...known.source },
    named: source.input !== undefined,
    terms: { ...known.terms, ...asked },
  };
}

/** The run that goes on, or that is looked at; refused where its files are not those it was trained with. */
function earlierRun({ resume, diagnose, force, out }: TrainOptions): Run | undefined {
  if ((!resume && !diagnose) || typeof out !== 'string') return undefined;
  const earlier = Run.open(out);
  // Before the corpus is read with files that are not the run's.
  if (!force) refuseEdits(earlier.edits(), out);
  return earlier;
}

function checkStage(config: RunConfig, { stage, seeds, chooseSymbols }: TrainOptions, goesOn: boolean): void {
  const texts = config.model === 'language';
  if ((seeds || chooseSymbols) && (goesOn || !texts))
    throw new UserError('--symbols auto and --seeds are for a new run of texts; leave them out');
  const aboutTexts = texts || isRival(config);
  if (stage === 'discover' && aboutTexts && !(texts && usesPursuit(config)))
    throw new UserError(
      '--stage discover needs walks that are read by pursuit; leave encoder.walks and baseline as they are by default',
    );
}

/** What an earlier training fixed: the vocabulary, the space of symbols, how its corpus is read. */
async function knownOf(
  earlier: Run,
  { input, settings }: Source,
  config: RunConfig,
): Promise<{ source: Partial<Source>; terms: Terms }> {
  if (config.model === 'language' || isRival(config)) {
    const { textInput, textRecord } = await import('../tasks/language/text-record.ts');
    const { ownEncoder } = await import('../tasks/recorded-models.ts');
    const { record, tokenizer } = textRecord(earlier);
    const from = input === undefined ? textInput(earlier) : {};
    const { seeds, discovery } = record;
    return {
      source: { ...from, settings: { ...record.settings, ...settings } },
      terms: { tokenizer, seeds, discovery, encoderFolder: ownEncoder(earlier) },
    };
  }
  if (config.model !== 'reasoning' || config.part === 'path') return { source: {}, terms: {} };
  const { tupleRecord } = await import('../tasks/tuples/prepare.ts');
  return { source: {}, terms: { tokenizer: tupleRecord(earlier).tokenizer } };
}

/** Trains what was prepared; `assign` tells the other ranks, where they were not told when texts were read. */
async function trainPrepared(
  plan: Plan,
  prepared: Prepared,
  assign: () => Promise<void>,
): Promise<SessionResult | undefined> {
  const { options, out, earlier, replicas, onEvent } = plan;
  const { force = false, diagnose, around, resume = false } = options;
  const { config } = prepared;
  const info = infoOf(plan, prepared);
  const changes = earlier?.differences(config, info) ?? [];
  if (!force) refuseChanges(changes, out);
  const task = prepared.task(replicas);
  if (diagnose && earlier) {
    await diagnose(earlier, task);
    return undefined;
  }
  const run = earlier ? Run.open(out, { write: true, config, force }) : prepared.create(out, { force });
  return closingRun(run, async () => {
    const { seeds = [], chosen } = prepared;
    const resumed = earlier !== undefined;
    await onEvent({ type: 'run', directory: out, model: config.model, resumed, seeds, chosen });
    for (const text of [...prepared.lines, ...run.notes]) void onEvent({ type: 'note', text });
    const session = new Session(run, task, {
      ...{ resume, replicas, onEvent, onlyPrepare: options.stage === 'discover' },
      signal: AbortSignal.any([replicas.stopped, ...(options.signal ? [options.signal] : [])]),
    });
    // Only now: settings that the checkpoint does not fit must not replace those it does.
    if (earlier) adopt(run, earlier, { ...prepared, info, differ: changes.length > 0 });
    await assign();
    return around ? around(session) : session.train();
  });
}

/** A corpus that nobody named keeps its place in the run, as a copy of standard input does. */
const infoOf = ({ earlier, named }: Plan, { info }: Prepared): Prepared['info'] =>
  earlier && !named ? { ...info, directory: earlier.record.corpus.directory } : info;

/** Makes settings and corpus those of a run that goes on, where they differ; a corpus that the user named is noted. */
function adopt(
  run: Run,
  earlier: Run,
  { info, adopted, differ }: Pick<Prepared, 'info' | 'adopted'> & { differ: boolean },
): void {
  const { corpus: before, state } = earlier.record;
  const same = info.fingerprint === before.fingerprint;
  const named = info.directory !== before.directory;
  // What was made of the corpus before is of another one.
  if (!same) run.setState(state, { ...adopted?.(earlier), edited: new Date().toISOString() });
  if (differ) run.adopt(info);
  if (!same) rememberCorpus(run);
  else if (named && recordedPlaces(run).length === 1)
    rememberCorpus(run, [path.resolve(run.directory, info.directory)]);
  else if (differ) rememberCorpus(run, corpusPlaces(earlier));
}

function refuseChanges(changes: readonly string[], out: string): void {
  if (changes.length === 0) return;
  const lines = changes.map((line) => `\n  ${line}`).join('');
  throw new UserError(
    `${out} was trained with other settings:${lines}\n  resume without them, or add --force to go on with them`,
  );
}

const isCounted = (config: RunConfig): config is ReasoningConfig =>
  config.model === 'reasoning' && config.part === 'path' && config.path.kind === 'counts';

/** The path model that has nothing to train: one pass over the walks. */
async function countWalks(
  { source, options, out, onEvent }: Plan,
  config: ReasoningConfig,
): Promise<SessionResult> {
  const { openReasoning, openTuples } = await import('../tasks/tuples/open.ts');
  const { countPath } = await import('../tasks/tuples/path/path-task.ts');
  const began = performance.now();
  const opened = await openReasoning(source.network!);
  const tuples = await openTuples(opened, source.input);
  const counting = counted({ type: 'encode', label: 'count walks', unit: 'tuples' }, onEvent);
  const force = options.force ?? false;
  const evaluation = countPath(config, opened, { ...tuples, force }, counting.going);
  counting.end();
  opened.model.free();
  const seconds = (performance.now() - began) / 1000;
  const result: SessionResult = { state: 'finished', step: 0, seconds, evaluation };
  await onEvent({ type: 'ended', directory: out, model: config.model, result });
  return result;
}
