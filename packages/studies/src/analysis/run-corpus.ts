import {
  type BestWalk,
  type LanguageRun,
  type OpenedRun,
  openLanguageCorpus,
  openTuples,
  type ReasoningRun,
  type SplitName,
  type SyntheticRun,
} from '@hidden-schema/hsn';

/** The sentences that a run was trained on, or tuples, as its `texts` read them. */
export interface RunCorpus {
  labels: readonly string[];
  /** Sentences in each split. */
  counts: Readonly<Record<SplitName, number>>;
  /** A sentence of a split with the number of its label, −1 for none, and its true walk where that is known. */
  sentence(split: SplitName, at: number): { text: string; label: number; walk?: number[] };
  /** What the user should know of it. */
  notes: readonly string[];
  close(): void;
}

export interface CorpusOptions {
  signal?: AbortSignal;
  /** Told while texts are prepared. */
  onProgress?: () => void;
}

/** Opens the corpus of a run of any kind. */
export function runCorpus(run: OpenedRun, options: CorpusOptions = {}): Promise<RunCorpus> {
  if (run.kind === 'language') return textsOf(run, options);
  return run.kind === 'reasoning' ? tuplesOf(run) : Promise.resolve(syntheticOf(run));
}

async function textsOf(run: LanguageRun, options: CorpusOptions): Promise<RunCorpus> {
  const corpus = await openLanguageCorpus(run, options);
  const { labels, store, splits } = corpus;
  return {
    labels,
    counts: mapSplits((split) => splits[split].length),
    sentence: (split, at) => {
      const row = splits[split][at]!;
      return { text: store.example(row).text, label: store.row(row).label };
    },
    notes: [],
    close: () => corpus.close(),
  };
}

async function tuplesOf(run: ReasoningRun): Promise<RunCorpus> {
  const { corpus, notes } = await openTuples(run);
  const { splits, table } = corpus;
  return {
    labels: run.relations,
    counts: mapSplits((split) => splits[split].length),
    sentence: (split, at) => {
      const { head, relation, object } = table.tuple(splits[split][at]!);
      return { text: `${head}\t${relation}\t${object}`, label: run.relations.indexOf(relation) };
    },
    notes,
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

const order: readonly SplitName[] = ['test', 'valid', 'train'];
const readAtOnce = 64;

/** Reads the first `limit` sentences, those of the test split first, some at a time. */
export async function* readSentences(
  run: OpenedRun,
  corpus: RunCorpus,
  limit: number,
  signal?: AbortSignal,
): AsyncGenerator<ReadSentence[]> {
  let left = limit;
  for (const split of order) {
    const count = Math.min(Math.max(0, left), corpus.counts[split]);
    left -= count;
    for (let first = 0; first < count; first += readAtOnce) {
      signal?.throwIfAborted();
      const rows = Math.min(readAtOnce, count - first);
      const some = Array.from({ length: rows }, (_, at) => corpus.sentence(split, first + at));
      const { walks } = await run.texts.read(some.map(({ text }) => text));
      yield some.map(({ text, label }, at) => ({ ...walks[at]!, text, label, split }));
    }
  }
}
