import { Generator, noGrad, scope, Tensor, type TensorOptions } from '@hidden-schema/torch';
import type { SyntheticConfig } from '../../config/network.ts';
import { BagDecoder } from '../../decoder/bag.ts';
import { TransformerEncoder } from '../../encoder/transformer.ts';
import type { ClosedFormPosterior } from '../../graph/closed-form.ts';
import { HiddenSchemaNetwork } from '../../model.ts';
import { type Smoothed, smoothedMarginals, smoothWalks } from '../../walk/smoothing.ts';

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
