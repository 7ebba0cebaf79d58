import { distinctAnswers } from '../measures/recall.ts';
import { type AnswerPart, type AnswerPool, answerParts, type PooledObject } from './answer-pools.ts';
import { type Answered, mostAnswers } from './answers.ts';
import { type MixtureWeights, mixtureScore, type PartWeights } from './mixture-fit.ts';

/** What answers are mixed of, from near events alone to all there is. */
export const mixtureKinds = {
  near: ['near', 'common'],
  neighbours: ['near', 'common', 'classified'],
  walks: ['near', 'common', 'classified', 'learned', 'writer'],
  comet: ['near', 'common', 'classified', 'comet'],
  all: answerParts,
} as const satisfies Record<string, readonly AnswerPart[]>;
export type MixtureKind = keyof typeof mixtureKinds;

/** Answers among which the first is chosen; chosen on valid events of ATOMIC. */
const FIRST_OF = 40;

/** An object with its probability in the pool, and how much each part speaks for it. */
export interface MixedObject extends PooledObject {
  score: number;
  probability: number;
  /** Nats by which each part sets the object above the mean of its pool. */
  parts: PartWeights;
}

/** The objects of a pool by what a mixture thinks of them, the most probable first. */
export function mixedObjects(pool: AnswerPool, weights: MixtureWeights): MixedObject[] {
  const own = weights.relations[pool.relation] ?? weights.shared;
  const scored = pool.objects.map((one) => ({ ...one, score: mixtureScore(one.scores, own) }));
  const top = Math.max(...scored.map(({ score }) => score));
  const total = scored.reduce((sum, { score }) => sum + Math.exp(score - top), 0);
  const means = partMeans(pool, own);
  return scored
    .map((one) => ({
      ...one,
      probability: Math.exp(one.score - top) / total,
      parts: partsOf(one, own, means),
    }))
    .sort((a, b) => b.score - a.score);
}

const used = (weights: PartWeights) => answerParts.filter((part) => weights[part] !== undefined);

/** Mean over the pool of what each part gives. */
function partMeans({ objects }: AnswerPool, weights: PartWeights): PartWeights {
  const mean = (part: AnswerPart) =>
    objects.reduce((sum, { scores }) => sum + (scores[part] ?? 0), 0) / Math.max(1, objects.length);
  return Object.fromEntries(used(weights).map((part) => [part, weights[part]! * mean(part)]));
}

function partsOf({ scores }: PooledObject, weights: PartWeights, means: PartWeights): PartWeights {
  return Object.fromEntries(
    used(weights).map((part) => [part, weights[part]! * (scores[part] ?? 0) - means[part]!]),
  );
}

/** Ten different answers. The first of them has the highest expected BLEU-2, the others are in the order of the mixture. */
export function mixedAnswers(pool: AnswerPool, weights: MixtureWeights): Answered {
  const { head, relation, references } = pool;
  const objects = mixedObjects(pool, weights);
  const texts = distinctAnswers(
    objects.map(({ object }) => object),
    FIRST_OF,
  );
  const expected = new Map(objects.map((one) => [one.object, one.expected]));
  const [best] = texts.toSorted((a, b) => expected.get(b)! - expected.get(a)!);
  const answers = distinctAnswers(best === undefined ? [] : [best, ...texts], mostAnswers);
  return { head, relation, references, answers };
}
