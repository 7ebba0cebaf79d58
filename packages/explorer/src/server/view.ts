import { linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { type Adjacency, edgeList } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import { communitiesOf } from '@hidden-schema/studies/measures/communities';
import { walkedNetwork } from '@hidden-schema/studies/runs/network-drawing';
import { linkedSymbols, linksOf } from '@hidden-schema/studies/symbols/layout';
import type { Answer } from '../shared/api.ts';
import { clamp } from './close-reading.ts';
import { LEAST_PROBABILITY, type Link, MOST_LINKS } from './drawing.ts';

type SymbolAnswer = Omit<Answer<'symbol'>, 'identity'>;

/** What sentences tell of a symbol. */
export interface SymbolFacts
  extends Pick<SymbolAnswer, 'tokens' | 'words' | 'attended' | 'labels' | 'usage' | 'usageByPosition'> {
  /** By what it is called on the graph. */
  called: string[];
  examples: SymbolAnswer['examples'];
  /** With how often walks go there; where that was not counted, those that the graph links. */
  neighbours?: { symbol: number; probability: number; traversals: number }[];
}

/** What was found out about a run by reading some of its sentences. */
export interface Findings {
  /** One for each symbol. */
  symbols: readonly SymbolFacts[];
  /** Sentences that were read. */
  sample: number;
  /** Walks of those sentences, one after the other. */
  walks: ArrayLike<number>;
  /** Neighbours of a symbol that are told, at most. */
  neighbours: number;
  /** The true graph, where it is known. */
  truth?: Adjacency | undefined;
}

type NamesOf = ReadonlyMap<number, string>;

/** One checkpoint of a run as it is shown: everything that is worked out once. */
export class View {
  readonly step: number;
  readonly #findings: Findings;
  readonly #symbols: number;
  readonly #probabilities: Float64Array; // [K, K]
  readonly #links: Link[];
  readonly #near: { symbol: number; probability: number }[][];
  readonly #communities: number[];
  readonly #layout: number[];
  readonly #strengths: Answer<'graph'>['strengths'];

  constructor(run: OpenedRun, findings: Findings) {
    this.step = run.step;
    this.#findings = findings;
    this.#symbols = run.symbols;
    this.#probabilities = linkProbabilities(run.model);
    this.#links = linksOf(this.#probabilities, run.symbols, LEAST_PROBABILITY);
    this.#near = linkedSymbols(this.#links, run.symbols);
    const usage = Float64Array.from(findings.symbols, (symbol) => symbol.usage);
    this.#communities = communitiesOf(this.#links.slice(0, MOST_LINKS), usage);
    const { walks } = findings;
    const { strengths, layout } = walkedNetwork(
      { walks, symbols: run.symbols, length: run.length },
      this.#links,
    );
    this.#layout = Array.from(layout, (x) => Math.round(x * 1e5) / 1e5);
    this.#strengths = strengths
      .filter(({ interval }) => interval[0] > 1)
      .slice(0, MOST_LINKS)
      .map(({ i, j, flow, lift, interval }) => [i, j, flow, lift, interval[0]]);
  }

  /** Whether the true graph is known. */
  get hasTruth(): boolean {
    return this.#findings.truth !== undefined;
  }

  graph(names: NamesOf): Omit<Answer<'graph'>, 'identity'> {
    const { symbols, truth } = this.#findings;
    return {
      step: this.step,
      nodes: symbols.map(({ called, usage }, symbol) => ({
        ...{ symbol, name: names.get(symbol) ?? null, tokens: called },
        ...{ usage: clamp(usage), community: this.#communities[symbol]! },
      })),
      links: this.#links.slice(0, MOST_LINKS),
      linksLeftOut: Math.max(0, this.#links.length - MOST_LINKS),
      leastProbability: LEAST_PROBABILITY,
      strengths: this.#strengths,
      truth: truth ? edgeList(truth) : null,
      layout: this.#layout,
    };
  }

  symbol(k: number, names: NamesOf): SymbolAnswer {
    const { symbols, sample } = this.#findings;
    const { called: _, neighbours: __, usage, usageByPosition, ...facts } = symbols[k]!;
    return {
      ...{ symbol: k, name: names.get(k) ?? null, step: this.step, ...facts },
      usage: clamp(usage),
      usageByPosition: usageByPosition.map(clamp),
      community: this.#communities[k]!,
      neighbours: this.#neighbours(k, names),
      sample,
    };
  }

  /** Probability that two symbols are linked. */
  link(i: number, j: number): number {
    return clamp(this.#probabilities[i * this.#symbols + j]!);
  }

  #neighbours(k: number, names: NamesOf): SymbolAnswer['neighbours'] {
    const { symbols, neighbours: most } = this.#findings;
    const near = this.#near[k]!.map((other) => ({ ...other, traversals: null }));
    return (symbols[k]!.neighbours ?? near).slice(0, most).map(({ symbol, probability, traversals }) => ({
      ...{ symbol, name: names.get(symbol) ?? null, probability: clamp(probability), traversals },
      tokens: symbols[symbol]!.called,
    }));
  }
}
