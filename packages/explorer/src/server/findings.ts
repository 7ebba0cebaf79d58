import type { ReasoningRun, SyntheticRun } from '@hidden-schema/hsn/open';
import type { CorpusSplit } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import type { SplitName } from '@hidden-schema/hsn/tasks/synthetic/corpus/writer';
import { type SyntheticNetwork, tokensFrom } from '@hidden-schema/hsn/tasks/synthetic/network';
import type { LabelledWalks } from '@hidden-schema/studies/measures/label-maps';
import type { WalkExplainer } from '@hidden-schema/studies/reasoning/explanation';
import type { SymbolMeaning } from '@hidden-schema/studies/symbols/meaning';
import { SymbolTally } from '@hidden-schema/studies/symbols/symbol-tally';
import type { EncodedCorpus } from '@hidden-schema/studies/texts/encoded';
import type { RunCorpus } from '@hidden-schema/studies/texts/run-corpus';
import { wordsOf } from '@hidden-schema/studies/texts/words';
import { scope, stack, withoutGrad } from '@hidden-schema/torch';
import type { Answer } from '../shared/api.ts';
import { clamp } from './close-reading.ts';
import type { Findings } from './view.ts';

// Shapes: N sentences, L steps, K symbols.

type Example = Omit<Answer<'symbol'>['examples'][number], 'positions'>;

/** The first sentences whose walks pass a symbol. */
function passing(read: readonly Example[], k: number, most: number): Answer<'symbol'>['examples'] {
  return read
    .filter(({ walk }) => walk.includes(k))
    .slice(0, most)
    .map((one) => ({ ...one, positions: one.walk.flatMap((symbol, i) => (symbol === k ? [i] : [])) }));
}

/** Words by which a symbol is called on the graph. */
const NAMING_WORDS = 6;
const called = (words: readonly { word: string }[]): string[] =>
  words.slice(0, NAMING_WORDS).map(({ word }) => word);

/** Of texts: what the encoded sentences mean. */
export function textFindings(encoded: EncodedCorpus, meanings: readonly SymbolMeaning[]): Findings {
  const symbols = meanings.map(
    ({ usage, usageByPosition, words, attended, labels, neighbours, examples }) => ({
      ...{ tokens: [], words, attended, labels, usage, usageByPosition, neighbours, called: called(words) },
      examples: examples.map(({ index, text, label, walk, positions }) => {
        const { split } = encoded.sentence(index);
        return { split, index, text, tokens: null, label, walk, positions };
      }),
    }),
  );
  return { symbols, sample: encoded.count, walks: encoded.walks, neighbours: 20 };
}

/** Tuples that are read to find usage, words and examples. */
const TUPLES = 1500;
const MOST_WORDS = 12;
const TUPLE_EXAMPLES = 8;

/**
 * Of tuples: those of the test split, none where they are gone; relations take the place of labels. Symbols are called by
 * what their training walks tell, where these are known.
 */
export async function tupleFindings(
  run: ReasoningRun,
  corpus: RunCorpus,
  explainer: WalkExplainer | undefined,
): Promise<{ findings: Findings; labelled: LabelledWalks }> {
  const { symbols: K, length, labels } = run;
  const count = Math.min(TUPLES, corpus.counts.test);
  const tuples = Array.from({ length: count }, (_, at) => corpus.sentence('test', at));
  const { walks } = await run.texts.read(tuples.map(({ text }) => text));
  const tally = new SymbolTally(K, length, labels.length);
  const read = tuples.map(({ text, label }, index): Example => {
    const [head, , object] = text.split('\t');
    const { walk } = walks[index]!;
    tally.add({ walk }, label, new Set(wordsOf(`${head} ${object}`).map(({ word }) => word)));
    const shown = { text: `${head} → ${object}`, tokens: null, label: labels[label]! };
    return { split: 'test', index, ...shown, walk };
  });
  const symbols = Array.from({ length: K }, (_, k) => {
    const words = tally.words(k, MOST_WORDS);
    const { usage, usageByPosition } = tally.usage(k);
    return {
      ...{ tokens: [], words, attended: [], usage, usageByPosition },
      called: explainer ? [...explainer.words(k)] : called(words),
      labels: tally.labels(k).map(({ label, ...rest }) => ({ label: labels[label]!, ...rest })),
      examples: passing(read, k, TUPLE_EXAMPLES),
    };
  });
  const labelOf = tuples.map(({ label }) => label);
  const steps = read.flatMap(({ walk }) => walk);
  const labelled = { walks: steps, symbols: K, length, labels, labelOf };
  return { findings: { symbols, sample: count, walks: steps, neighbours: 20 }, labelled };
}

/** Sentences of a synthetic language that are read to find usage and examples. */
const SENTENCES = 2000;
const TOKEN_EXAMPLES = 12;

/** Of a synthetic language: what symbols emit, and how probable they are in its sentences. */
export function tokenFindings(run: SyntheticRun, corpus: RunCorpus): Findings {
  const { model, symbols: K, length: L } = run;
  const split: SplitName = corpus.counts.test > 0 ? 'test' : 'train';
  const { walks, byPosition } = readSample(model, run.corpus.splits[split], SENTENCES);
  const read = walks.map((walk, index): Example => {
    const { text } = corpus.sentence(split, index);
    return { split, index, text, tokens: text.split(' '), label: null, walk };
  });
  const symbols = symbolTokens(model, run.corpus.vocabulary).map((tokens, k) => {
    const usageByPosition = Array.from({ length: L }, (_, i) => byPosition[i * K + k]!);
    return {
      ...{ tokens, words: [], attended: [], labels: [], called: tokens.map(({ token }) => token) },
      usage: clamp(usageByPosition.reduce((sum, p) => sum + p / L, 0)),
      usageByPosition,
      examples: passing(read, k, TOKEN_EXAMPLES),
    };
  });
  return { symbols, sample: walks.length, walks: walks.flat(), neighbours: 50, truth: run.corpus.truth };
}

/** Numbers in the largest tensor of a chunk. */
const CHUNK_NUMBERS = 4_000_000;

/** The most probable walks, and the mean probability of each symbol at each position [L, K]. */
function readSample(model: SyntheticNetwork, split: CorpusSplit, limit: number) {
  const { length: L, symbols: K } = model.shape;
  const sentences = Math.min(limit, split.count);
  const chunk = Math.max(1, Math.min(500, Math.floor(CHUNK_NUMBERS / (L * K))));
  const walks: number[][] = [];
  const byPosition = new Float64Array(L * K);
  model.train(false);
  withoutGrad(() => {
    const graph = model.expectedGraph();
    for (let first = 0; first < sentences; first += chunk) {
      const count = Math.min(chunk, sentences - first);
      const sums = scope(() => {
        const posterior = model.encode({ tokens: tokensFrom(split, L, first, count) }, graph);
        walks.push(...posterior.best().map(({ walk }) => walk));
        return stack(posterior.marginals(), 1).sum(0).toNumbers(); // [N, L, K] → [L, K]
      });
      for (const [at, sum] of sums.entries()) byPosition[at]! += sum / sentences;
    }
  });
  return { walks, byPosition };
}

const MOST_TOKENS = 12;
/** Of the most probable token's probability; less is noise. */
const TOKEN_SHARE = 0.25;

/** The tokens that a symbol most probably emits. */
function symbolTokens(model: SyntheticNetwork, vocabulary: readonly string[]) {
  const most = Math.min(MOST_TOKENS, vocabulary.length);
  const { p, v } = withoutGrad(() => {
    const { values, indices } = model.decoder.probabilities().topk(most);
    return { p: values.toNumbers(), v: indices.toNumbers() };
  });
  return Array.from({ length: model.shape.symbols }, (_, k) => {
    const shares = Array.from({ length: most }, (__, rank) => ({
      token: vocabulary[v[k * most + rank]!]!,
      probability: clamp(p[k * most + rank]!),
    }));
    return shares.filter(({ probability }) => probability >= TOKEN_SHARE * shares[0]!.probability);
  });
}
