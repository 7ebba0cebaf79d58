import path from 'node:path';
import { type JsonValue, UserError } from '@hidden-schema/base';
import type { TextSettings } from '@hidden-schema/text/settings';
import { tokenizerFromJson } from '@hidden-schema/text/tokenizer/tokenizer';
import { type ModelKind, type RunConfig, syntheticConfig, tuplesConfig } from '../config/settings.ts';
import type { SymbolChoice } from '../discovery/choose.ts';
import type { Seed } from '../discovery/seeds.ts';
import { corpusPlaces } from '../run/corpus-places.ts';
import { type CorpusInfo, Run } from '../run/run.ts';
import type { SessionResult } from '../run/session-checkpoint.ts';
import type { PrepareOptions } from '../tasks/language/prepare-texts.ts';
import type { Replicas } from '../train/replicas.ts';
import type { Task } from '../train/task.ts';
import { counted, type SessionEvent } from '../train/train-events.ts';

/** The data of a training; its settings say of which kind they are. */
export interface Source {
  /** File or folder, `-` for standard input; that of the run unless given, where one goes on. */
  readonly input?: string;
  /** Of texts: files that were added since. */
  readonly more?: readonly string[];
  /** Of texts: how they are read. */
  readonly settings?: Partial<TextSettings>;
  /** Read where the input is `-`; the process's own unless given. */
  readonly stdin?: NodeJS.ReadableStream;
  /** Of a path model: the run of its network, whose tuples it takes unless others are given. */
  readonly network?: string;
}

/** A corpus and a model for it, ready for a run: all that the driver needs of a kind of data. */
export interface Prepared<Evaluation = unknown> {
  readonly config: RunConfig;
  readonly info: CorpusInfo;
  /** The decoder's tokenizer.json, where there is a decoder of texts. */
  readonly vocabulary?: string;
  /** Symbols that were asked for, and how their number was chosen. */
  readonly seeds?: readonly Seed[];
  readonly chosen?: SymbolChoice | undefined;
  /** What the user should know of the corpus and the model, a line each. */
  readonly lines: readonly string[];
  task(replicas: Replicas): Task<Evaluation>;
  create(directory: string, options: { force: boolean }): Run;
  /** What run.json notes of the corpus, where a run goes on with another one. */
  adopted?(run: Run): Record<string, JsonValue>;
  close(): void;
}

/** What is fixed before the corpus is read, by the user, an earlier training or rank 0. */
export type Terms = Pick<
  PrepareOptions,
  'tokenizer' | 'seeds' | 'chooseSymbols' | 'discovery' | 'onlyDiscover' | 'encoderFolder'
>;

/** How a corpus is prepared in this process. */
export interface PrepareHow extends Pick<PrepareOptions, 'signal' | 'cache'> {
  replicas: Replicas;
  onEvent: OnTrainEvent;
  /** Called when the texts are read, before they are encoded: where processes begin to work together. */
  onRead?: (read: { info: CorpusInfo; vocabulary: string }) => void | Promise<void>;
}

/** Reads a corpus and makes the model that the settings name. */
export async function prepare(
  source: Source,
  config: RunConfig,
  terms: Terms,
  how: PrepareHow,
): Promise<Prepared> {
  if ('part' in config && config.part === 'path') return preparePathModel(source, config, how);
  const { input } = source;
  if (input === undefined) throw new UserError('which corpus? name a file or folder');
  if (config.model === 'synthetic') return prepareSynthetic(input, config, how.replicas);
  if (config.model === 'reasoning') return prepareTuples(input, config, terms);
  return prepareTexts({ ...source, input }, config, terms, how);
}

async function prepareTexts(
  { input, settings = {}, more, stdin }: Source & { input: string },
  config: RunConfig,
  terms: Terms,
  { onRead, onEvent, ...how }: PrepareHow,
): Promise<Prepared> {
  const { prepareTextRun, textLines, textRunConfig } = await import('../text-run.ts');
  const { textsAdopted } = await import('../tasks/language/text-record.ts');
  const vectors = counted({ type: 'encode', label: 'encode', unit: 'texts' }, onEvent);
  const bytes = (label: string) => counted({ type: 'read', label, unit: 'bytes' }, onEvent);
  const read = { hashing: bytes('hash'), tokenising: bytes('tokenise') };
  const prepared = await prepareTextRun(
    textRunConfig(config),
    { input, settings, ...(more ? { more } : {}) },
    {
      ...{ ...terms, ...how, ...(stdin && { stdin }) },
      onTexts: ({ info, tokenizers }) => {
        for (const stage of Object.values(read)) stage.end();
        return onRead?.({ info, vocabulary: tokenizers.decoder.json });
      },
      onProgress: ({ phase, bytes, totalBytes, sentences }) => {
        if (phase === 'tokenising') read.hashing.end();
        read[phase].going(bytes, totalBytes, { sentences });
      },
      onVectors: vectors.going,
      onNote: (text) => void onEvent({ type: 'note', text }),
    },
  );
  vectors.end();
  const { discovery, chosen } = 'discovery' in prepared ? prepared : {};
  return {
    ...prepared,
    vocabulary: prepared.tokenizers.decoder.json,
    seeds: discovery?.seeds ?? [],
    chosen,
    lines: [...prepared.notes, ...textLines(prepared)],
    adopted: (run) => textsAdopted(run, prepared),
  };
}

async function prepareSynthetic(input: string, asked: RunConfig, replicas: Replicas): Promise<Prepared> {
  const { checkTrainable } = await import('../tasks/synthetic/training.ts');
  const { readSyntheticCorpus } = await import('../tasks/synthetic/corpus/reader.ts');
  const { SyntheticTask } = await import('../tasks/synthetic/task.ts');
  const config = syntheticConfig(asked);
  const corpus = readSyntheticCorpus(input, { seed: config.seed });
  const info = { directory: path.resolve(input), fingerprint: corpus.fingerprint };
  const { train, valid, test } = corpus.splits;
  const truth = corpus.truth ? 'truth known' : 'no truth given: recovery figures are left out';
  return {
    config,
    info,
    lines: [
      ...corpus.notes,
      `corpus: ${train.count} + ${valid.count} + ${test.count} sentences of ${corpus.length} tokens, ${truth}`,
    ],
    task: (own) => {
      checkTrainable(config, corpus);
      replicas.part(Math.min(config.training.batch, train.count));
      return new SyntheticTask(config, corpus, own);
    },
    create: (directory, options) => Run.create(directory, config, info, options),
    close: () => {},
  };
}

async function prepareTuples(input: string, config: RunConfig, terms: Terms): Promise<Prepared> {
  const { createReasoningRun, prepareReasoning, reasoningLine } = await import('../tasks/tuples/prepare.ts');
  const { ReasoningTask } = await import('../tasks/tuples/task.ts');
  const { tokenizer } = terms;
  const prepared = await prepareReasoning(tuplesConfig(config), input, tokenizer ? { tokenizer } : {});
  return {
    config: prepared.config,
    info: prepared.info,
    vocabulary: prepared.tokenizers.decoder.json,
    lines: [...prepared.notes, reasoningLine(prepared)],
    task: (replicas) => new ReasoningTask(prepared, replicas),
    create: (directory, options) => createReasoningRun(directory, prepared, options),
    close: () => {},
  };
}

async function preparePathModel(
  { network, input }: Source,
  asked: RunConfig,
  { onEvent }: PrepareHow,
): Promise<Prepared> {
  const { openReasoning, openTuples } = await import('../tasks/tuples/open.ts');
  const { createPathRun, PathTask, preparePath } = await import('../tasks/tuples/path/path-task.ts');
  const config = tuplesConfig(asked);
  const opened = await openReasoning(network!);
  const tuples = await openTuples(opened, input);
  const reading = counted({ type: 'encode', label: 'read walks', unit: 'tuples' }, onEvent);
  const prepared = await preparePath(config, opened, tuples, reading.going);
  reading.end();
  return {
    config,
    info: opened.run.record.corpus,
    lines: [],
    task: (replicas) => new PathTask(prepared, replicas),
    create: (_, options) => createPathRun(opened, config, options),
    close: () => opened.model.free(),
  };
}

/** How many symbols the texts fall into, with the curve that decided. */
export interface ChosenEvent extends SymbolChoice {
  readonly type: 'chosen';
}

/** The run's folder is there, locked for this training. */
export interface RunEvent {
  readonly type: 'run';
  readonly directory: string;
  /** What is trained, as the settings have it: `language`, `synthetic`, `reasoning` or a rival. */
  readonly model: ModelKind;
  /** Whether an earlier training goes on. */
  readonly resumed: boolean;
  /** Symbols that were asked for; they are the first. */
  readonly seeds: readonly Seed[];
  /** How the number of symbols was chosen, where it was. */
  readonly chosen?: SymbolChoice | undefined;
}

/** Training is over and the run's folder closed. */
export interface EndedEvent {
  readonly type: 'ended';
  readonly directory: string;
  readonly model: ModelKind;
  readonly result: SessionResult;
}

/** What a training tells, in the order in which it happens. */
export type TrainEvent = SessionEvent | ChosenEvent | RunEvent | EndedEvent;

/** What is called with it; training waits for what it returns, but for steps and notes. */
export type OnTrainEvent = (event: TrainEvent) => void | Promise<void>;

/** What rank 0 gives the other ranks to train on: settings, where the corpus is, and what it drew from it. */
interface Assignment {
  config: RunConfig;
  source: Source;
  terms: Omit<Terms, 'tokenizer'>;
  fingerprint: string;
  vocabulary?: string;
}

/** Rank 0: what the others are to train on, said once. */
export function assigner(
  replicas: Replicas,
  { source, terms, ...rest }: Pick<Assignment, 'source' | 'config'> & { terms: Terms },
): (read: Pick<Prepared, 'info' | 'vocabulary'>) => Promise<void> {
  let told = replicas.size === 1;
  return async ({ info, vocabulary }) => {
    if (told) return;
    told = true;
    const { tokenizer: _, ...others } = terms;
    // Other ranks may be other users' processes, who named nothing.
    const from = { ...source, input: path.resolve(placeOf(source)) };
    // The others wait here without holding up their signals, however long the corpus took.
    await replicas.barrier();
    replicas.tell({ ...rest, source: from, terms: others, fingerprint: info.fingerprint, vocabulary });
  };
}

const placeOf = ({ input, network }: Source): string => input ?? corpusPlaces(Run.open(network!))[0]!;

/** All ranks but 0: trains along on what rank 0 assigns, until it says that training ends. */
export async function followTraining(replicas: Replicas, signal: AbortSignal): Promise<void> {
  await replicas.barrier();
  const assignment = replicas.tell<Assignment>();
  let prepared: Prepared | undefined;
  try {
    prepared = await prepareAssigned(assignment, replicas, signal);
    const { follow } = await import('../train/replicas.ts');
    await follow(prepared.task(replicas), replicas, signal);
  } catch (error) {
    // A rank that was asked to stop while it read the corpus has nothing to say: rank 0 speaks for all.
    if (!signal.aborted || prepared) throw error;
  } finally {
    prepared?.close();
  }
}

/** Texts are encoded and swept together, so they are compared with rank 0's before that. */
async function prepareAssigned(
  { config, source, terms, fingerprint, vocabulary }: Assignment,
  replicas: Replicas,
  signal: AbortSignal,
): Promise<Prepared> {
  const check = ({ info }: Pick<Prepared, 'info'>) => {
    if (info.fingerprint === fingerprint) return;
    throw new UserError(
      `rank ${replicas.rank} finds other sentences in ${source.network ?? source.input} than rank 0: copy the same corpus to all machines`,
    );
  };
  const tokenizer = vocabulary === undefined ? {} : { tokenizer: tokenizerFromJson(vocabulary, 'rank 0') };
  const how = { replicas, signal, onEvent: () => {}, onRead: check };
  const prepared = await prepare(source, config, { ...terms, ...tokenizer }, how);
  check(prepared);
  return prepared;
}
