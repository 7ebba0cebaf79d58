import { UserError } from '@hidden-schema/base';
import type { PathChoice, PathKind } from '@hidden-schema/hsn/config/tuples';
import { type OpenedReasoning, openReasoning, runTuples } from '@hidden-schema/hsn/tasks/tuples/open';
import { type ReadObjects, readObjects } from '@hidden-schema/hsn/tasks/tuples/path/judged';
import type { PathFigures } from '@hidden-schema/hsn/tasks/tuples/path/path-accuracy';
import { pathChoices, pathKinds, storedPathFigures } from '@hidden-schema/hsn/tasks/tuples/path/path-task';
import { openReasoner } from '@hidden-schema/hsn/tasks/tuples/path/reasoner';
import { prefixesOf } from '@hidden-schema/hsn/tasks/tuples/tuples';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';
import { openPretrainedEncoder } from '@hidden-schema/transformers/pretrained';
import { BertScorer } from '../measures/bert-score.ts';
import { readAnswers } from './answer-files.ts';
import {
  type Answered,
  plainAnswers,
  type Question,
  type Ranked,
  rankedByWalks,
  rankedPlainly,
  reasonedAnswers,
  reconstructedAnswers,
  type Search,
  type WritingSearch,
} from './answers.ts';
import type { Scoring } from './figures.ts';
import { Floors } from './floors.ts';
import { type MixtureKind, mixedAnswers } from './mixture.ts';
import { manyPools, openMixture, storedMixture } from './mixture-run.ts';
import { type Comet, Rows, type Table3Difference, type Table3Row } from './table3-rows.ts';

export interface Table3 {
  /** Whose events were asked: a split's, or those of a file of answers. */
  split: 'valid' | 'test' | 'file';
  /** The model that BERTScore is by. */
  bertModel: string;
  rows: Table3Row[];
  differences: Table3Difference[];
  /** What each path model found of the second halves of unseen test tuples when its training ended. */
  paths: { path: PathKind; figures: PathFigures }[];
}

export interface Table3Options {
  /** A run of COMET with the network's kind of decoder, and one of BART's. */
  comet?: string;
  bart?: string;
  /** Another system's answers as JSON lines; all are then asked the file's questions. */
  answers?: string;
  /** Events that were not trained on: settings are chosen on `valid`. */
  split?: 'valid' | 'test';
  /** (s, r) asked, at most. */
  limit?: number;
  /** None: floors, a file's answers and mixtures alone. */
  searches?: readonly Search[];
  /** Path models to try; all that the run has unless given. */
  paths?: readonly PathChoice[];
  /** BERTScore: the encoder by name or folder, its layer, and whether tokens are weighed by idf over the references. */
  bertModel?: string;
  layer?: number;
  idf?: boolean;
  onProgress?: (text: string) => void;
  /** Hears how many questions mixtures have objects for, of how many. */
  onCollected?: (done: number, total: number) => void;
}

const defaultSearches: readonly Search[] = [
  { how: 'greedy', count: 1 },
  { how: 'beam', count: 5 },
  { how: 'beam', count: 10 },
  { how: 'sample', count: 10 },
  { how: 'rank', count: 50 },
];

/** Answers of floors, of a network, of its path models and of COMET for unseen events, each against all references. */
export async function evaluateReasoning(run: string, options: Table3Options = {}): Promise<Table3> {
  const opened = await openReasoning(run);
  try {
    if (opened.config.baseline)
      throw new UserError(`${run} is COMET; give the run of a network, and this one with --comet`);
    if (options.split === 'valid' && storedMixture(opened)?.memory?.splits === 'train,valid')
      throw new UserError(
        `${run}: its mixture remembers valid events; ask --split test, or fit it again with --memory train`,
      );
    const given = options.answers === undefined ? undefined : givenAnswers(opened, options);
    const questions = given ?? questionsOf(opened, options);
    const rows = new Rows(await scoringOf(opened, questions, options), options.onProgress);
    const floors = new Floors(rows.scoring.corpus!);
    if (given) await rows.add({ model: 'file' }, () => given);
    await addFloors(rows, floors, questions);
    const searches = options.searches ?? defaultSearches;
    const asked = new Asked(questions, floors, opened);
    if (searches.length > 0) await addNetwork(rows, opened, questions);
    for (const model of ['comet', 'bart'] as const) {
      const directory = options[model];
      if (directory !== undefined) await addComet(rows, { model, directory }, { opened, asked, searches });
    }
    const choices = options.paths ?? pathChoices(opened.run.directory);
    for (const path of searches.length > 0 ? choices : [])
      await addPath(rows, path, { run, asked, searches });
    await addMixtures(rows, opened, questions, options);
    const { split = 'test', bertModel = DEFAULT_ENCODER } = options;
    const paths = pathsMeasured(opened.run.directory, choices);
    return {
      split: given ? 'file' : split,
      bertModel,
      rows: rows.rows,
      differences: rows.differences(),
      paths,
    };
  } finally {
    opened.model.free();
  }
}

/** The network itself: with the answer's own walk, and without any. */
async function addNetwork(
  rows: Rows,
  opened: OpenedReasoning,
  questions: readonly Question[],
): Promise<void> {
  await rows.add({ model: 'posterior' }, () => reconstructedAnswers(opened, questions));
  const greedy: WritingSearch = { how: 'greedy', count: 1 };
  await rows.add({ model: 'alone', search: greedy }, () => plainAnswers(opened, questions, greedy));
}

async function addPath(
  rows: Rows,
  path: PathChoice,
  { run, asked, searches }: { run: string; asked: Asked; searches: readonly Search[] },
): Promise<void> {
  const reasoner = await openReasoner(run, { path });
  for (const search of searches)
    await rows.add({ model: `ar-${path}`, search }, () =>
      asked.by(search, {
        write: (how) => reasonedAnswers(reasoner, asked.questions, how),
        rank: async (ranked) => rankedByWalks(reasoner, await asked.read(ranked), ranked),
      }),
    );
  reasoner.free();
}

/** A row for each mixture that was fitted; objects are collected once for all. */
async function addMixtures(
  rows: Rows,
  opened: OpenedReasoning,
  questions: readonly Question[],
  { comet: cometRun, onCollected }: Table3Options,
): Promise<void> {
  if (!storedMixture(opened)) return;
  const comet = cometRun === undefined ? undefined : await openReasoning(cometRun);
  const mixture = (await openMixture(opened, comet))!;
  const pools = await manyPools(mixture.pools, questions, onCollected);
  for (const [kind, weights] of Object.entries(mixture.weights))
    await rows.add({ model: `mix-${kind as MixtureKind}` }, () =>
      pools.map((pool) => mixedAnswers(pool, weights)),
    );
  comet?.model.free();
}

/** Scores of a file's answers alone, without any model. */
export async function evaluateAnswers(
  answers: string,
  options: Pick<Table3Options, 'limit' | 'bertModel' | 'layer' | 'idf' | 'onProgress'> = {},
): Promise<Table3> {
  const given = spread(readAnswers(answers), options.limit);
  const rows = new Rows(await scoringOf(undefined, given, options), options.onProgress);
  await rows.add({ model: 'file' }, () => given);
  const { bertModel = DEFAULT_ENCODER } = options;
  return { split: 'file', bertModel, rows: rows.rows, differences: [], paths: [] };
}

/** What is asked of every model; objects to rank are looked for once, and read into walks once. */
class Asked {
  readonly questions: readonly Question[];
  readonly #floors: Floors;
  readonly #opened: OpenedReasoning;
  readonly #pools = new Map<number, Promise<Ranked[]>>();
  readonly #read = new Map<readonly Ranked[], Promise<ReadObjects>>();

  constructor(questions: readonly Question[], floors: Floors, opened: OpenedReasoning) {
    this.questions = questions;
    this.#floors = floors;
    this.#opened = opened;
  }

  /** The network's walks of objects to rank, which path models share. */
  read(ranked: readonly Ranked[]): Promise<ReadObjects> {
    const read = this.#read.get(ranked) ?? readObjects(this.#opened, ranked);
    this.#read.set(ranked, read);
    return read;
  }

  async by(
    search: Search,
    model: {
      write(search: WritingSearch): Promise<Answered[]>;
      rank(questions: readonly Ranked[]): Promise<Answered[]>;
    },
  ): Promise<Answered[]> {
    const { how, count } = search;
    if (how !== 'rank') return model.write({ how, count });
    const pools = this.#pools.get(count) ?? this.#floors.pools(this.questions, count);
    this.#pools.set(count, pools);
    return model.rank(await pools);
  }
}

/** Of the path models that choices are made of; those together have no training that would have measured them. */
function pathsMeasured(directory: string, choices: readonly PathChoice[]): Table3['paths'] {
  return pathKinds(directory).flatMap((path) => {
    if (!choices.some((choice) => choice.split('+').includes(path))) return [];
    const figures = storedPathFigures(directory, path);
    return figures ? [{ path, figures }] : [];
  });
}

/** (s, r) of a split with all their objects, those that say "none" too; at most so many, spread evenly over it. */
function questionsOf(opened: OpenedReasoning, { split = 'test', limit }: Table3Options): Question[] {
  const { table, splits } = runTuples(opened, undefined, { none: 'keep' });
  return spread(prefixesOf(table, splits[split]), limit);
}

/** At most so many, spread evenly. */
function spread<T>(all: readonly T[], limit = all.length): T[] {
  const count = Math.min(limit, all.length);
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!);
}

/** A file's answers to events that the run was not trained on, by relations that it knows. */
function givenAnswers(opened: OpenedReasoning, { answers, limit, onProgress }: Table3Options): Answered[] {
  const all = readAnswers(answers!);
  const strange = all.find(({ relation }) => !opened.relations.includes(relation));
  if (strange)
    throw new UserError(
      `${answers} has the relation ${strange.relation}; the run knows ${opened.relations.join(', ')}`,
    );
  const { table, splits } = runTuples(opened, undefined, { none: 'keep' });
  const valid = storedMixture(opened)?.memory?.splits === 'train,valid' ? splits.valid : [];
  const trained = new Set(Array.from([...splits.train, ...valid], (row) => table.heads[table.head[row]!]!));
  const unseen = all.filter(({ head }) => !trained.has(head));
  if (unseen.length < all.length)
    onProgress?.(
      `${all.length - unseen.length} questions left out, since the run was trained on their events`,
    );
  if (unseen.length === 0) throw new UserError(`${answers}: the run was trained on all events that it asks`);
  return spread(unseen, limit);
}

async function addFloors(rows: Rows, floors: Floors, questions: readonly Question[]): Promise<void> {
  await rows.add({ model: 'constant' }, () => floors.constant(questions));
  const near = await floors.near(questions);
  for (const model of ['nearest', 'vote', 'kernel'] as const) await rows.add({ model }, () => near[model]);
}

async function addComet(
  rows: Rows,
  { model, directory }: { model: Comet; directory: string },
  { opened, asked, searches }: { opened: OpenedReasoning; asked: Asked; searches: readonly Search[] },
): Promise<void> {
  const comet = await openReasoning(directory);
  try {
    if (!comet.config.baseline)
      throw new UserError(`${directory} has symbols; expected COMET, trained with --part comet`);
    if (comet.run.record.corpus.fingerprint !== opened.run.record.corpus.fingerprint)
      throw new UserError(`${directory} was trained on other tuples than ${opened.run.directory}`);
    for (const search of searches)
      await rows.add({ model, search }, () =>
        asked.by(search, {
          write: (how) => plainAnswers(comet, asked.questions, how),
          rank: (ranked) => rankedPlainly(comet, ranked),
        }),
      );
  } finally {
    comet.model.free();
  }
}

/** One scorer and one baseline for all models that are compared. */
async function scoringOf(
  opened: OpenedReasoning | undefined,
  questions: readonly Question[],
  { layer, idf, bertModel }: Table3Options,
): Promise<Scoring> {
  const references = questions.flatMap((question) => question.references);
  const encoder = await openPretrainedEncoder(bertModel);
  encoder.encoder.train(false);
  const scorer = await BertScorer.of(encoder, {
    ...(layer === undefined ? {} : { layer }),
    ...(idf ? { idf: references } : {}),
  });
  return {
    ...(opened ? { corpus: runTuples(opened) } : {}),
    scorer,
    baseline: await scorer.baseline(references),
  };
}
