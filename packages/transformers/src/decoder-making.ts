import type { Generator, TensorOptions } from '@hidden-schema/torch';
import type { DecoderOptions } from './decoder-kind.ts';
import { type Layout, Projection } from './projection.ts';
import type { SymbolOptions } from './symbol-attention.ts';

/** `blank` leaves zeros for weights to come. */
export type MakingOptions = DecoderOptions & { blank?: boolean };

/** How a decoder's parts are made: weights are drawn, or left zero for a checkpoint to fill. */
export interface Making {
  readonly generator: Generator;
  readonly tensors: TensorOptions;
  readonly symbols: SymbolOptions | undefined;
  /** Deviation of the initial weights; of those that write into the residual path it is smaller, the more layers. */
  readonly deviation: number;
  readonly residual: number;
}

/** For weights of a deviation, in so many layers; symbols are those asked for, or those of config.json. */
export function makingOf(
  config: { deviation: number; layers: number; symbols: SymbolOptions | undefined },
  generator: Generator,
  options: MakingOptions,
): Making {
  const { blank = false, symbols = config.symbols, ...tensors } = options;
  const deviation = blank ? 0 : config.deviation;
  return { generator, tensors, symbols, deviation, residual: deviation / Math.sqrt(2 * config.layers) };
}

export interface ProjectionKind {
  layout: Layout;
  bias: boolean;
  /** Whether it writes into the residual path. */
  residual?: boolean;
}

export function project(inputs: number, outputs: number, kind: ProjectionKind, making: Making): Projection {
  const { layout, bias, residual = false } = kind;
  const deviation = residual ? making.residual : making.deviation;
  return new Projection(inputs, outputs, making.generator, { ...making.tensors, layout, bias, deviation });
}
