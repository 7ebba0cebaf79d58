import { setImmediate } from 'node:timers/promises';
import {
  type BestWalk,
  type CorpusPoints,
  openLanguageCorpus,
  openPoints,
  readAtOnce,
  type SplitName,
  tokensFrom,
} from '@hidden-schema/hsn';
import { readBatch, type TextCorpus } from '@hidden-schema/text';
import { noGrad, scope } from '@hidden-schema/torch';
import type { AnalysedRun, LanguageRun, SyntheticRun } from './opened.ts';

/** A sentence of the run's corpus with the walk that is read in it. */
export interface ReadSentence extends BestWalk {
  text: string;
  /** Number of its label, −1 for none. */
  label: number;
  split: SplitName;
}

/** Sentences of a corpus in batches, read one after the other. */
export interface SentenceSource {
  /** Sentences in the corpus. */
  total: number;
  labels: readonly string[];
  /** The first `limit` sentences, those of the test split first. */
  batches(limit: number): AsyncGenerator<ReadSentence[]>;
  close(): void;
}

const order: readonly SplitName[] = ['test', 'valid', 'train'];

export function sentenceSource(
  run: AnalysedRun,
  given: { signal?: AbortSignal } = {},
): Promise<SentenceSource> {
  return run.kind === 'language' ? languageSource(run, given) : Promise.resolve(syntheticSource(run));
}

const textsAtOnce = 64;

async function languageSource(run: LanguageRun, given: { signal?: AbortSignal }): Promise<SentenceSource> {
  const corpus = await openLanguageCorpus(run.opened, given);
  const points = await openPoints(run.opened, corpus, given);
  async function* batches(limit: number): AsyncGenerator<ReadSentence[]> {
    let left = limit;
    for (const split of order) {
      const rows = corpus.splits[split].subarray(0, Math.max(0, left));
      left -= rows.length;
      for (let first = 0; first < rows.length; first += textsAtOnce) {
        given.signal?.throwIfAborted();
        const some = Array.from(rows.subarray(first, first + textsAtOnce));
        const texts = some.map((row) => corpus.store.example(row).text);
        const walks = points
          ? readPoints(run, corpus, points, Int32Array.from(some))
          : (await run.texts.read(texts)).walks;
        await setImmediate();
        yield some.map((row, i) => ({
          ...walks[i]!,
          text: texts[i]!,
          label: corpus.store.row(row).label,
          split,
        }));
      }
    }
  }
  const { labels, store } = corpus;
  const close = () => {
    points?.free();
    corpus.close();
  };
  return { total: store.count, labels, batches, close };
}

/** Texts whose vectors are stored are not encoded again. */
function readPoints(
  run: LanguageRun,
  { store }: TextCorpus,
  points: CorpusPoints,
  rows: Int32Array,
): BestWalk[] {
  const { encoder } = readBatch(store, rows, run.texts.frames);
  const placed = points.of(rows);
  try {
    return run.texts.readBatch({ encoder, points: placed });
  } finally {
    placed.free();
  }
}

function syntheticSource(run: SyntheticRun): SentenceSource {
  const { splits } = run.corpus;
  async function* batches(limit: number): AsyncGenerator<ReadSentence[]> {
    let left = limit;
    for (const split of order) {
      const count = Math.min(left, splits[split].count);
      left -= count;
      for (let first = 0; first < count; first += readAtOnce)
        yield readTokens(run, split, first, Math.min(readAtOnce, count - first));
    }
  }
  const total = order.reduce((sum, split) => sum + splits[split].count, 0);
  return { total, labels: [], batches, close: () => {} };
}

/** Walks are read on the expected graph, where every link weighs its probability, as for texts. */
function readTokens(
  { model, corpus }: SyntheticRun,
  split: SplitName,
  first: number,
  count: number,
): ReadSentence[] {
  const L = corpus.length;
  const part = corpus.splits[split];
  model.train(false);
  const read = () => model.encode({ tokens: tokensFrom(part, L, first, count) }).best();
  const walks = scope(() => noGrad(read));
  return walks.map((walk, i) => {
    const tokens = part.tokens.subarray((first + i) * L, (first + i + 1) * L);
    const text = Array.from(tokens, (token) => corpus.vocabulary[token]!).join(' ');
    return { ...walk, text, label: -1, split };
  });
}
