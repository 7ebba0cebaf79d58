import { answerKey } from '../measures/recall.ts';
import { type AnswerPart, type AnswerPool, answerParts } from './answer-pools.ts';

/** Weights of parts, of which those that are not there weigh nothing. */
export type PartWeights = Partial<Record<AnswerPart, number>>;

/** Weights for all relations, and those of each. */
export interface MixtureWeights {
  parts: readonly AnswerPart[];
  shared: PartWeights;
  relations: Record<string, PartWeights>;
}

const STEPS = 200;
const RATE = 0.05;
/** Questions' worth of the weights of all relations in those of one. */
const RIDGE = 30;

/** A question as numbers: what parts say of each object, and which objects are references. */
interface Case {
  relation: string;
  /** By object, then by part. */
  features: Float64Array[];
  hits: number[];
}

/** Σ_j w_j f_j(o): the log of what a mixture thinks of an object, but for a constant of the question. */
export function mixtureScore(scores: Partial<Record<AnswerPart, number>>, weights: PartWeights): number {
  return answerParts.reduce((sum, part) => sum + (weights[part] ?? 0) * (scores[part] ?? 0), 0);
}

/**
 * Weights under which references are likeliest: p(o) ∝ exp Σ_j w_j f_j(o) over the objects of a pool, by gradient ascent on
 * the mean log p of the references that the pool has. Weights of a relation are drawn to those of all.
 */
export function fitMixture(pools: readonly AnswerPool[], parts: readonly AnswerPart[]): MixtureWeights {
  const cases = pools.map((pool) => caseOf(pool, parts)).filter(({ hits }) => hits.length > 0);
  const start = parts.map((part) => (part === 'near' ? 1 : 0));
  const shared = ascend(cases, start);
  const named = (values: readonly number[]): PartWeights =>
    Object.fromEntries(parts.map((part, j) => [part, values[j]!]));
  const relations = [...new Set(cases.map(({ relation }) => relation))].map((relation) => {
    const own = cases.filter((one) => one.relation === relation);
    return [relation, named(ascend(own, shared, RIDGE / own.length))] as const;
  });
  return { parts, shared: named(shared), relations: Object.fromEntries(relations) };
}

function caseOf({ objects, references, relation }: AnswerPool, parts: readonly AnswerPart[]): Case {
  const wanted = new Set(references.map(answerKey));
  const hits = [...objects.keys()].filter((i) => wanted.has(answerKey(objects[i]!.object)));
  const features = objects.map(({ scores }) => Float64Array.from(parts, (part) => scores[part] ?? 0));
  return { relation, features, hits };
}

/** Adam on the mean log-likelihood, less ridge · |w − start|² / 2. */
function ascend(cases: readonly Case[], start: readonly number[], ridge = 0): number[] {
  const weights = [...start];
  const [first, second] = [start.map(() => 0), start.map(() => 0)];
  for (let step = 1; step <= STEPS; step++) {
    const gradient = weights.map((weight, j) => -ridge * (weight - start[j]!));
    for (const one of cases) addGradient(one, weights, gradient, 1 / cases.length);
    for (const [j, slope] of gradient.entries()) {
      first[j] = 0.9 * first[j]! + 0.1 * slope;
      second[j] = 0.99 * second[j]! + 0.01 * slope * slope;
      const [mean, square] = [first[j]! / (1 - 0.9 ** step), second[j]! / (1 - 0.99 ** step)];
      weights[j]! += (RATE * mean) / (Math.sqrt(square) + 1e-8);
    }
  }
  return weights;
}

/** Adds the slope of a question's mean log p: what references have of each part, less what is expected. */
function addGradient(
  { features, hits }: Case,
  weights: readonly number[],
  into: number[],
  share: number,
): void {
  const scores = features.map((own) => weights.reduce((sum, weight, j) => sum + weight * own[j]!, 0));
  const top = Math.max(...scores);
  const odds = scores.map((score) => Math.exp(score - top));
  const total = odds.reduce((sum, one) => sum + one, 0);
  for (const j of into.keys()) {
    let slope = 0;
    for (const [i, own] of features.entries()) slope -= (odds[i]! / total) * own[j]!;
    for (const i of hits) slope += features[i]![j]! / hits.length;
    into[j]! += share * slope;
  }
}
