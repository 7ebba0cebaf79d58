import { linkProbabilities } from '@hidden-schema/hsn';
import {
  type EncodedCorpus,
  encodedLabelMaps,
  type LabelMaps,
  type LanguageRun,
  runLayout,
  type SymbolMeaning,
} from '@hidden-schema/studies';
import type { Answer, Input } from '../shared/api.ts';
import { clamp } from './close-reading.ts';
import { communitiesOf, drawnLinks, LEAST_PROBABILITY, type Link } from './drawing.ts';

/** Words by which a symbol is called on the graph. */
const MOST_WORDS = 6;
/** Traversed links of a label that are sent. */
const MOST_TRAVERSED = 3000;

type NamesOf = ReadonlyMap<number, string>;

/** One checkpoint of a language run as it is shown: everything that is worked out once. */
export class LanguageView {
  readonly step: number;
  readonly #symbols: number;
  readonly #encoded: EncodedCorpus;
  readonly #meanings: readonly SymbolMeaning[];
  readonly #probabilities: Float64Array; // [K, K]
  readonly #links: { links: Link[]; leftOut: number };
  readonly #communities: number[];
  readonly #layout: number[];
  #maps: LabelMaps | undefined;

  constructor(run: LanguageRun, encoded: EncodedCorpus, meanings: readonly SymbolMeaning[]) {
    this.step = run.step;
    this.#symbols = run.symbols;
    this.#encoded = encoded;
    this.#meanings = meanings;
    this.#probabilities = linkProbabilities(run.model);
    this.#links = drawnLinks(this.#probabilities, run.symbols);
    const usage = Float64Array.from(meanings, (meaning) => meaning.usage);
    this.#communities = communitiesOf(run.symbols, this.#links.links, usage);
    this.#layout = Array.from(runLayout(run));
  }

  graph(names: NamesOf): Answer<'graph'> {
    return {
      step: this.step,
      nodes: this.#meanings.map(({ symbol, usage }) => ({
        symbol,
        name: names.get(symbol) ?? null,
        tokens: this.#words(symbol),
        usage: clamp(usage),
        community: this.#communities[symbol]!,
      })),
      links: this.#links.links,
      linksLeftOut: this.#links.leftOut,
      leastProbability: LEAST_PROBABILITY,
      truth: null,
      layout: this.#layout,
    };
  }

  symbol(k: number, names: NamesOf): Answer<'symbol'> {
    const { usage, usageByPosition, words, attended, labels, neighbours, examples } = this.#meanings[k]!;
    return {
      ...{ symbol: k, name: names.get(k) ?? null, step: this.step, tokens: [], words, attended, labels },
      usage: clamp(usage),
      usageByPosition: usageByPosition.map(clamp),
      community: this.#communities[k]!,
      neighbours: neighbours.map(({ symbol, probability, traversals }) => ({
        ...{ symbol, probability: clamp(probability), traversals, tokens: this.#words(symbol) },
        name: names.get(symbol) ?? null,
      })),
      examples: examples.map(({ index, text, label, walk, positions }) => {
        const { split } = this.#encoded.sentence(index);
        return { split, index, text, tokens: null, label, walk, positions };
      }),
      sample: this.#encoded.count,
    };
  }

  /** Probability that two symbols are linked. */
  link(i: number, j: number): number {
    return clamp(this.#probabilities[i * this.#symbols + j]!);
  }

  labels(): Answer<'labels'> {
    this.#maps ??= encodedLabelMaps(this.#encoded);
    const { maps, divergence, edgeDivergence } = this.#maps;
    return {
      step: this.step,
      encoded: this.#encoded.count,
      maps: maps.map(({ label, sentences, nodes, edges, typical }) => ({
        ...{ label, sentences, typical },
        nodes: Array.from(nodes, clamp),
        links: edges
          .slice(0, MOST_TRAVERSED)
          .map(({ i, j, share }): [number, number, number] => [i, j, clamp(share)]),
      })),
      divergence,
      linkDivergence: edgeDivergence,
    };
  }

  encoded({ offset, limit, symbol, label }: Input<'encoded'>): Answer<'encoded'> {
    const of = { ...(symbol === undefined ? {} : { symbol }), ...(label === undefined ? {} : { label }) };
    const { total, sentences } = this.#encoded.page(offset, limit, of);
    const { count, total: corpus } = this.#encoded;
    return { step: this.step, offset, total, encoded: count, corpus, sentences };
  }

  nearest({ walk, limit }: Input<'nearest'>): Answer<'nearest'> {
    const found = this.#encoded.nearest(walk, { limit });
    const sentences = found.map(({ sentence, shared, common }) => ({ ...sentence, shared, common }));
    return { step: this.step, encoded: this.#encoded.count, sentences };
  }

  #words(k: number): string[] {
    return this.#meanings[k]!.words.slice(0, MOST_WORDS).map(({ word }) => word);
  }
}
