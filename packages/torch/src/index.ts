export { autocast, grad, noGrad } from './autograd.ts';
export {
  arange,
  bernoulli,
  eye,
  full,
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
export { defaultDevice, useDevice, withDevice } from './device.ts';
export type { GroupConfig } from './distributed/agreement.ts';
export { Group } from './distributed/group.ts';
export { placeOf } from './distributed/place.ts';
export { freePort } from './distributed/port.ts';
export type { DType } from './dtype.ts';
export { type EngineInfo, engineInfo, liveTensors, setThreads } from './engine.ts';
export { engineFiles, prebuiltBeside } from './engine-files.ts';
export { ArgumentError, EngineError, RankLostError, TorchError, UseAfterFreeError } from './errors.ts';
export { cat, crossEntropy, dropout, embedding, layerNorm, linear, stack, where } from './functional.ts';
export {
  fewLinear,
  fusable,
  linearGelu,
  linearNorm,
  tanhGelu,
  withoutKernels,
} from './fused.ts';
export { hostReads } from './host-reads.ts';
export { Lock, lockHolder } from './lock.ts';
export { loadOperators, startEngine } from './native.ts';
export * as nn from './nn/index.ts';
export { type NumberFault, type NumberReport, watchNumbers } from './number-watch.ts';
export * as optim from './optim/index.ts';
export {
  type Activation,
  type EncoderPrecision,
  encoderLayer,
  type PackedLayer,
  packLinear,
  unitTextMeans,
} from './packed.ts';
export { packedProductsHere } from './processor.ts';
export { chromeTrace, operatorTotals, type Profile, span, startProfile, stopProfile } from './profile.ts';
export { Generator, type Share } from './random.ts';
export { SafetensorsError } from './safetensors/errors.ts';
export { openSafetensors, type Weights } from './safetensors/reader.ts';
export { openWeights } from './safetensors/sharded.ts';
export {
  safetensorsBytes,
  streamSafetensors,
  type TensorSource,
  writeSafetensors,
} from './safetensors/writer.ts';
export { scope } from './scope.ts';
export { call, callMany, Tensor } from './tensor.ts';
