/// <reference types="node" preserve="true" />
/**
 * The engine: a small typed tensor library on libtorch. `scope` frees what is made in it, `Generator` is the only source
 * of randomness, and any ATen operator is one `call('name.overload', …)` away.
 *
 * @example
 * import { Generator, grad, randn, scope } from 'hidden-schema-networks/torch';
 *
 * const slope = scope(() => {
 *   const x = randn([3], new Generator(1)).requireGrad();
 *   return grad([x.mul(x).sum()], [x])[0]!.toNumbers();
 * });
 *
 * @module hidden-schema-networks/torch
 */

export {
  ArgumentError,
  arange,
  autocast,
  bernoulli,
  call,
  callMany,
  cat,
  crossEntropy,
  type DType,
  dropout,
  EngineError,
  embedding,
  engineInfo,
  eye,
  full,
  Generator,
  grad,
  layerNorm,
  linear,
  liveTensors,
  multinomial,
  nn,
  noGrad,
  ones,
  openSafetensors,
  openWeights,
  rand,
  randint,
  randn,
  randperm,
  SafetensorsError,
  safetensorsBytes,
  scope,
  setThreads,
  stack,
  Tensor,
  type TensorOptions,
  TorchError,
  tensor,
  UseAfterFreeError,
  type Weights,
  where,
  writeSafetensors,
  zeros,
} from '@hidden-schema/torch';
export * as optim from '@hidden-schema/torch/optim';
export { chromeTrace, operatorTotals, startProfile, stopProfile } from '@hidden-schema/torch/profile';
