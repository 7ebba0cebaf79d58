import {
  edgeList,
  linkProbabilities,
  type OpenedModel,
  type SyntheticCorpus,
  type SyntheticNetwork,
  type WalkableGraph,
} from '@hidden-schema/hsn';
import { runLayout, runOf } from '@hidden-schema/studies';
import type { Answer } from '../shared/api.ts';
import { clamp, quietly } from './close-reading.ts';
import { communitiesOf, drawnLinks, LEAST_PROBABILITY, type Link } from './drawing.ts';
import { type Reading, readSample } from './synthetic-reading.ts';

/** Sentences that are read to find usage and examples. */
const SAMPLE = 2000;
const MOST_EXAMPLES = 12;
const MOST_NEIGHBOURS = 50;
const MOST_TOKENS = 12;
/** Of the most probable token's probability; less is noise. */
const TOKEN_SHARE = 0.25;

type NamesOf = ReadonlyMap<number, string>;
type TokenShare = { token: string; probability: number };

/** One checkpoint as it is shown: everything that is worked out once. */
export class View {
  readonly step: number;
  readonly #corpus: SyntheticCorpus;
  readonly #symbols: number;
  readonly #probabilities: Float64Array; // [K, K]
  readonly #links: Link[];
  readonly #leftOut: number;
  readonly #tokens: TokenShare[][];
  readonly #reading: Reading;
  readonly #split: 'test' | 'train';
  readonly #usage: Float64Array; // [K]
  readonly #communities: number[];
  readonly #layout: number[];

  constructor(opened: OpenedModel, graph: WalkableGraph) {
    const { model, corpus, step } = opened;
    this.step = step;
    this.#corpus = corpus;
    this.#symbols = model.shape.symbols;
    this.#probabilities = linkProbabilities(model);
    const { links, leftOut } = drawnLinks(this.#probabilities, this.#symbols);
    this.#links = links;
    this.#leftOut = leftOut;
    this.#tokens = symbolTokens(model, corpus.vocabulary);
    this.#split = corpus.splits.test.count > 0 ? 'test' : 'train';
    this.#reading = readSample(model, graph, corpus.splits[this.#split], SAMPLE);
    this.#usage = meanOverPositions(this.#reading.byPosition, this.#symbols);
    this.#communities = communitiesOf(this.#symbols, links, this.#usage);
    this.#layout = Array.from(runLayout(runOf(opened)));
  }

  graph(names: NamesOf): Answer<'graph'> {
    const nodes = this.#tokens.map((tokens, symbol) => ({
      symbol,
      name: names.get(symbol) ?? null,
      tokens: tokens.map(({ token }) => token),
      usage: this.#usage[symbol]!,
      community: this.#communities[symbol]!,
    }));
    return {
      step: this.step,
      nodes,
      links: this.#links,
      linksLeftOut: this.#leftOut,
      leastProbability: LEAST_PROBABILITY,
      truth: this.#corpus.truth ? edgeList(this.#corpus.truth) : null,
      layout: this.#layout,
    };
  }

  symbol(k: number, names: NamesOf): Answer<'symbol'> {
    const K = this.#symbols;
    const { byPosition, sentences } = this.#reading;
    return {
      symbol: k,
      name: names.get(k) ?? null,
      step: this.step,
      tokens: this.#tokens[k]!,
      words: [],
      attended: [],
      labels: [],
      usage: this.#usage[k]!,
      usageByPosition: Array.from({ length: this.#corpus.length }, (_, i) => clamp(byPosition[i * K + k]!)),
      community: this.#communities[k]!,
      neighbours: this.#neighbours(k, names),
      examples: this.#examples(k),
      sample: sentences,
    };
  }

  /** Probability that two symbols are linked. */
  link(i: number, j: number): number {
    return clamp(this.#probabilities[i * this.#symbols + j]!);
  }

  #neighbours(k: number, names: NamesOf): Answer<'symbol'>['neighbours'] {
    const all = Array.from({ length: this.#symbols }, (_, j) => ({
      symbol: j,
      probability: this.link(k, j),
    }));
    return all
      .filter(({ probability }) => probability >= LEAST_PROBABILITY)
      .sort((a, b) => b.probability - a.probability || a.symbol - b.symbol)
      .slice(0, MOST_NEIGHBOURS)
      .map(({ symbol, probability }) => ({
        symbol,
        name: names.get(symbol) ?? null,
        probability,
        tokens: this.#tokens[symbol]!.map(({ token }) => token),
        traversals: null,
      }));
  }

  #examples(k: number): Answer<'symbol'>['examples'] {
    const { walks, sentences } = this.#reading;
    const { length: L, vocabulary, splits } = this.#corpus;
    const found: Answer<'symbol'>['examples'] = [];
    for (let n = 0; n < sentences && found.length < MOST_EXAMPLES; n++) {
      const walk = Array.from(walks.subarray(n * L, (n + 1) * L));
      const positions = walk.flatMap((symbol, i) => (symbol === k ? [i] : []));
      if (positions.length === 0) continue;
      const numbers = splits[this.#split].tokens.subarray(n * L, (n + 1) * L);
      const tokens = Array.from(numbers, (token) => vocabulary[token]!);
      const text = tokens.join(' ');
      found.push({ split: this.#split, index: n, text, tokens, label: null, walk, positions });
    }
    return found;
  }
}

/** The tokens that a symbol most probably emits. */
function symbolTokens(model: SyntheticNetwork, vocabulary: readonly string[]): TokenShare[][] {
  const most = Math.min(MOST_TOKENS, vocabulary.length);
  const { p, v } = quietly(() => {
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

function meanOverPositions(byPosition: Float64Array, symbols: number): Float64Array {
  const mean = new Float64Array(symbols);
  const positions = byPosition.length / symbols;
  for (const [at, value] of byPosition.entries()) mean[at % symbols]! += value / positions;
  return mean.map(clamp);
}
