import { divergenceMatrix, shares } from './divergence.ts';
import { stepWeights } from './symbol-uses.ts';

/** A symbol's part in a label. */
export interface TypicalSymbol {
  symbol: number;
  /** Share of the label's steps, by their weight. */
  share: number;
  /** Times its share over all labels. */
  lift: number;
  /** share · log₂ lift: its part of KL[label; all], in bits. */
  weight: number;
}

/** Where the walks of a label's sentences go: a schema distribution. */
export interface LabelMap {
  label: string;
  sentences: number;
  /** Share of what walks say that each symbol has, steps by their weight. [K] */
  nodes: Float64Array;
  /** Shares of moves along undirected links, i < j, most used first. */
  edges: { i: number; j: number; share: number }[];
  /** Symbols that speak most for this label, by weight. */
  typical: TypicalSymbol[];
}

/** Where on the graph the texts of each label walk. */
export interface LabelMaps {
  all: LabelMap;
  /** One for each label that has sentences. */
  maps: LabelMap[];
  /** Jensen–Shannon divergence between labels over symbols, in bits. */
  divergence: number[][];
  /** The same over links. */
  edgeDivergence: number[][];
}

const mostTypical = 10;

/** Walks of texts with the labels that these have. */
export interface LabelledWalks {
  /** [N, L] */
  walks: ArrayLike<number>;
  /** K and L. */
  symbols: number;
  length: number;
  labels: readonly string[];
  /** Number of each walk's label, −1 for none. [N] */
  labelOf: ArrayLike<number>;
  /** How much each step counts (`stepWeights`); by the walk alone unless given. [N, L] */
  weights?: ArrayLike<number> | undefined;
}

/** Schema distributions of walks for each label (Section 5, appendix F.3). */
export function labelMaps(labelled: LabelledWalks): LabelMaps {
  const { length, symbols, labelOf, labels } = labelled;
  const everything = new Tally(symbols);
  const each = labels.map(() => new Tally(symbols));
  for (let n = 0; n < labelOf.length; n++) {
    const walk = Array.from({ length }, (_, i) => labelled.walks[n * length + i]!);
    const weights = labelled.weights
      ? walk.map((_, i) => labelled.weights![n * length + i]!)
      : stepWeights(walk);
    everything.add(walk, weights);
    each[labelOf[n]!]?.add(walk, weights);
  }
  const all = everything.map('all');
  const counted = each.flatMap((tally, at) => (tally.sentences > 0 ? [tally.map(labels[at]!, all)] : []));
  const keys = [...everything.edges.keys()];
  const edges = each
    .filter(({ sentences }) => sentences > 0)
    .map((tally) => shares(keys.map((key) => tally.edges.get(key) ?? 0)));
  return {
    all,
    maps: counted,
    divergence: divergenceMatrix(counted.map(({ nodes }) => nodes)),
    edgeDivergence: divergenceMatrix(edges),
  };
}

/** Counts of one label. */
class Tally {
  readonly symbols: number;
  readonly nodes: Float64Array;
  /** i·K + j with i < j → weight of moves. */
  readonly edges = new Map<number, number>();
  sentences = 0;

  constructor(symbols: number) {
    this.symbols = symbols;
    this.nodes = new Float64Array(symbols);
  }

  add(walk: readonly number[], weights: readonly number[]): void {
    this.sentences++;
    for (const [i, here] of walk.entries()) {
      const weight = weights[i]!;
      this.nodes[here]! += weight;
      const before = walk[i - 1];
      if (before === undefined || before === here || weight === 0) continue;
      const key = Math.min(before, here) * this.symbols + Math.max(before, here);
      this.edges.set(key, (this.edges.get(key) ?? 0) + weight);
    }
  }

  map(label: string, all?: LabelMap): LabelMap {
    const nodes = shares(this.nodes);
    const moves = [...this.edges.values()].reduce((sum, count) => sum + count, 0);
    const edges = [...this.edges]
      .map(([key, count]) => {
        return { i: Math.floor(key / this.symbols), j: key % this.symbols, share: count / moves };
      })
      .sort((a, b) => b.share - a.share || a.i - b.i || a.j - b.j);
    return { label, sentences: this.sentences, nodes, edges, typical: typicalOf(nodes, all?.nodes ?? nodes) };
  }
}

function typicalOf(nodes: Float64Array, all: Float64Array): TypicalSymbol[] {
  const found: TypicalSymbol[] = [];
  nodes.forEach((share, symbol) => {
    if (share === 0) return;
    const lift = share / all[symbol]!;
    found.push({ symbol, share, lift, weight: share * Math.log2(lift) });
  });
  return found.sort((a, b) => b.weight - a.weight || a.symbol - b.symbol).slice(0, mostTypical);
}
