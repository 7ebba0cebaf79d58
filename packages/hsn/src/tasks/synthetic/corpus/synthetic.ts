import { Random, UserError } from '@hidden-schema/base';
import { type Fault, faultMessage, splitFaults, wholeNumberFault } from './faults.ts';
import { type GraphModel, graphFaults, type RandomGraph, randomGraph, UniformWalk } from './graphs.ts';

/** Train, valid and test shares, in any unit. */
export type Split = [train: number, valid: number, test: number];

/** What any corpus on a hidden graph is drawn from. */
export interface DrawSettings {
  graph: GraphModel['kind'];
  graphOptions: GraphModel['options'];
  nodes: number;
  length: number;
  sentences: number;
  split: Split;
  seed: number;
}

/** What a synthetic language is drawn from (the paper's section 4 and appendix E.1). */
export interface SyntheticSettings extends DrawSettings {
  tokens: number;
  bag: number;
  disjoint: boolean;
}

/** The paper's Erdős settings, except that the graph is a Barabási-Albert one. */
export const SYNTHETIC_DEFAULTS: SyntheticSettings = {
  graph: 'barabasi',
  graphOptions: {},
  nodes: 100,
  tokens: 1000,
  bag: 2,
  disjoint: false,
  length: 10,
  sentences: 100_000,
  split: [70, 20, 10],
  seed: 1,
};

/** A graph with a bag of tokens at each node; a bag's tokens are equally likely. */
export interface SyntheticLanguage extends RandomGraph {
  vocabulary: string[];
  bag: number;
  /** Token numbers, row-major [nodes, bag]. */
  bags: Int32Array;
}

const LETTERS = 26;
export const MOST_TOKENS = LETTERS ** 3;

/** Random streams of one seed: more sentences or other bags leave the graph as it is. */
const STREAM = { graph: 1, tokens: 2, bags: 3, sentences: 4 };

/** Every fault of the settings; empty when a corpus can be drawn. */
export function syntheticFaults(settings: SyntheticSettings): Fault[] {
  const { nodes, tokens, bag, length, sentences, seed } = settings;
  const faults = [
    ...graphFaults(settings.graph, nodes, settings.graphOptions),
    ...wholeNumberFault('tokens', tokens, 1, MOST_TOKENS),
    ...wholeNumberFault('length', length, 2, 100_000),
    ...wholeNumberFault('sentences', sentences, 1, 1_000_000_000),
    ...wholeNumberFault('seed', seed, 0, Number.MAX_SAFE_INTEGER),
  ];
  if (!Number.isInteger(bag) || bag < 1)
    faults.push({ setting: 'bag', text: `expected a whole number of at least 1, got ${bag}` });
  else if (faults.every((fault) => fault.setting !== 'tokens' && fault.setting !== 'nodes'))
    faults.push(...bagFaults(settings));

  faults.push(...splitFaults(settings.split, '70,20,10'));
  return faults;
}

function bagFaults({ nodes, tokens, bag, disjoint }: SyntheticSettings): Fault[] {
  if (bag > tokens)
    return [{ setting: 'bag', text: `a bag of ${bag} needs at least as many tokens, got ${tokens}` }];
  if (disjoint && nodes * bag > tokens) {
    const text = `${nodes} nodes with ${bag} tokens each need ${nodes * bag} tokens, got ${tokens}; raise tokens or let bags share them`;
    return [{ setting: 'disjoint', text }];
  }
  const sets = subsetCount(tokens, bag);
  if (sets >= nodes) return [];
  const text = `${tokens} tokens make only ${sets} different bags of ${bag}, fewer than the ${nodes} nodes; raise tokens`;
  return [{ setting: 'tokens', text }];
}

/** Binomial coefficient; a float is enough to compare with the number of nodes. */
function subsetCount(n: number, k: number): number {
  let count = 1;
  for (let i = 1; i <= Math.min(k, n - k); i++) count = (count * (n - i + 1)) / i;
  return Math.round(count);
}

/** Draws the graph, the vocabulary and the bags. */
export function drawLanguage(settings: SyntheticSettings): SyntheticLanguage {
  const faults = syntheticFaults(settings);
  if (faults.length > 0) throw new UserError(faultMessage(faults));
  const { graph, nodes, graphOptions, seed, tokens, bag } = settings;
  const drawn = randomGraph(graph, nodes, graphOptions, new Random(seed, STREAM.graph));
  const vocabulary = drawTokens(tokens, new Random(seed, STREAM.tokens));
  const bags = settings.disjoint ? disjointBags(settings) : sharedBags(settings);
  return { ...drawn, vocabulary, bag, bags };
}

/** Distinct random 3-tuples of Latin letters. */
function drawTokens(count: number, random: Random): string[] {
  const codes = random.shuffle(Uint16Array.from({ length: MOST_TOKENS }, (_, code) => code));
  const letter = (value: number) => String.fromCharCode(65 + (value % LETTERS));
  return Array.from(
    codes.subarray(0, count),
    (code) => letter(code) + letter(Math.floor(code / LETTERS)) + letter(Math.floor(code / LETTERS ** 2)),
  );
}

function disjointBags({ nodes, bag, tokens, seed }: SyntheticSettings): Int32Array {
  const order = new Random(seed, STREAM.bags).shuffle(
    Int32Array.from({ length: tokens }, (_, token) => token),
  );
  return order.slice(0, nodes * bag);
}

/** Bags may share tokens, but no two are the same set: such nodes could not be told apart by any reader. */
function sharedBags({ nodes, bag, tokens, seed }: SyntheticSettings): Int32Array {
  const random = new Random(seed, STREAM.bags);
  const bags = new Int32Array(nodes * bag);
  const pool = Int32Array.from({ length: tokens }, (_, token) => token);
  const seen = new Set<string>();
  for (let node = 0; node < nodes; ) {
    for (let i = 0; i < bag; i++) {
      const j = i + random.int(tokens - i);
      const held = pool[i]!;
      pool[i] = pool[j]!;
      pool[j] = held;
    }
    const drawn = pool.slice(0, bag);
    const key = drawn.toSorted().join(' ');
    if (seen.has(key)) continue;
    seen.add(key);
    bags.set(drawn, bag * node++);
  }
  return bags;
}

export interface Sentences {
  count: number;
  /** Token numbers, row-major [count, length]. */
  tokens: Int32Array;
  /** The nodes walked, row-major [count, length]. */
  walks: Int32Array;
}

/** Uniform random walks and a token from the bag of each node passed. */
export class SentenceSampler {
  readonly #language: SyntheticLanguage;
  readonly #length: number;
  readonly #random: Random;
  readonly #walk: UniformWalk;

  constructor(language: SyntheticLanguage, settings: SyntheticSettings) {
    this.#language = language;
    this.#length = settings.length;
    this.#random = new Random(settings.seed, STREAM.sentences);
    this.#walk = new UniformWalk(language.adjacency, this.#random);
  }

  next(count: number): Sentences {
    const { bag, bags } = this.#language;
    const walks = new Int32Array(count * this.#length);
    const tokens = new Int32Array(count * this.#length);
    let node = 0;
    for (let at = 0; at < walks.length; at++) {
      node = at % this.#length === 0 ? this.#walk.start() : this.#walk.after(node);
      walks[at] = node;
      tokens[at] = bags[node * bag + this.#random.int(bag)]!;
    }
    return { count, tokens, walks };
  }
}

/** Sentences per split: shares of the whole, rounded by largest remainder so that they add up. */
export function splitCounts(sentences: number, split: Split): Split {
  const total = split[0] + split[1] + split[2];
  const exact = split.map((share) => (sentences * share) / total);
  const counts = exact.map(Math.floor);
  const order = [0, 1, 2].sort((a, b) => exact[b]! - counts[b]! - (exact[a]! - counts[a]!) || a - b);
  let left = sentences - counts.reduce((sum, count) => sum + count, 0);
  for (const part of order) if (left-- > 0) counts[part]!++;
  // Training needs at least one sentence; rounding may have given the only one away.
  if (counts[0] === 0) {
    counts[counts[1]! > 0 ? 1 : 2]!--;
    counts[0] = 1;
  }
  return counts as Split;
}
