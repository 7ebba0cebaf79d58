import { ArgumentError } from './errors.ts';
import { call, callMany, type Tensor } from './tensor.ts';

// Layers whose weights stay as they are: a weight is packed once, in the order that products read it. No gradient.
// Shapes: N rows, D width, S texts.

/** The numbers that packed products multiply: int8 has a scale for each output of a weight, and for each row of x. */
export type EncoderPrecision = 'float32' | 'bfloat16' | 'int8';
/** What follows a product; gelu is by the error function. */
export type Activation = 'none' | 'gelu' | 'gelu_tanh' | 'relu';

const precisions: readonly EncoderPrecision[] = ['float32', 'bfloat16', 'int8'];
const activations: readonly Activation[] = ['none', 'gelu', 'gelu_tanh', 'relu'];

/** A linear layer as `packedLinear` reads it. */
export interface PackedLinear {
  /** The weight in panels of 64 outputs. */
  readonly data: Tensor;
  /** Bias, scale and sum of each output. */
  readonly table: Tensor;
  /** Panels are padded, so that sizes cannot be told from them. */
  readonly inputs: number;
  readonly outputs: number;
}

/** Packs a weight [out, in] with its bias. */
export function packLinear(
  weight: Tensor,
  bias: Tensor | undefined,
  precision: EncoderPrecision,
): PackedLinear {
  const [data, table] = callMany('engine::pack_linear', weight, bias, precisions.indexOf(precision));
  return { data: data!, table: table!, inputs: weight.dim(1), outputs: weight.dim(0) };
}

function checkSizes(name: string, layer: PackedLinear, inputs: number, outputs: number): void {
  if (layer.inputs === inputs && layer.outputs === outputs) return;
  const [wanted, got] = [
    [outputs, inputs],
    [layer.outputs, layer.inputs],
  ].map((shape) => `[${shape.join(', ')}]`);
  throw new ArgumentError(`expects a packed weight '${name}' of ${wanted}, got ${got}`);
}

/** activation(x·Wᵀ + b) of rows x [.., in]. [.., out] */
export function packedLinear(x: Tensor, layer: PackedLinear, then: Activation = 'none'): Tensor {
  const { data, table, outputs } = layer;
  checkSizes('weight', layer, x.shape.at(-1) ?? 0, outputs);
  return call('engine::packed_linear', x, data, table, outputs, activations.indexOf(then));
}

/** The weights of one layer of BERT; heads have a width that 16 divides. */
export interface PackedLayer {
  /** Queries, keys and values in one product. */
  readonly attention: PackedLinear;
  readonly output: PackedLinear;
  readonly up: PackedLinear;
  readonly down: PackedLinear;
  /** Norms after attention and after the feed-forward layers. */
  readonly norms: readonly [NormWeights, NormWeights];
  readonly heads: number;
  readonly activation: Activation;
  readonly epsilon: number;
}

interface NormWeights {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/**
 * One layer of BERT over texts that lie one after the other, `ends` [S + 1] from 0 to N. `relative` [heads, 2·M − 1] is
 * added to the score of a key that lies d after its query, at M − 1 + d, for texts of at most M tokens. [N, D] → [N, D]
 */
export function encoderLayer(x: Tensor, ends: Tensor, layer: PackedLayer, relative?: Tensor): Tensor {
  const { attention, output, up, down, norms, heads, activation, epsilon } = layer;
  const width = x.shape.at(-1) ?? 0;
  checkSizes('attention', attention, width, 3 * width);
  checkSizes('output', output, width, width);
  checkSizes('up', up, width, up.outputs);
  checkSizes('down', down, up.outputs, width);
  const weights = [attention, output, up, down].flatMap(({ data, table }) => [data, table]);
  weights.push(...norms.flatMap(({ weight, bias }) => [weight, bias]));
  const then = activations.indexOf(activation);
  return call('engine::encoder_layer', x, ends, weights, heads, up.outputs, then, epsilon, relative);
}

/** The mean of each text's rows, of unit length. [N, D] and [S + 1] → [S, D] */
export const unitTextMeans = (x: Tensor, ends: Tensor): Tensor => call('engine::unit_text_means', x, ends);
