import type { JsonValue } from '@hidden-schema/base';
import { Generator, noGrad, scope, Tensor, type TensorOptions } from '@hidden-schema/torch';
import type { SyntheticConfig } from '../../config/network.ts';
import { BagDecoder } from '../../decoder/bag.ts';
import { TransformerEncoder } from '../../encoder/transformer.ts';
import type { ClosedFormPosterior } from '../../graph/closed-form.ts';
import { linkRecords } from '../../graph/likely.ts';
import { HiddenSchemaNetwork } from '../../model.ts';
import { type Smoothed, smoothedMarginals, smoothWalks } from '../../walk/smoothing.ts';
import type { CorpusSplit, SyntheticCorpus } from './corpus/reader.ts';

// Shapes: B sentences, L walk steps and tokens, K symbols, V vocabulary.

/** Sentences of the synthetic language: a token for each step. */
export interface SyntheticBatch {
  tokens: Tensor; // [B, L] int32
}

export interface SyntheticKind {
  batch: SyntheticBatch;
  encoder: TransformerEncoder;
  decoder: BagDecoder;
  config: SyntheticConfig;
}

export type SyntheticNetwork = HiddenSchemaNetwork<SyntheticKind>;

/** What the data fix about a model. */
export interface ModelShape {
  symbols: number; // K
  vocabulary: number; // V
  length: number; // L, and T of the synthetic language
  /** Sentences in the training set: N of the objective. */
  sentences: number;
  /** Token probabilities of each symbol [K, V], row-major, where they are known. */
  bags?: Float64Array;
}

/** A network over the synthetic language (Section 4), with weights as drawn by the seed. */
export function syntheticNetwork(
  config: SyntheticConfig,
  shape: ModelShape,
  options: TensorOptions = {},
): SyntheticNetwork {
  const generator = new Generator(config.seed);
  const { symbols, vocabulary, length, sentences } = shape;
  const bags = shape.bags && bagTensor(shape, shape.bags, options);
  const sizes = { ...options, vocabulary, length, symbols };
  const encoder = new TransformerEncoder({ ...config.encoder, ...sizes }, generator);
  const { noise, likelihood } = config.objective;
  const decoder = new BagDecoder({ ...sizes, noise, likelihood }, generator, bags);
  const parts = { encoder, decoder, symbols, length, sentences, bags };
  const network = new HiddenSchemaNetwork<SyntheticKind>(config, parts, generator, options);
  bags?.free();
  return network;
}

/** Where each step of the exact posterior is, for an encoder to learn from. L tensors [B, K] */
export function exactMarginals(
  { decoder }: SyntheticNetwork,
  { tokens }: SyntheticBatch,
  graph: ClosedFormPosterior,
): Tensor[] {
  return noGrad(() => smoothedMarginals(graph.start, graph.transitions(), decoder.emissions(tokens)));
}

/** The exact posterior over walks under the closed-form graph's transitions and the decoder's emissions. */
export function smoothed(
  { decoder }: SyntheticNetwork,
  { tokens }: SyntheticBatch,
  graph: ClosedFormPosterior,
): Smoothed {
  return noGrad(() => smoothWalks(graph.start, graph.transitions(), decoder.emissions(tokens)));
}

function bagTensor(shape: ModelShape, bags: Float64Array, options: TensorOptions): Tensor {
  return scope(() =>
    Tensor.fromArray(bags, [shape.symbols, shape.vocabulary]).to(options.dtype ?? 'float32'),
  );
}

/** Token numbers of the given rows. [rows, length] int32 */
export function tokensOf(split: CorpusSplit, length: number, rows: Int32Array): Tensor {
  const flat = new Int32Array(rows.length * length);
  for (const [i, row] of rows.entries())
    flat.set(split.tokens.subarray(row * length, (row + 1) * length), i * length);
  return Tensor.fromArray(flat, [rows.length, length]);
}

/** Token numbers of `count` neighbouring sentences from `first` on. */
export function tokensFrom(split: CorpusSplit, length: number, first: number, count: number): Tensor {
  const end = Math.min(split.count, first + count);
  return Tensor.fromArray(split.tokens.slice(first * length, end * length), [end - first, length]);
}

/** The inferred graph as `graph.json`: symbols with their tokens, links with their probabilities. */
export function graphRecord(model: SyntheticNetwork, corpus: SyntheticCorpus): JsonValue {
  const K = model.shape.symbols;
  const V = corpus.vocabulary.length;
  const bags = corpus.bags?.probabilities;
  const tokensOf = (k: number) => corpus.vocabulary.filter((_, v) => (bags?.[k * V + v] ?? 0) > 0);
  const nodes = Array.from({ length: K }, (_, k) => ({ symbol: k, tokens: tokensOf(k) }));
  return { symbols: K, nodes, links: linkRecords(model, K) };
}
