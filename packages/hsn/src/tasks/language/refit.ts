import type { TextCorpus } from '@hidden-schema/text';
import { int64, scope, type Tensor } from '@hidden-schema/torch';
import { fitSymbols } from '../../discovery/fit.ts';
import { mostSaid } from '../../discovery/passages.ts';
import { sourceOf } from '../../discovery/point-source.ts';
import { SeedMatches, seedDirections } from '../../discovery/seeds.ts';
import { fitOptions, release, trainingTexts } from '../../discovery/text-discovery.ts';
import { type OpenedLanguage, withTrainingPoints } from './open.ts';
import { textRecord } from './text-record.ts';

interface RefitOptions {
  signal?: AbortSignal;
}

/**
 * Finds symbols once more, with another seed, among the training texts of a run: which first symbol each text had with
 * either. Nothing where walks are not read by pursuit.
 */
export function refitSymbols(
  opened: OpenedLanguage,
  options: RefitOptions = {},
): Promise<{ before: number[]; after: number[] } | undefined> {
  const { seed } = opened.config;
  return withTrainingTexts(opened, options, async ({ fit }) => ({
    before: await fit(seed),
    after: await fit(seed + 1),
  }));
}

/** Symbols of some of the training texts of a run. */
export interface RefitSubsample {
  /** Among the training texts. [n] */
  rows: Int32Array;
  /** First symbol of each. [n] */
  symbols: number[];
}

/**
 * Finds symbols in parts of the training texts, all with the run's seed; `draw` is given how many texts there are.
 * Nothing where walks are not read by pursuit.
 */
export function refitSubsamples(
  opened: OpenedLanguage,
  draw: (count: number) => readonly Int32Array[],
  options: RefitOptions = {},
): Promise<{ texts: string[]; samples: RefitSubsample[] } | undefined> {
  return withTrainingTexts(opened, options, async ({ corpus, fit }) => {
    const { store, splits } = corpus;
    const samples: RefitSubsample[] = [];
    for (const rows of draw(splits.train.length))
      samples.push({ rows, symbols: await fit(opened.config.seed, rows) });
    return { texts: Array.from(splits.train, (row) => store.example(row).text), samples };
  });
}

interface TrainingTexts {
  corpus: TextCorpus;
  /** First symbol of each of the training texts, or of some rows of them, under a seed. */
  fit(seed: number, rows?: Int32Array): Promise<number[]>;
}

async function withTrainingTexts<T>(
  opened: OpenedLanguage,
  options: RefitOptions,
  body: (texts: TrainingTexts) => Promise<T>,
): Promise<T | undefined> {
  const { config, model } = opened;
  if (model.encoder.reads !== 'points') return undefined;
  return withTrainingPoints(opened, options, async ({ points, passages }, { corpus, placed }) => {
    const { seeds = [] } = textRecord(opened.run).record;
    const matches = seeds.length > 0 && new SeedMatches(seeds, trainingTexts(corpus, placed.passages));
    const directions = matches ? { seeds: seedDirections(matches, sourceOf(points)) } : {};
    const fit = async (seed: number, rows?: Int32Array): Promise<number[]> => {
      const some = rows ? rowsOf(points, passages ? passagesOfTexts(rows, passages) : rows) : points;
      try {
        const fitted = await fitSymbols(some, { ...fitOptions(config), ...options, ...directions, seed });
        const symbols = scope(() => fitted.encoded.walks.select(1, 0).toNumbers());
        release(fitted);
        const counts = rows && passages ? rows.map((row) => passages[row]!) : passages;
        return counts ? mostSaid(symbols, counts) : symbols;
      } finally {
        if (rows) some.free();
      }
    };
    try {
      return await body({ corpus, fit });
    } finally {
      directions.seeds?.free();
    }
  });
}

/** Passages of some texts, of which all have so many. */
function passagesOfTexts(texts: Int32Array, passages: Int32Array): Int32Array {
  const firsts = [0];
  for (const count of passages) firsts.push(firsts.at(-1)! + count);
  return Int32Array.from(
    Array.from(texts).flatMap((text) => Array.from({ length: passages[text]! }, (_, n) => firsts[text]! + n)),
  );
}

const rowsOf = (points: Tensor, rows: Int32Array): Tensor => scope(() => points.indexSelect(0, int64(rows)));
