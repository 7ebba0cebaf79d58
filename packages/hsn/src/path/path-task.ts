import fs from 'node:fs';
import path from 'node:path';
import type { JsonValue } from '@hidden-schema/base';
import { Generator } from '@hidden-schema/torch';
import type { PathKind, ReasoningConfig } from '../config/tuples.ts';
import { Run, type RunOptions } from '../run/run.ts';
import type { OpenedReasoning } from '../tasks/tuples/open.ts';
import type { TupleTokens } from '../tasks/tuples/tokens.ts';
import type { TupleCorpus } from '../tasks/tuples/tuples.ts';
import { TupleWalks } from '../tasks/tuples/walks.ts';
import { Replicas } from '../train/replicas.ts';
import type { Inspection, Task } from '../train/task.ts';
import { Trainer } from '../train/trainer.ts';
import { PathModel } from './path.ts';
import { type PathFigures, pathFigures } from './path-accuracy.ts';
import { openPrefixEncoder } from './path-encoder.ts';
import { type PathBatch, PathTraining, type WalkSet } from './path-training.ts';

/** Held-out tuples that walks are read of, at most. */
const heldOut = 2000;
/** Streams of the seed for the draws of each split. */
const streams = { train: 0, valid: 101, test: 202 };

/** Where path models of a network's run lie. */
export const pathFolder = (directory: string, kind: PathKind): string => path.join(directory, 'paths', kind);

/** The path models that a network's run has. */
export function pathKinds(directory: string): PathKind[] {
  return (['lstm', 'transformer'] as const).filter((kind) =>
    fs.existsSync(path.join(pathFolder(directory, kind), 'run.json')),
  );
}

/** A path model to be trained on a network's walks. */
export interface PreparedPath {
  config: ReasoningConfig;
  model: PathModel;
  walks: TupleWalks;
  sets: { train: WalkSet; valid: WalkSet; test: WalkSet };
}

/** Reads walks of a network's tuples and makes the path model for them. */
export async function preparePath(
  config: ReasoningConfig,
  opened: OpenedReasoning,
  { corpus, tokens }: { corpus: TupleCorpus; tokens: TupleTokens },
  onProgress: (done: number, total: number) => void = () => {},
): Promise<PreparedPath> {
  const walks = new TupleWalks(opened.model, tokens);
  const { train, valid, test } = corpus.splits;
  const jobs: [keyof typeof streams, Int32Array, number][] = [
    ['train', train, config.path.samples],
    ['valid', valid.slice(0, heldOut), 1],
    ['test', test.slice(0, heldOut), 1],
  ];
  const total = jobs.reduce((sum, [, rows, draws]) => sum + rows.length * draws, 0);
  let done = 0;
  const sets = {} as PreparedPath['sets'];
  for (const [name, rows, draws] of jobs)
    sets[name] = {
      rows,
      draws: Array.from({ length: draws }, (_, draw) => {
        const generator = new Generator(config.seed + streams[name] + 1000 * draw);
        return inParts(rows, (some) => {
          const read = walks.whole(some, generator);
          done += some.length;
          onProgress(done, total);
          return read;
        });
      }),
    };
  const generator = new Generator(config.seed);
  const encoder = await openPrefixEncoder(config, opened.tokenizers, opened.relations, generator);
  return { config, model: new PathModel(config, encoder, walks, generator), walks, sets };
}

const part = 2000;

function inParts(rows: Int32Array, read: (rows: Int32Array) => number[][]): number[][] {
  const out: number[][] = [];
  for (let first = 0; first < rows.length; first += part) out.push(...read(rows.slice(first, first + part)));
  return out;
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
    extra: { network: { step, created: run.record.created } },
  });
}
