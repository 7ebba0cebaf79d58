import { UserError } from '@hidden-schema/base';
import {
  type OpenedReasoning,
  openReasoner,
  openReasoning,
  type PathChoice,
  type PathFigures,
  type PathKind,
  pathChoices,
  pathKinds,
  prefixesOf,
  type ReadObjects,
  readObjects,
  runTuples,
  storedPathFigures,
} from '@hidden-schema/hsn';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { BertScorer } from '../evaluation/bert-score.ts';
import { type PairedDifference, pairedDifference } from '../evaluation/bootstrap.ts';
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
} from '../reasoning/answers.ts';
import {
  type AnswerFigures,
  answerFigures,
  comparedMeasures,
  type QuestionScores,
  type Scoring,
  withoutNone,
} from '../reasoning/figures.ts';
import { type Floor, Floors } from '../reasoning/floors.ts';

/** COMET with the network's own kind of decoder, and as an encoder-decoder. */
type Comet = 'comet' | 'bart';

/** A model of Table 3; `alone` is the network's decoder with its walks taken away. */
export type Table3Model = Floor | 'posterior' | 'alone' | Comet | `ar-${PathChoice}`;

export interface Table3Row {
  model: Table3Model;
  /** How answers were looked for, where there is a choice. */
  search?: Search;
  /** Without what says "none", and with it. */
  figures: AnswerFigures;
  kept: AnswerFigures;
  /** A few of its answers. */
  examples: Answered[];
}

/** A row of HSN-AR against another one: the difference of a measure, "none" left out. */
export interface Table3Difference extends PairedDifference {
  model: Table3Model;
  search: Search;
  against: Table3Model;
  measure: (typeof comparedMeasures)[number];
}

export interface Table3 {
  split: 'valid' | 'test';
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
  /** Events that were not trained on: settings are chosen on `valid`. */
  split?: 'valid' | 'test';
  /** (s, r) asked, at most. */
  limit?: number;
  searches?: readonly Search[];
  /** Path models to try; all that the run has unless given. */
  paths?: readonly PathChoice[];
  /** BERTScore: the encoder by name or folder, its layer, and whether tokens are weighed by idf over the references. */
  bertModel?: string;
  layer?: number;
  idf?: boolean;
  onProgress?: (text: string) => void;
}

const defaultSearches: readonly Search[] = [
  { how: 'greedy', count: 1 },
  { how: 'beam', count: 5 },
  { how: 'beam', count: 10 },
  { how: 'sample', count: 10 },
  { how: 'rank', count: 50 },
];

const exampleCount = 5;

/** Answers of floors, of a network, of its path models and of COMET for unseen events, each against all references. */
export async function evaluateReasoning(run: string, options: Table3Options = {}): Promise<Table3> {
  const opened = await openReasoning(run);
  try {
    if (opened.config.baseline)
      throw new UserError(`${run} is COMET; give the run of a network, and this one with --comet`);
    const questions = questionsOf(opened, options);
    const rows = new Rows(await scoringOf(opened, questions, options), options.onProgress);
    const floors = new Floors(rows.scoring.corpus);
    await addFloors(rows, floors, questions);
    await rows.add({ model: 'posterior' }, () => reconstructedAnswers(opened, questions));
    const searches = options.searches ?? defaultSearches;
    const asked = new Asked(questions, floors, opened);
    const greedy: WritingSearch = { how: 'greedy', count: 1 };
    await rows.add({ model: 'alone', search: greedy }, () => plainAnswers(opened, questions, greedy));
    for (const model of ['comet', 'bart'] as const) {
      const directory = options[model];
      if (directory !== undefined) await addComet(rows, { model, directory }, { opened, asked, searches });
    }
    const choices = options.paths ?? pathChoices(opened.run.directory);
    for (const path of choices) {
      const reasoner = await openReasoner(run, { path });
      for (const search of searches)
        await rows.add({ model: `ar-${path}`, search }, () =>
          asked.by(search, {
            write: (how) => reasonedAnswers(reasoner, questions, how),
            rank: async (ranked) => rankedByWalks(reasoner, await asked.read(ranked), ranked),
          }),
        );
      reasoner.free();
    }
    const { split = 'test', bertModel = opened.config.encoder.name } = options;
    const paths = pathsMeasured(opened.run.directory, choices);
    return { split, bertModel, rows: rows.rows, differences: rows.differences(), paths };
  } finally {
    opened.model.free();
  }
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
  const all = prefixesOf(table, splits[split]);
  const count = Math.min(limit ?? all.length, all.length);
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!);
}

function processorSeconds(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1e6;
}

/** Rows of the table as they are made. */
class Rows {
  readonly rows: Table3Row[] = [];
  readonly #scoring: Scoring;
  readonly #onProgress: ((text: string) => void) | undefined;
  readonly #scores = new Map<Table3Row, QuestionScores>();

  constructor(scoring: Scoring, onProgress: ((text: string) => void) | undefined) {
    this.#scoring = scoring;
    this.#onProgress = onProgress;
  }

  get scoring(): Scoring {
    return this.#scoring;
  }

  async add(
    kind: Pick<Table3Row, 'model' | 'search'>,
    answer: () => Answered[] | Promise<Answered[]>,
  ): Promise<void> {
    const name = `${kind.model}${kind.search ? ` ${kind.search.how}${kind.search.count}` : ''}`;
    this.#onProgress?.(`${name}: answering`);
    const begun = process.cpuUsage();
    const all = await answer();
    const answered = processorSeconds(begun);
    const real = withoutNone(all);
    const { figures, scores } = await answerFigures(real, this.#scoring);
    const kept = (await answerFigures(all, this.#scoring)).figures;
    const step = Math.max(1, Math.floor(real.length / exampleCount));
    const examples = real.filter((_, i) => i % step === 0).slice(0, exampleCount);
    const row = { ...kind, figures, kept, examples };
    this.rows.push(row);
    this.#scores.set(row, scores);
    const scored = processorSeconds(begun) - answered;
    this.#onProgress?.(
      `${name}: ${all.length} questions answered in ${answered.toFixed(1)} s of the processor, scored in ${scored.toFixed(1)}`,
    );
  }

  /** Every row of HSN-AR against COMET by the same search, and against the floors. */
  differences(): Table3Difference[] {
    return this.rows.flatMap((row) => {
      const { model, search } = row;
      if (!model.startsWith('ar-') || !search) return [];
      const others = this.rows.filter(
        (other) =>
          other.model === 'constant' ||
          other.model === 'vote' ||
          other.model === 'kernel' ||
          (other.model === 'comet' &&
            other.search?.how === search.how &&
            other.search.count === search.count),
      );
      return others.flatMap((other) =>
        comparedMeasures.map((measure) => ({
          model,
          search,
          against: other.model,
          measure,
          ...pairedDifference(this.#scores.get(row)![measure], this.#scores.get(other)![measure]),
        })),
      );
    });
  }
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
  opened: OpenedReasoning,
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
  return { corpus: runTuples(opened), scorer, baseline: await scorer.baseline(references) };
}
