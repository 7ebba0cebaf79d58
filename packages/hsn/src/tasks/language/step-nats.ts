import type { LanguageNetwork } from './network.ts';
import { decodedWalks } from './perplexity.ts';

/** What a step of walks costs and what it is worth to the decoder, nats a sentence. */
export interface StepNats {
  /** KL[q; p] of the step, given the steps before it. */
  paid: number;
  /** log p(x|z) with the step less the same without it; null where nothing says what there was without it. */
  gained: number | null;
}

/** Draws of a sentence that are cut; the most, since each is decoded once a step. */
const mostCut = 10;

/** A walk that ends after each of its steps and stays there. L walks of L steps */
function cutWalks(walk: readonly number[]): number[][] {
  return walk.map((symbol, last) => walk.map((own, i) => (i < last ? own : symbol)));
}

/** log p(x|z) of walks that end after each step, means over draws; the last is that of whole walks. [L] */
export function cutLogLikelihoods(
  model: LanguageNetwork,
  draws: readonly (readonly number[])[],
  tokens: Int32Array,
): number[] {
  const every = Math.ceil(draws.length / mostCut);
  const cut = draws.filter((_, r) => r % every === 0).map(cutWalks);
  const logs = decodedWalks(model, cut.flat(), tokens);
  const L = cut[0]!.length;
  return Array.from(
    { length: L },
    (_, i) => cut.reduce((sum, _walks, r) => sum + logs[r * L + i]!, 0) / cut.length,
  );
}

/** What each step cost and gained, of log p(x|z) by where walks end; of the first, the decoder alone says it (`withAlone`). */
export function stepNats(paid: readonly number[], cut: readonly number[] | undefined): StepNats[] {
  return paid.map((nats, i) => ({ paid: nats, gained: cut && i > 0 ? cut[i]! - cut[i - 1]! : null }));
}

/** Adds what the first step gained, where `saved` is what all steps together save the decoder alone. */
export function withAlone(steps: readonly StepNats[], saved: number): StepNats[] {
  const [first, ...later] = steps;
  if (!first || later.some(({ gained }) => gained === null)) return [...steps];
  return [{ ...first, gained: later.reduce((rest, { gained }) => rest - gained!, saved) }, ...later];
}
