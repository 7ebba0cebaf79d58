export { autocast, grad, noGrad, withoutGrad } from './autograd.ts';
export {
  arange,
  bernoulli,
  eye,
  full,
  int64,
  multinomial,
  ones,
  rand,
  randint,
  randn,
  randperm,
  type TensorOptions,
  tensor,
  zeros,
} from './create.ts';
export type { GroupConfig } from './distributed/agreement.ts';
export {
  defaultDevice,
  type EngineInfo,
  engineInfo,
  exchangeDevice,
  liveTensors,
  setThreads,
  useDevice,
} from './engine.ts';
export { engineFiles, prebuiltBeside } from './engine-files.ts';
export { ArgumentError, EngineError, RankLostError, TorchError, UseAfterFreeError } from './errors.ts';
export {
  cat,
  crossEntropy,
  dropout,
  embedding,
  fewLinear,
  fusable,
  layerNorm,
  linear,
  linearGelu,
  linearNorm,
  stack,
  tanhGelu,
  where,
  withoutKernels,
} from './functional.ts';
export { Lock, lockHolder } from './lock.ts';
export { loadOperators, startEngine } from './native.ts';
export * as nn from './nn/index.ts';
export {
  type Activation,
  type EncoderPrecision,
  encoderLayer,
  type PackedLayer,
  packLinear,
  unitTextMeans,
} from './packed.ts';
export { packedProductsHere } from './processor.ts';
export { Generator, type Share } from './random.ts';
export { SafetensorsError } from './safetensors/format.ts';
export { openSafetensors, openWeights, type Weights, withWeights } from './safetensors/reader.ts';
export {
  safetensorsBytes,
  type TensorSource,
  writeSafetensors,
} from './safetensors/writer.ts';
export { scope } from './scope.ts';
export { call, callMany, Tensor } from './tensor.ts';
export type { DType } from './tensor-memory.ts';
