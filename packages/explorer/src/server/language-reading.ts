import type { LanguageTexts } from '@hidden-schema/hsn';
import { padded } from '@hidden-schema/text';
import { closely, quietly, type WalkStep } from './close-reading.ts';

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
  return quietly(() => {
    const scores = model.encoder.scores({ encoder: padded([encoded!.ids], frames.encoder) });
    const posterior = model.posterior(scores, model.expectedGraph());
    return { ...closely(posterior, alternatives), tokens, cut: encoded!.lost > 0 };
  });
}
