import { isLikely, linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { withAlone } from '@hidden-schema/hsn/tasks/language/perplexity';
import type { LanguageFigures } from '@hidden-schema/hsn/tasks/language/task';
import type { EncodedCorpus } from '../texts/encoded.ts';

/** How far symbols and walks moved between two checkpoints of a run. */
export interface StageChanges {
  /** Shares of texts whose walk, and whose first symbol, is another. */
  walks: number;
  firstSymbols: number;
  /** Links, of probability above one half, that are there once and not the other time. */
  links: number;
}

interface Stage {
  run: OpenedRun;
  encoded: EncodedCorpus;
}

export function changesBetween(before: Stage, after: Stage): StageChanges {
  const count = Math.min(before.encoded.count, after.encoded.count);
  let [walks, firstSymbols] = [0, 0];
  for (let n = 0; n < count; n++) {
    const [a, b] = [before.encoded.walk(n), after.encoded.walk(n)];
    if (a[0] !== b[0]) firstSymbols++;
    if (a.some((symbol, i) => symbol !== b[i])) walks++;
  }
  const [p, q] = [linkProbabilities(before.run.model), linkProbabilities(after.run.model)];
  const changed = p.reduce((sum, one, i) => sum + Number(isLikely(one) !== isLikely(q[i]!)), 0);
  return { walks: walks / count, firstSymbols: firstSymbols / count, links: changed / 2 };
}

/** A language model beside its decoder alone. */
export interface DecoderComparison {
  perplexity_ratio: number;
  /** The same by walks that are drawn less surely as well. */
  perplexity_wide_ratio: number;
  /** Nats that the decoder saves on a sentence when it is given the walk, for each nat that the walk tells (exactly). */
  efficiency: number;
  /** The same for each nat that the walk costs: its divergence from the prior. */
  efficiency_paid: number;
}

/** The comparison added where the decoder alone is among the figures. */
export function withEfficiency(figures: LanguageFigures): LanguageFigures & Partial<DecoderComparison> {
  const { perplexity, perplexity_wide, baseline_perplexity, perplexity_reconstruction } = figures;
  const { reconstruction, mutual_information_exact, kl_walk, steps } = figures;
  if (!baseline_perplexity || !perplexity_wide || !perplexity_reconstruction) return figures;
  if (!reconstruction || !mutual_information_exact || !kl_walk) return figures;
  const tokens = reconstruction / Math.log(perplexity_reconstruction); // of a sentence
  const saved = tokens * Math.log(baseline_perplexity) - reconstruction;
  return {
    ...figures,
    perplexity_ratio: perplexity / baseline_perplexity,
    perplexity_wide_ratio: perplexity_wide / baseline_perplexity,
    efficiency: saved / mutual_information_exact,
    efficiency_paid: saved / kl_walk,
    ...(steps ? { steps: withAlone(steps, saved) } : {}),
  };
}
