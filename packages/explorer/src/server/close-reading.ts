import type { WalkPosterior } from '@hidden-schema/hsn';
import { noGrad, scope, stack } from '@hidden-schema/torch';

// Shapes: L steps, K symbols.

export interface WalkStep {
  symbol: number;
  probability: number;
  alternatives: { symbol: number; probability: number }[];
}

export const quietly = <T>(body: () => T): T => scope(() => noGrad(body));

/** The most probable walk of one sentence; at each step how probable its symbol is, and which others could stand there. */
export function closely(
  posterior: WalkPosterior,
  alternatives: number,
): { steps: WalkStep[]; logProbability: number } {
  const { walk, probabilities } = posterior.best()[0]!;
  const all = stack(posterior.marginals(), 1); // [1, L, K]
  const K = all.dim(2);
  const marginals = all.toNumbers();
  const ranked = all.topk(Math.min(K, alternatives + 1)).indices.toNumbers(); // [1, L, shown]
  const shown = ranked.length / walk.length;
  const at = (i: number, symbol: number) => ({ symbol, probability: clamp(marginals[i * K + symbol]!) });
  const steps = walk.map((symbol, i) => {
    const others = ranked.slice(i * shown, (i + 1) * shown).filter((other) => other !== symbol);
    return { ...at(i, symbol), alternatives: others.slice(0, alternatives).map((other) => at(i, other)) };
  });
  const logProbability = probabilities.reduce((sum, p) => sum + Math.log(p), 0);
  return { steps, logProbability };
}

/** Sums of float32 may pass 1 by a rounding. */
export const clamp = (p: number): number => Math.min(1, Math.max(0, p));
