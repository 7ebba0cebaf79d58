import { noGrad, scope } from '@hidden-schema/torch';
import { continueWalks } from '../walk-search.ts';
import type { WalkSet } from './path-training.ts';
import type { FirstHalves, WalkPath } from './walk-path.ts';

/** How much of second halves a path model finds, in shares of symbols. */
export interface PathFigures {
  tuples: number;
  /** Each symbol from the true ones before it, over all steps: the paper's about 58 %. */
  accuracy: number;
  /** The same step by step. */
  accuracy_at: number[];
  /** Each symbol from the model's own ones before it, by greedy search. */
  accuracy_free: number;
  /** Second halves found whole by greedy search. */
  accuracy_walk: number;
  /** What needs no model: the commonest symbol of each step, and the commonest after the true one before it. */
  baseline_majority: number;
  baseline_previous: number;
}

/** Of the symbols that guessing (the commonest after the true one before it) misses, the share that a path model finds. */
export const aboveGuessing = ({ accuracy, baseline_previous: guessed }: PathFigures): number =>
  (accuracy - guessed) / (1 - guessed);

const atOnce = 200;

/** Measures a path model on walks of held-out tuples, beside baselines counted on training walks. */
export function pathFigures(path: WalkPath, train: WalkSet, test: WalkSet, half: number): PathFigures {
  path.train(false);
  const truth = test.draws[0]!;
  const guessed: number[][] = [];
  const free: number[][] = [];
  for (let first = 0; first < test.rows.length; first += atOnce) {
    const rows = test.rows.slice(first, first + atOnce);
    const walks = truth.slice(first, first + atOnce);
    const halves = { rows, first: walks.map((walk) => walk.slice(0, half)) };
    guessed.push(...guesses(path, halves, walks));
    free.push(...continueWalks(path, halves, { how: 'greedy' }).map(([walk]) => walk!.second));
  }
  const seconds = truth.map((walk) => walk.slice(half));
  const counted = new StepCounts(train.draws[0]!, half);
  const at = hitsAt(guessed, seconds);
  return {
    tuples: truth.length,
    accuracy: mean(at),
    accuracy_at: at,
    accuracy_free: mean(hitsAt(free, seconds)),
    accuracy_walk: mean(free.map((walk, n) => Number(walk.join() === seconds[n]!.join()))),
    baseline_majority: mean(
      hitsAt(
        seconds.map((_) => counted.commonest),
        seconds,
      ),
    ),
    baseline_previous: mean(
      hitsAt(
        truth.map((walk) => counted.after(walk)),
        seconds,
      ),
    ),
  };
}

/** The most probable symbol of each step of second halves, each from the true ones before it. */
function guesses(path: WalkPath, halves: FirstHalves, walks: readonly (readonly number[])[]): number[][] {
  const half = halves.first[0]!.length;
  const at = scope(() =>
    noGrad(() => {
      const begun = path.begin(halves);
      const owners = [...walks.keys()];
      return Array.from({ length: half }, (_, step) =>
        scope(() => {
          const before = walks.map((walk) => walk.slice(half, half + step));
          return begun.next(owners, before).argmax(-1).toNumbers();
        }),
      );
    }),
  );
  return walks.map((_, n) => at.map((symbols) => symbols[n]!));
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Share of walks that agree, for each step. */
function hitsAt(guesses: readonly (readonly number[])[], truth: readonly (readonly number[])[]): number[] {
  return truth[0]!.map((_, i) => mean(truth.map((walk, n) => Number(walk[i] === guesses[n]![i]))));
}

/** How often symbols stand at each step of second halves, alone and after the symbol before. */
class StepCounts {
  readonly commonest: number[];
  readonly #after: Map<number, number>[];
  readonly #half: number;

  constructor(walks: readonly (readonly number[])[], half: number) {
    this.#half = half;
    const steps = Array.from({ length: half }, (_, i) => half + i);
    this.commonest = steps.map((i) => commonest(walks.map((walk) => walk[i]!)));
    this.#after = steps.map((i) => {
      const followers = new Map<number, number[]>();
      for (const walk of walks) {
        const known = followers.get(walk[i - 1]!);
        if (known) known.push(walk[i]!);
        else followers.set(walk[i - 1]!, [walk[i]!]);
      }
      return new Map([...followers].map(([from, to]) => [from, commonest(to)]));
    });
  }

  /** The commonest symbol after each true one before it. */
  after(walk: readonly number[]): number[] {
    return this.#after.map((map, i) => map.get(walk[this.#half + i - 1]!) ?? this.commonest[i]!);
  }
}

function commonest(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
