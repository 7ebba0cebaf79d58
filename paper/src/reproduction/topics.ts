import { stability } from '@hidden-schema/studies/measures/agreement';
import { npmiCoherence } from '@hidden-schema/studies/measures/coherence';
import { nameSymbols, partsFromTexts } from '@hidden-schema/studies/measures/symbol-names';
import { firstSymbols, type SymbolUses } from '@hidden-schema/studies/measures/symbol-uses';
import type { TextWords } from '@hidden-schema/studies/measures/text-words';
import { labelFigures, referenceWindow, wordFigures } from '@hidden-schema/studies/measures/topic-figures';
import { walkInformation } from '@hidden-schema/studies/measures/walk-information';
import { type Judge, type JudgedTexts, judgedFit } from '@hidden-schema/studies/symbols/judge';
import {
  type ComparedModel,
  fits,
  type RankedLists,
  rankedWords,
  type TopicFitOptions,
  type WordScore,
} from './topic-fits.ts';
import type { FittedTopics, TopicTask } from './topic-models.ts';
import { subsampledModels } from './topic-subsamples.ts';
import type { TopicCorpus } from './topic-texts.ts';

export interface TopicRow {
  model: ComparedModel;
  words: WordScore;
  seed: number;
  /** Topics that the model has. */
  topics: number;
  /** By the judge: fit of the first step, of all later ones, and of each; different symbols of a text. */
  fit?: number;
  fit_later?: number;
  fit_steps?: (number | null)[];
  symbols_per_text?: number;
  /** Mean cosine of the words' vectors by the judge; NPMI in windows of ten words of the reference corpus. */
  judge_coherence?: number | null;
  npmi_reference?: number | null;
  npmi: number | null;
  cv: number | null;
  diversity: number | null;
  /** Of first symbols with labels, where there are some. */
  nmi?: number;
  ami?: number;
  purity?: number;
  reader?: number;
  reader_weighed?: number;
  /** Mean AMI of first symbols with those of the other seeds. */
  stability?: number;
  /** Between fits of 80 % of the texts: NMI and ARI of first symbols of common texts, common words of matched topics. */
  subsample_nmi?: number;
  subsample_ari?: number;
  subsample_words?: number;
  /** Share of texts whose walk no other different text has; of walks alone. */
  toldApart?: number;
  linked?: number;
  seconds: number;
}

/** A symbol of the first seed, for people. */
interface ShownSymbol {
  symbol: number;
  name: string;
  words: string[];
  /** Of texts whose walk begins with it. */
  share: number;
}

export interface TopicResult {
  corpus: string;
  texts: number;
  vocabulary: number;
  labels: number;
  /** The encoder that judged, and how many of the texts it read. */
  judge?: string;
  judged_texts?: number;
  note?: string;
  rows: TopicRow[];
  /** Commonest first. */
  symbols: ShownSymbol[];
}

/** What measures models beside the texts that they are fitted to. */
export interface TopicMeasures {
  /** An encoder that took no part, and the texts as it has them. */
  judge?: { encoder: Judge; texts: JudgedTexts };
  /** Words of another corpus. */
  reference?: TextWords;
}

interface TopicOptions extends TopicFitOptions, TopicMeasures {
  seeds: number;
  /** Fits to so many random subsamples of 80 % of the texts, from two on. */
  subsamples?: number;
  onModel?: (model: ComparedModel, seed: number) => void;
}

/** Texts as the encoder has them: vectors [N, D], and tokens of each. */
type EncodedTexts = Pick<TopicTask, 'vectors' | 'tokens'>;

/** Symbols of a corpus and the topics of its peers, on the same texts, vectors and words. */
export async function compareTopics(
  corpus: TopicCorpus,
  encoded: EncodedTexts,
  options: TopicOptions,
): Promise<TopicResult> {
  const { matrix } = corpus;
  const notes = new Set(corpus.note ? [corpus.note] : []);
  const fitting = {
    ...options,
    onFailure: (model: ComparedModel, reason: string) =>
      notes.add(`${model} could not be fitted (${reason})`),
  };
  const inputs = { ...encoded, matrix, texts: corpus.texts };
  const rows: TopicRow[] = [];
  let symbols: ShownSymbol[] = [];
  const firsts = new Map<ComparedModel, Int32Array[]>();
  for (let seed = 0; seed < options.seeds; seed++)
    for await (const [model, fitted] of fits(inputs, fitting, seed)) {
      const ranked = rankedWords(fitted, matrix, {
        ...options,
        symbols: fitted.topics ?? options.symbols,
      });
      const shared = sharedFigures(corpus, fitted, options);
      for (const [score, lists] of ranked)
        rows.push({ model, words: score, seed, ...(await listFigures(corpus, lists, options)), ...shared });
      if (model === 'HSN' && seed === 0) symbols = shownSymbols(corpus, fitted.uses, ranked[0]![1]);
      firsts.set(model, [...(firsts.get(model) ?? []), firstSymbols(fitted.uses)]);
      options.onModel?.(model, seed);
    }
  addStability(rows, firsts);
  for (const [model, found] of await subsampledModels(inputs, fitting, options.subsamples ?? 0))
    for (const row of rows) if (row.model === model) Object.assign(row, found);
  const note = [...notes].join('; ');
  return { ...corpusFigures(corpus, options), ...(note ? { note } : {}), rows, symbols };
}

function corpusFigures({ name, texts, matrix, labels }: TopicCorpus, { judge }: TopicMeasures) {
  return {
    corpus: name,
    texts: texts.length,
    vocabulary: matrix.words.length,
    labels: new Set(labels?.filter((label) => label !== undefined)).size,
    ...(judge ? { judge: judge.encoder.name, judged_texts: judge.texts.rows.length } : {}),
  };
}

/** Figures of a model's words. */
async function listFigures(corpus: TopicCorpus, lists: RankedLists, { judge, reference }: TopicMeasures) {
  return {
    ...(judge ? { judge_coherence: (await judge.encoder.coherence(lists)).mean } : {}),
    ...(reference ? { npmi_reference: npmiCoherence(reference, lists, referenceWindow).mean } : {}),
    ...wordFigures(corpus.words, lists),
  };
}

/** Figures of a model's clusters or walks, whatever words are shown of them. */
function sharedFigures(
  corpus: TopicCorpus,
  fitted: FittedTopics,
  { symbols, judge }: Pick<TopicOptions, 'symbols' | 'judge'>,
) {
  const topics = fitted.topics ?? symbols;
  const { labels } = corpus;
  return {
    topics,
    ...(judge ? fitFigures(judge.texts, fitted.uses) : {}),
    ...(labels ? labelFigures(labels, fitted.uses, topics, fitted.coefficients) : {}),
    ...walkFigures(corpus, fitted),
  };
}

function fitFigures(texts: JudgedTexts, uses: SymbolUses) {
  const { steps, later, symbolsPerText } = judgedFit(texts, uses);
  const first = steps[0]?.fit ?? null;
  return {
    ...(first === null ? {} : { fit: first }),
    ...(later === null ? {} : { fit_later: later }),
    fit_steps: steps.map(({ fit }) => fit),
    symbols_per_text: symbolsPerText,
  };
}

function addStability(rows: readonly TopicRow[], firsts: ReadonlyMap<ComparedModel, Int32Array[]>): void {
  for (const [model, runs] of firsts)
    for (const [seed, ami] of stability(runs).entries())
      for (const row of rows)
        if (ami !== null && row.model === model && row.seed === seed) row.stability = ami;
}

function walkFigures({ texts }: TopicCorpus, { uses, coefficients, linked, seconds }: FittedTopics) {
  return {
    ...(coefficients ? { toldApart: walkInformation(uses.symbols, uses.length, texts).toldApart } : {}),
    ...(linked === undefined ? {} : { linked }),
    seconds,
  };
}

function shownSymbols(corpus: TopicCorpus, uses: SymbolUses, lists: RankedLists): ShownSymbol[] {
  const { symbols, length } = uses;
  const texts = symbols.length / length;
  const counts = new Array<number>(lists.length).fill(0);
  for (let at = 0; at < symbols.length; at += length) counts[symbols[at]!]!++;
  const names = nameSymbols(lists, partsFromTexts(lists, { texts: corpus.texts, uses }));
  return lists
    .map((words, symbol) => ({
      symbol,
      name: names[symbol]!,
      words: [...words],
      share: counts[symbol]! / texts,
    }))
    .sort((a, b) => b.share - a.share || a.symbol - b.symbol);
}
