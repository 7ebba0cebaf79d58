import path from 'node:path';
import { type JsonValue, UserError } from '@hidden-schema/base';
import { Generator } from '@hidden-schema/torch';
import type { PathChoice, PathKind, ReasoningConfig } from '../../../config/tuples.ts';
import { Run, type RunOptions } from '../../../run/run.ts';
import { RunFiles } from '../../../run/run-files.ts';
import { isRunFolder } from '../../../run/run-record.ts';
import { Replicas } from '../../../train/replicas.ts';
import type { Inspection, Task } from '../../../train/task.ts';
import { Trainer } from '../../../train/trainer.ts';
import type { OpenedReasoning } from '../open.ts';
import type { TupleTokens } from '../tokens.ts';
import { TrainedWalks } from '../trained-walks.ts';
import type { TupleCorpus } from '../tuples.ts';
import { TupleWalks } from '../walks.ts';
import { CountedPath } from './counted-path.ts';
import { PathModel } from './path.ts';
import { type PathFigures, pathFigures } from './path-accuracy.ts';
import { openPathContext } from './path-encoder.ts';
import { type PathBatch, PathTraining, type WalkSet } from './path-training.ts';
import { TargetTable } from './step-targets.ts';

/** Held-out tuples that walks are read of, at most. */
const heldOut = 2000;
/** Streams of the seed for the draws of each split. */
const streams = { train: 0, valid: 101, test: 202 };

/** Where path models of a network's run lie. */
export function pathFolder(directory: string, kind: PathKind): string {
  // Refuses a link in its place.
  new RunFiles(directory).path('paths', kind);
  return path.join(directory, 'paths', kind);
}

/** The path models that a network's run has. */
export function pathKinds(directory: string): PathKind[] {
  return (['counts', 'prior', 'lstm', 'transformer', 'mlp'] as const).filter((kind) =>
    isRunFolder(pathFolder(directory, kind)),
  );
}

/** The same, and counts together with each of the others; the one to take unless another is named comes last. */
export function pathChoices(directory: string): PathChoice[] {
  const kinds = pathKinds(directory);
  if (!kinds.includes('counts')) return kinds;
  return [...kinds, ...kinds.flatMap((kind) => (kind === 'counts' ? [] : [`counts+${kind}` as const]))];
}

/** What was measured of a path model when its training ended; nothing where it has not yet. */
export function storedPathFigures(directory: string, kind: PathKind): PathFigures | undefined {
  const files = new RunFiles(pathFolder(directory, kind));
  const figures = files.readJson<Partial<PathFigures>>('evaluation.json');
  const shares = [figures?.accuracy, figures?.accuracy_free, figures?.baseline_previous, figures?.tuples];
  if (figures && !shares.every((share) => typeof share === 'number'))
    throw new UserError(`${files.path('evaluation.json')} is damaged: expected the figures of a path model`);
  return figures as PathFigures | undefined;
}

/** Walks of a network's tuples, by split. */
interface WalkSets {
  train: WalkSet;
  valid: WalkSet;
  test: WalkSet;
}

/** A path model to be trained on a network's walks. */
export interface PreparedPath {
  config: ReasoningConfig;
  model: PathModel;
  walks: TupleWalks;
  sets: WalkSets;
}

interface Tuples {
  corpus: TupleCorpus;
  tokens: TupleTokens;
}

type OnRead = (done: number, total: number) => void;

/** Reads walks of a network's tuples and makes the path model for them. */
export async function preparePath(
  config: ReasoningConfig,
  opened: OpenedReasoning,
  { corpus, tokens }: Tuples,
  onProgress: OnRead = () => {},
): Promise<PreparedPath> {
  const walks = new TupleWalks(opened.model, tokens);
  const sets = readSets(config, corpus, walks, onProgress);
  const generator = new Generator(config.seed);
  const encoder = await openPathContext(config, opened, walks, generator);
  return { config, model: new PathModel(config, encoder, walks, generator), walks, sets };
}

/** Counts the walks of a network's tuples, keeps them in the path model's folder, and measures what they foresee. */
export function countPath(
  config: ReasoningConfig,
  opened: OpenedReasoning,
  { corpus, tokens, force = false }: Tuples & { force?: boolean },
  onProgress: OnRead = () => {},
): PathFigures {
  const walks = new TupleWalks(opened.model, tokens);
  const sets = readSets(config, corpus, walks, onProgress);
  const trained = TrainedWalks.of(sets.train.rows, sets.train.draws[0]!, walks, opened.relations);
  const path = new CountedPath(trained, walks, opened.relations);
  const run = createPathRun(opened, config, { force });
  try {
    trained.save(run.files);
    const figures = pathFigures(path, sets.train, sets.test, walks.half);
    run.store('evaluation.json', { ...figures });
    run.setState('finished');
    return figures;
  } finally {
    run.close();
    path.free();
    walks.free();
  }
}

function readSets(
  config: ReasoningConfig,
  { splits }: TupleCorpus,
  walks: TupleWalks,
  onProgress: OnRead,
): WalkSets {
  const { samples, targets, kind } = config.path;
  const jobs: [keyof typeof streams, Int32Array, number][] = [
    ['train', splits.train, samples],
    // Counting stops nowhere, so that it needs no walks to tell when.
    ['valid', splits.valid.slice(0, kind === 'counts' ? 0 : heldOut), 1],
    ['test', splits.test.slice(0, heldOut), 1],
  ];
  const total = jobs.reduce((sum, [, rows, draws]) => sum + rows.length * draws, 0);
  let done = 0;
  const onSome = (count: number) => {
    done += count;
    onProgress(done, total);
  };
  const sets = {} as WalkSets;
  for (const [name, rows, draws] of jobs) {
    const soft = name === 'train' && targets === 'probabilities' && kind !== 'counts';
    const read = Array.from({ length: draws }, (_, draw) =>
      readSet(walks, rows, { seed: config.seed + streams[name] + 1000 * draw, soft }, onSome),
    );
    const tables = read.flatMap(({ targets }) => (targets ? [targets] : []));
    sets[name] = {
      rows,
      draws: read.map((one) => one.walks),
      ...(tables.length > 0 ? { targets: tables } : {}),
    };
  }
  return sets;
}

/** Rows read at a time. */
const part = 2000;

function readSet(
  walks: TupleWalks,
  rows: Int32Array,
  { seed, soft }: { seed: number; soft: boolean },
  onSome: (count: number) => void,
): { walks: number[][]; targets?: TargetTable } {
  const generator = new Generator(seed);
  const targets = soft ? new TargetTable(rows.length, walks.half, walks.model.config.symbols) : undefined;
  const out: number[][] = [];
  for (let first = 0; first < rows.length; first += part) {
    const some = rows.slice(first, first + part);
    if (!targets) out.push(...walks.whole(some, generator));
    else
      for (const { walk, ...steps } of walks.withSteps(some, generator, targets.kept)) {
        targets.set(out.length, steps);
        out.push(walk);
      }
    onSome(some.length);
  }
  return { walks: out, ...(targets ? { targets } : {}) };
}

/** Training of a path model (Section 6, step II). */
export class PathTask implements Task<PathFigures> {
  readonly trainer: Trainer<PathBatch>;
  readonly #prepared: PreparedPath;

  constructor(prepared: PreparedPath, replicas: Replicas = Replicas.alone) {
    this.#prepared = prepared;
    const { model, walks, sets } = prepared;
    this.trainer = new Trainer(new PathTraining(model, walks.tokens, sets), replicas);
  }

  inspect(): Inspection {
    const { accuracy, accuracy_free } = this.#figures('valid');
    return { figures: { accuracy, accuracy_free } };
  }

  evaluate(): PathFigures {
    return this.#figures('test');
  }

  artifacts(): Record<string, JsonValue> {
    return {};
  }

  #figures(split: 'valid' | 'test'): PathFigures {
    const { model, sets, walks } = this.#prepared;
    return pathFigures(model, sets.train, sets[split], walks.half);
  }
}

/** Makes the folder of a path model inside that of its network. */
export function createPathRun(
  opened: OpenedReasoning,
  config: ReasoningConfig,
  options: Pick<RunOptions, 'force'> = {},
): Run {
  const { run, step } = opened;
  return Run.create(pathFolder(run.directory, config.path.kind), config, run.record.corpus, {
    ...options,
    named: false,
    extra: { network: { step, created: run.record.created } },
  });
}
