import { setImmediate } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import type { CorpusPoints } from '@hidden-schema/hsn/discovery/vectors/corpus-vectors';
import type { LanguageRun, OpenedRun, ReasoningRun, SyntheticRun } from '@hidden-schema/hsn/open';
import type { SplitName } from '@hidden-schema/hsn/tasks/synthetic/corpus/writer';
import type { BestWalk } from '@hidden-schema/hsn/walk/best';
import type { TextCorpus } from '@hidden-schema/text/corpus';
import { readBatch } from '@hidden-schema/text/text-batches';
import { textHash, textKey } from '@hidden-schema/text/text-keys';

/** The sentences that a run was trained on, or tuples, as its `texts` read them. */
export interface RunCorpus {
  labels: readonly string[];
  /** Sentences in each split. */
  counts: Readonly<Record<SplitName, number>>;
  /** A sentence of a split with the number of its label, −1 for none, and its true walk where that is known. */
  sentence(split: SplitName, at: number): { text: string; label: number; walk?: number[] };
  /** What the user should know of it. */
  notes: readonly string[];
  /** Walks of many sentences, where what they are read from is stored: quicker than reading their texts. */
  stored?(): Promise<StoredWalks | undefined>;
  /** The passages of texts that are read as several, each with a walk of its own; nothing where none is. */
  passages?(): Promise<Iterable<ReadPassage> | undefined>;
  close(): void;
}

/** The walks of `count` sentences of a split from the `first` on. */
export type StoredWalks = (split: SplitName, first: number, count: number) => BestWalk[];

/** A passage of a text with its own walk. */
export interface ReadPassage extends BestWalk {
  text: string;
}

export interface CorpusOptions {
  signal?: AbortSignal | undefined;
  /** Told while texts are prepared. */
  onProgress?: () => void;
}

/** Opens the corpus of a run of any kind. */
export function runCorpus(run: OpenedRun, options: CorpusOptions = {}): Promise<RunCorpus> {
  if (run.kind === 'language') return textsOf(run, options);
  return run.kind === 'reasoning' ? tuplesOf(run) : Promise.resolve(syntheticOf(run));
}

async function textsOf(run: LanguageRun, { signal, ...options }: CorpusOptions): Promise<RunCorpus> {
  const { openLanguageCorpus, openPoints } = await import('@hidden-schema/hsn/tasks/language/open');
  const watch = signal ? { signal } : {};
  const corpus = await openLanguageCorpus(run, { ...options, ...watch });
  const { labels, store, splits } = corpus;
  let points: CorpusPoints | undefined;
  const opened = async () => {
    points ??= await openPoints(run, corpus, watch);
    return points;
  };
  return {
    labels,
    counts: mapSplits((split) => splits[split].length),
    sentence: (split, at) => {
      const row = splits[split][at]!;
      return { text: store.example(row).text, label: store.row(row).label };
    },
    stored: async () => {
      const placed = await opened();
      return placed && walksOfPoints(run, corpus, placed);
    },
    passages: async () => {
      const placed = run.config.discovery.passages ? await opened() : undefined;
      return placed && placed.passages.cutTexts > 0 ? passagesOf(run, corpus, placed) : undefined;
    },
    notes: [],
    close: () => {
      points?.free();
      corpus.close();
    },
  };
}

/** Texts whose vectors are stored are not encoded again. */
function walksOfPoints(
  { texts }: LanguageRun,
  { store, splits }: TextCorpus,
  points: CorpusPoints,
): StoredWalks {
  return (split, first, count) => {
    const rows = splits[split].slice(first, first + count);
    const { encoder } = readBatch(store, rows, texts.frames);
    const placed = points.reading(rows);
    try {
      return texts.readBatch({ encoder, ...placed });
    } finally {
      placed.points.free();
    }
  };
}

/** Texts whose passages are read together. */
const passagedAtOnce = 64;

function* passagesOf(
  { texts }: LanguageRun,
  { store, splits }: TextCorpus,
  points: CorpusPoints,
): Generator<ReadPassage> {
  for (const split of sentenceOrder)
    for (let first = 0; first < splits[split].length; first += passagedAtOnce) {
      const rows = splits[split].slice(first, first + passagedAtOnce);
      const { encoder } = readBatch(store, rows, texts.frames);
      const own = points.passages.rowsOf(rows);
      const { points: read } = points.reading(rows);
      const walks = texts.readBatch({ encoder, points: read });
      read.free();
      for (const [n, walk] of walks.entries()) yield { text: points.passages.text(own[n]!), ...walk };
    }
}

async function tuplesOf(run: ReasoningRun): Promise<RunCorpus> {
  const { openTuples } = await import('@hidden-schema/hsn/tasks/tuples/open');
  const { corpus } = await openTuples(run);
  const { splits, table } = corpus;
  return {
    labels: run.relations,
    counts: mapSplits((split) => splits[split].length),
    sentence: (split, at) => {
      const { head, relation, object } = table.tuple(splits[split][at]!);
      return { text: `${head}\t${relation}\t${object}`, label: run.relations.indexOf(relation) };
    },
    notes: [],
    close: () => {},
  };
}

function syntheticOf({ corpus }: SyntheticRun): RunCorpus {
  const { splits, vocabulary, length: L } = corpus;
  return {
    labels: [],
    counts: mapSplits((split) => splits[split].count),
    sentence: (split, at) => {
      const { tokens, walks } = splits[split];
      const row = (of: Int32Array) => Array.from(of.subarray(at * L, (at + 1) * L));
      const words = row(tokens).map((token) => vocabulary[token]!);
      return { text: words.join(' '), label: -1, ...(walks ? { walk: row(walks) } : {}) };
    },
    notes: [],
    close: () => {},
  };
}

const mapSplits = <T>(of: (split: SplitName) => T): Record<SplitName, T> => ({
  train: of('train'),
  valid: of('valid'),
  test: of('test'),
});

/** A sentence of the run's corpus with the walk that is read in it. */
export interface ReadSentence extends BestWalk {
  text: string;
  /** Number of its label, −1 for none. */
  label: number;
  split: SplitName;
}

/** The rows of a corpus that hold encoded texts, by their content; of equal texts in one split, in their order. [N] */
export function encodedRows(encoded: EncodedTexts, { store, splits }: TextCorpus): Int32Array {
  const keys = store.keys();
  const rows = new Map<string, number[]>();
  for (const split of sentenceOrder)
    for (const row of splits[split]) {
      const place = `${split} ${keys[row]}`;
      const equal = rows.get(place);
      if (equal) equal.push(row);
      else rows.set(place, [row]);
    }
  // Taken from the end, which costs nothing.
  for (const equal of rows.values()) equal.reverse();
  return Int32Array.from(encoded.sentences(), ({ text, split }) => {
    const row = rows.get(`${split} ${textKey(textHash(text))}`)?.pop();
    if (row !== undefined) return row;
    throw new UserError(
      `${encoded.file}.jsonl has a text that the corpus has not: ${JSON.stringify(text.slice(0, 60))}; remove that file, and the corpus is read again`,
    );
  });
}

/** Texts that are stored with a run, in their order. */
interface EncodedTexts {
  file: string;
  sentences(): Iterable<{ text: string; split: SplitName }>;
}

/** The order in which sentences are read and kept. */
const sentenceOrder: readonly SplitName[] = ['test', 'valid', 'train'];
const readAtOnce = 64;
/** The same where nothing is encoded: most of what a batch takes is then the same for any size. */
const storedAtOnce = 512;
/** Of a few sentences it is quicker to read these than to open, or make, the vectors of all. */
const shareWorthStoring = 0.2;

/** Reads the first `limit` sentences, those of the test split first, some at a time. */
export async function* readSentences(
  run: OpenedRun,
  corpus: RunCorpus,
  limit: number,
  signal?: AbortSignal,
): AsyncGenerator<ReadSentence[]> {
  const total = sentenceOrder.reduce((sum, split) => sum + corpus.counts[split], 0);
  const stored = limit > shareWorthStoring * total ? await corpus.stored?.() : undefined;
  const atOnce = stored ? storedAtOnce : readAtOnce;
  let left = limit;
  for (const split of sentenceOrder) {
    const count = Math.min(Math.max(0, left), corpus.counts[split]);
    left -= count;
    for (let first = 0; first < count; first += atOnce) {
      signal?.throwIfAborted();
      const rows = Math.min(atOnce, count - first);
      const some = Array.from({ length: rows }, (_, at) => corpus.sentence(split, first + at));
      const walks =
        stored?.(split, first, rows) ?? (await run.texts.read(some.map(({ text }) => text))).walks;
      await setImmediate();
      yield some.map(({ text, label }, at) => ({ ...walks[at]!, text, label, split }));
    }
  }
}
