import {
  linkProbabilities,
  type OpenedReasoning,
  openTuples,
  type Tuple,
  TupleWalks,
} from '@hidden-schema/hsn';
import { type LabelMaps, labelMaps, layoutGraph, SymbolTally, wordsOf } from '@hidden-schema/studies';
import type { Answer } from '../shared/api.ts';
import { clamp } from './close-reading.ts';
import { communitiesOf, drawnLinks, LEAST_PROBABILITY, type Link } from './drawing.ts';

/** Tuples that are read to find usage, words and examples. */
const SAMPLE = 1500;
const MOST_WORDS = 12;
const NAMING_WORDS = 6;
const MOST_EXAMPLES = 8;
const MOST_NEIGHBOURS = 20;
const DRAWN = 0.1;

interface ReadTuple extends Tuple {
  walk: number[];
}

/** Walks of test tuples; none where the tuples are gone. */
export async function readTuplesOf(opened: OpenedReasoning): Promise<{ read: ReadTuple[]; notes: string[] }> {
  try {
    const { corpus, tokens, notes } = await openTuples(opened);
    const rows = Int32Array.from(corpus.splits.test.slice(0, SAMPLE));
    const walks = new TupleWalks(opened.model, tokens);
    try {
      const found = walks.whole(rows, 'best');
      return { read: found.map((walk, at) => ({ ...corpus.table.tuple(rows[at]!), walk })), notes };
    } finally {
      walks.free();
    }
  } catch (error) {
    return { read: [], notes: [(error as Error).message] };
  }
}

type NamesOf = ReadonlyMap<number, string>;

/** One checkpoint of a network over tuples as it is shown; relations take the place of labels. */
export class ReasoningView {
  readonly step: number;
  readonly #read: readonly ReadTuple[];
  readonly #relations: readonly string[];
  readonly #symbols: number;
  readonly #length: number;
  readonly #tally: SymbolTally;
  readonly #probabilities: Float64Array; // [K, K]
  readonly #links: { links: Link[]; leftOut: number };
  readonly #communities: number[];
  readonly #layout: number[];
  #maps: LabelMaps | undefined;

  constructor({ model, config, relations, step }: OpenedReasoning, read: readonly ReadTuple[]) {
    this.step = step;
    this.#read = read;
    this.#relations = relations;
    this.#symbols = config.symbols;
    this.#length = config.length;
    this.#tally = new SymbolTally(config.symbols, config.length, relations.length);
    for (const { walk, relation, head, object } of read) {
      const words = wordsOf(`${head} ${object}`).map(({ word }) => word);
      this.#tally.add(walk, relations.indexOf(relation), new Set(words));
    }
    this.#probabilities = linkProbabilities(model);
    this.#links = drawnLinks(this.#probabilities, config.symbols);
    const usage = Float64Array.from({ length: config.symbols }, (_, k) => this.#tally.usage(k).usage);
    this.#communities = communitiesOf(config.symbols, this.#links.links, usage);
    const drawn = this.#links.links.filter(([, , p]) => p >= DRAWN);
    this.#layout = Array.from(layoutGraph(config.symbols, drawn));
  }

  graph(names: NamesOf): Answer<'graph'> {
    const nodes = Array.from({ length: this.#symbols }, (_, symbol) => ({
      ...{ symbol, name: names.get(symbol) ?? null, tokens: this.#words(symbol) },
      ...{ usage: clamp(this.#tally.usage(symbol).usage), community: this.#communities[symbol]! },
    }));
    const { links, leftOut: linksLeftOut } = this.#links;
    const { step } = this;
    const layout = this.#layout;
    return { step, nodes, links, linksLeftOut, leastProbability: LEAST_PROBABILITY, truth: null, layout };
  }

  symbol(k: number, names: NamesOf): Answer<'symbol'> {
    const { usage, usageByPosition } = this.#tally.usage(k);
    const labels = this.#tally
      .labels(k)
      .map(({ label, ...rest }) => ({ label: this.#relations[label]!, ...rest }));
    return {
      ...{ symbol: k, name: names.get(k) ?? null, step: this.step, tokens: [], attended: [], labels },
      words: this.#tally.words(k, MOST_WORDS),
      usage: clamp(usage),
      usageByPosition: usageByPosition.map(clamp),
      community: this.#communities[k]!,
      neighbours: this.#neighbours(k, names),
      examples: this.#examples(k),
      sample: this.#read.length,
    };
  }

  /** Maps of the relations, as of labels. */
  labels(): Answer<'labels'> {
    this.#maps ??= labelMaps(
      this.#read.flatMap(({ walk }) => walk),
      this.#length,
      this.#symbols,
      this.#read.map(({ relation }) => this.#relations.indexOf(relation)),
      this.#relations,
    );
    const { maps, divergence, edgeDivergence: linkDivergence } = this.#maps;
    const shown = maps.map(({ label, sentences, nodes, edges, typical }) => ({
      ...{ label, sentences, typical, nodes: Array.from(nodes, clamp) },
      links: edges.map(({ i, j, share }): [number, number, number] => [i, j, clamp(share)]),
    }));
    return { step: this.step, encoded: this.#read.length, maps: shown, divergence, linkDivergence };
  }

  #words(k: number): string[] {
    return this.#tally.words(k, NAMING_WORDS).map(({ word }) => word);
  }

  #neighbours(k: number, names: NamesOf): Answer<'symbol'>['neighbours'] {
    return this.#links.links
      .filter(([i, j]) => i === k || j === k)
      .slice(0, MOST_NEIGHBOURS)
      .map(([i, j, probability]) => {
        const symbol = i === k ? j : i;
        const name = names.get(symbol) ?? null;
        return { symbol, name, probability, tokens: this.#words(symbol), traversals: null };
      });
  }

  #examples(k: number): Answer<'symbol'>['examples'] {
    const passing = this.#read
      .map((tuple, index) => ({ tuple, index }))
      .filter(({ tuple }) => tuple.walk.includes(k));
    return passing.slice(0, MOST_EXAMPLES).map(({ tuple: { head, relation, object, walk }, index }) => ({
      ...{ split: 'test' as const, index, text: `${head} → ${object}`, tokens: null, label: relation, walk },
      positions: walk.flatMap((symbol, at) => (symbol === k ? [at] : [])),
    }));
  }
}
