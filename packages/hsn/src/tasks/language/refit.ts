import { scope } from '@hidden-schema/torch';
import { fitSymbols } from '../../discovery/fit.ts';
import { sourceOf } from '../../discovery/point-source.ts';
import { fitOptions, release } from './discovery.ts';
import { type OpenedLanguage, openLanguageCorpus, openPoints } from './open.ts';
import { seedDirections } from './seeds.ts';
import { textRecord } from './text-record.ts';

/**
 * Finds symbols once more, with another seed, among the training texts of a run: which first symbol each text had with
 * either. Nothing where walks are not read by pursuit.
 */
export async function refitSymbols(
  opened: OpenedLanguage,
  options: { signal?: AbortSignal } = {},
): Promise<{ before: number[]; after: number[] } | undefined> {
  const { config, model } = opened;
  if (model.encoder.reads !== 'points') return undefined;
  const corpus = await openLanguageCorpus(opened, options);
  const placed = await openPoints(opened, corpus, options);
  const points = placed!.of(corpus.splits.train);
  const { seeds = [] } = textRecord(opened.run).record;
  const directions = seeds.length > 0 ? { seeds: seedDirections(seeds, corpus, sourceOf(points)) } : {};
  try {
    const first = async (seed: number): Promise<number[]> => {
      const fitted = await fitSymbols(points, { ...fitOptions(config), ...options, ...directions, seed });
      const symbols = scope(() => fitted.encoded.walks.select(1, 0).toNumbers());
      release(fitted);
      return symbols;
    };
    return { before: await first(config.seed), after: await first(config.seed + 1) };
  } finally {
    directions.seeds?.free();
    points.free();
    placed!.free();
    corpus.close();
  }
}
