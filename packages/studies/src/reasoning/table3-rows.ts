import type { PathChoice } from '@hidden-schema/hsn';
import { type PairedDifference, pairedDifference } from '../measures/bootstrap.ts';
import type { Answered, Search } from './answers.ts';
import {
  type AnswerFigures,
  answerFigures,
  comparedMeasures,
  type QuestionScores,
  type Scoring,
  withoutNone,
} from './figures.ts';
import type { Floor } from './floors.ts';
import type { MixtureKind } from './mixture.ts';

/** COMET with the network's own kind of decoder, and as an encoder-decoder. */
export type Comet = 'comet' | 'bart';

/** A model of Table 3; `alone` is the network's decoder with its walks taken away, `file` a system whose answers a file has. */
export type Table3Model =
  | Floor
  | 'posterior'
  | 'alone'
  | Comet
  | 'file'
  | `ar-${PathChoice}`
  | `mix-${MixtureKind}`;

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

/** A row of HSN against another one: the difference of a measure, "none" left out. */
export interface Table3Difference extends PairedDifference {
  model: Table3Model;
  search?: Search;
  against: Table3Model;
  measure: (typeof comparedMeasures)[number];
}

const exampleCount = 5;

function processorSeconds(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1e6;
}

/** Rows of the table as they are made. */
export class Rows {
  readonly rows: Table3Row[] = [];
  readonly scoring: Scoring;
  readonly #onProgress: ((text: string) => void) | undefined;
  readonly #scores = new Map<Table3Row, QuestionScores>();

  constructor(scoring: Scoring, onProgress: ((text: string) => void) | undefined) {
    this.scoring = scoring;
    this.#onProgress = onProgress;
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
    const { figures, scores } = await answerFigures(real, this.scoring);
    const kept = (await answerFigures(all, this.scoring)).figures;
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

  /** Every row of HSN-AR and of mixtures against what it is compared with. */
  differences(): Table3Difference[] {
    return this.rows.flatMap((row) =>
      this.rows
        .filter((other) => isCompared(row, other))
        .flatMap((other) =>
          comparedMeasures.map((measure) => ({
            model: row.model,
            ...(row.search ? { search: row.search } : {}),
            against: other.model,
            measure,
            ...pairedDifference(this.#scores.get(row)![measure], this.#scores.get(other)![measure]),
          })),
        ),
    );
  }
}

const BASELINES: readonly Table3Model[] = ['constant', 'vote', 'kernel', 'file'];

/**
 * Whether a row is set against another: HSN-AR against COMET by the same search, the floors and a file's answers; mixtures
 * against those of fewer parts, the last floor and a file's answers.
 */
function isCompared({ model, search }: Table3Row, other: Table3Row): boolean {
  if (model.startsWith('mix-')) {
    return [...(SMALLER[model] ?? []), 'kernel', 'file'].includes(other.model);
  }
  if (!model.startsWith('ar-') || !search) return false;
  const same = other.search?.how === search.how && other.search.count === search.count;
  return BASELINES.includes(other.model) || (other.model === 'comet' && same);
}

/** Mixtures that each is set against. */
const SMALLER: Partial<Record<Table3Model, readonly Table3Model[]>> = {
  'mix-neighbours': ['mix-near'],
  'mix-walks': ['mix-neighbours', 'mix-comet'],
  'mix-comet': ['mix-neighbours'],
  'mix-all': ['mix-neighbours', 'mix-walks', 'mix-comet'],
};
