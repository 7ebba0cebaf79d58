import { promptTable } from '@hidden-schema/hsn/tasks/tuples/open';
import { answerKey } from '../measures/recall.ts';
import type { AnswerPool, AnswerPools } from './answer-pools.ts';
import { type ExplainedCandidate, explainedCandidates } from './explained.ts';
import type { WalkExplainer } from './explanation.ts';
import { type MixedObject, mixedAnswers, mixedObjects } from './mixture.ts';
import type { PartWeights } from './mixture-fit.ts';
import type { AnswerMixture } from './mixture-run.ts';

/** A training event that has the answer by the relation. */
export interface SupportingEvent {
  event: string;
  object: string;
  /** Share of the weight of all near events. */
  share: number;
  /** Steps of the first half that both walks have in common. */
  same: number;
}

/** An answer with what speaks for it. */
export interface MixedCandidate extends ExplainedCandidate {
  /** Nats by which each part sets the answer above the mean of the objects that were weighed. */
  parts: PartWeights;
  /** Near training events that have it, the nearest first. */
  events: SupportingEvent[];
}

const SHOWN_EVENTS = 3;

/** By the run's mixture where it has one and walks are not led, else what the decoder writes from likely paths. */
export async function reasonedCandidates(
  {
    mixture,
    ...reasons
  }: Parameters<typeof explainedCandidates>[0] & { mixture?: AnswerMixture | undefined },
  question: { event: string; relation: string },
  { count, along }: { count: number; along: readonly number[] },
): Promise<(ExplainedCandidate & Partial<Pick<MixedCandidate, 'parts' | 'events'>>)[]> {
  if (mixture && along.length === 0)
    return explainedMixture({ mixture, explainer: reasons.explainer }, question, count);
  return explainedCandidates(reasons, question, { count, along });
}

/** Different answers to (event, relation) by a run's mixture, each with its walk, its parts and the events behind it. */
export async function explainedMixture(
  { mixture, explainer }: { mixture: AnswerMixture; explainer?: WalkExplainer | undefined },
  { event, relation }: { event: string; relation: string },
  count = 5,
): Promise<MixedCandidate[]> {
  const weights = (mixture.weights.walks ?? mixture.weights.neighbours)!;
  // Refuses an unknown relation, and an event that is empty or too long.
  await promptTable(mixture.pools.reasoner.opened, [{ head: event, relation }]);
  const [pool] = await mixture.pools.of([{ head: event.trim(), relation, references: [] }]);
  const objects = new Map(mixedObjects(pool!, weights).map((one) => [one.object, one]));
  const number = mixture.pools.reasoner.relations.indexOf(relation);
  const answers = mixedAnswers(pool!, weights).answers.slice(0, count);
  const behind = await supporting(mixture.pools, pool!, answers);
  return answers.map((text, i) => {
    const one = objects.get(text)!;
    const words = explainer && one.walk.map((symbol) => explainer.words(symbol));
    return {
      ...candidateOf(one),
      parts: one.parts,
      events: behind[i]!,
      ...(words && explainer ? { words, like: explainer.nearest(one.walk, number) } : {}),
    };
  });
}

/** As candidates that are written: the score is log p among the objects that were weighed. */
function candidateOf({ object, walk, walkLogProb, scores, probability }: MixedObject) {
  const [objectLogProb, score] = [scores.writer ?? 0, Math.log(probability)];
  return { object, walk, walkLogProb, objectLogProb, score, walks: 1 };
}

/** For each answer the nearest events that have it, the nearest first. */
async function supporting(
  pools: AnswerPools,
  { near, first, relation }: AnswerPool,
  answers: readonly string[],
): Promise<SupportingEvent[][]> {
  const total = near.reduce((sum, { weight }) => sum + weight, 0);
  const found = answers.map((answer) => {
    const key = answerKey(answer);
    return near
      .flatMap(({ event, objects, weight }) => {
        const object = objects.find((text) => answerKey(text) === key);
        return object === undefined ? [] : [{ event, object, share: weight / total }];
      })
      .slice(0, SHOWN_EVENTS);
  });
  const events = [...new Set(found.flat().map(({ event }) => event))];
  if (events.length === 0) return found.map(() => []);
  const halves = await pools.firstHalves(events.map((head) => ({ head, relation })));
  const same = (event: string) =>
    halves[events.indexOf(event)]!.filter((symbol, i) => symbol === first[i]).length;
  return found.map((some) => some.map((one) => ({ ...one, same: same(one.event) })));
}
