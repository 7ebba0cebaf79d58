import { bestWalks, expectedGraph, type LanguageTexts, padded } from '@hidden-schema/hsn';
import { stack } from '@hidden-schema/torch';
import { clamp, quietly, type WalkStep } from './synthetic-reading.ts';

export interface CloseReading {
  steps: WalkStep[];
  logProbability: number;
  /** Pieces that the encoder reads. */
  tokens: string[];
  cut: boolean;
}

/** The most probable walk of a text; at each step how probable its symbol is, and which others could stand there. */
export async function readClosely(
  { model, tokenizers, frames, longestRead }: LanguageTexts,
  text: string,
  alternatives: number,
): Promise<CloseReading> {
  const options = { literal: true, longest: longestRead };
  const [encoded] = await tokenizers.encoder.encodeBatch([text], { ...options, specials: true });
  const [plain] = await tokenizers.encoder.encodeBatch([text], options);
  const tokens = await Promise.all(Array.from(plain!.ids, (id) => tokenizers.encoder.decode([id])));
  model.train(false);
  const { symbols: K } = model.config;
  return quietly(() => {
    const scores = model.scores(padded([encoded!.ids], frames.encoder));
    const posterior = model.posterior(scores, expectedGraph(model));
    const { walk, probabilities } = bestWalks(posterior)[0]!;
    const all = stack(posterior.marginals(), 1); // [1, L, K]
    const marginals = all.toNumbers();
    const ranked = all.topk(Math.min(K, alternatives + 1)).indices.toNumbers(); // [1, L, shown]
    const shown = ranked.length / walk.length;
    const at = (i: number, symbol: number) => ({ symbol, probability: clamp(marginals[i * K + symbol]!) });
    const steps = walk.map((symbol, i) => {
      const others = ranked.slice(i * shown, (i + 1) * shown).filter((other) => other !== symbol);
      const next = others.slice(0, alternatives).map((other) => at(i, other));
      return { ...at(i, symbol), alternatives: next };
    });
    const logProbability = probabilities.reduce((sum, p) => sum + Math.log(p), 0);
    return { steps, logProbability, tokens, cut: encoded!.lost > 0 };
  });
}
