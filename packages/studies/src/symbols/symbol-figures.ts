import { isLikely, linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { refitSymbols } from '@hidden-schema/hsn/tasks/language/refit';
import { stability } from '../measures/agreement.ts';
import { embeddingCoherence } from '../measures/coherence.ts';
import { rowsByWord } from '../measures/coherent-words.ts';
import { textWords } from '../measures/text-words.ts';
import { comparableLabels, labelFigures, linkedShare, wordFigures } from '../measures/topic-figures.ts';
import { walkInformation } from '../measures/walk-information.ts';
import type { EncodedCorpus, EncodedSentence } from '../texts/encoded.ts';
import type { SymbolMeaning } from './meaning.ts';
import { storeFigures } from './stored-figures.ts';

/** Words of a symbol that are measured. */
const measuredWords = 10;

/** How good the symbols of a text run are for a reader of texts; figures that need labels are missing without them. */
export interface SymbolFigures {
  /** Texts whose walks were read. */
  texts: number;
  /** Coherence of symbols' words: in the texts (NPMI and C_v), and of their vectors. */
  npmi: number | null;
  cv: number | null;
  embedding_coherence?: number | null;
  /** Different words among the first ten of all symbols. */
  diversity: number | null;
  /**
   * First symbols against labels, and the accuracy of a linear reader of whole walks (3 folds): of symbols at their steps,
   * and of symbols by how much of the text they tell.
   */
  nmi?: number;
  ami?: number;
  purity?: number;
  reader?: number;
  reader_weighed?: number;
  /** What best walks tell of texts, in nats, and the most that so many texts allow. */
  walk_information: number;
  walk_information_bound: number;
  /** Share of texts whose walk no other text has. */
  told_apart: number;
  /** Links of probability above one half, their share of all pairs, and the share of moves along them. */
  links: number;
  density: number;
  linked_moves?: number;
  /** Agreement (AMI) of first symbols with those that another seed finds. */
  stability?: number;
}

export interface SymbolFigureOptions {
  /** Finds symbols once more with another seed, which takes as long as the first time. */
  stability?: boolean;
  signal?: AbortSignal;
}

/** The measures of symbols over the encoded texts of a run. */
export async function symbolFigures(
  run: OpenedRun,
  encoded: EncodedCorpus,
  meanings: readonly SymbolMeaning[],
  options: SymbolFigureOptions = {},
): Promise<{ figures: SymbolFigures; note?: string }> {
  const { symbols: K, length } = run;
  const uses = { symbols: Int32Array.from(encoded.walks), length };
  const sentences = Array.from({ length: encoded.count }, (_, n) => encoded.sentence(n));
  const lists = meanings.map(({ words }) => words.slice(0, measuredWords).map(({ word }) => word));
  const { labels, note } = comparableLabels(sentences.map(({ label }) => label ?? undefined));
  const probabilities = linkProbabilities(run.model);
  const texts = sentences.map(({ text }) => text);
  const { nats, bound, toldApart } = walkInformation(uses.symbols, length, texts);
  const linked = linkedShare(uses, probabilities);
  const figures: SymbolFigures = {
    texts: encoded.count,
    ...wordFigures(textWords(texts), lists),
    ...(await wordVectorFigure(run, lists)),
    ...(labels ? labelFigures(labels, uses, K, coefficientsOf(sentences)) : {}),
    ...{ walk_information: nats, walk_information_bound: bound, told_apart: toldApart },
    ...linkFigures(probabilities, K),
    ...(linked === undefined ? {} : { linked_moves: linked }),
    ...(options.stability ? await stabilityFigure(run, options.signal) : {}),
  };
  storeFigures(run, { ...figures });
  return { figures, ...(note ? { note } : {}) };
}

/** How much of its text each step tells, where all walks know it. [N, L] */
function coefficientsOf(sentences: readonly EncodedSentence[]): number[] | undefined {
  const known = sentences.flatMap(({ weights }) => (weights ? [weights] : []));
  return known.length === sentences.length ? known.flat() : undefined;
}

function linkFigures(probabilities: ArrayLike<number>, K: number) {
  let links = 0;
  for (let i = 0; i < K; i++) for (let j = 0; j < i; j++) if (isLikely(probabilities[i * K + j]!)) links++;
  return { links, density: links / ((K * (K - 1)) / 2) };
}

/** Words as the run's own encoder places them. */
async function wordVectorFigure(run: OpenedRun, lists: readonly (readonly string[])[]) {
  if (run.kind !== 'language') return {};
  const words = [...new Set(lists.flat())];
  const vectorOf = rowsByWord(words, await run.texts.vectors(words));
  return { embedding_coherence: embeddingCoherence(lists, vectorOf).mean };
}

async function stabilityFigure(run: OpenedRun, signal?: AbortSignal) {
  if (run.kind !== 'language') return {};
  const found = await refitSymbols(run, signal ? { signal } : {});
  const [agreed] = found ? stability([found.before, found.after]) : [];
  return typeof agreed === 'number' ? { stability: agreed } : {};
}
