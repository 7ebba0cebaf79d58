export * from './autograd.ts';
export * from './create.ts';
export * from './distributed/index.ts';
export type { DType, TypedArray } from './dtype.ts';
export * from './engine.ts';
export * from './errors.ts';
export * from './file-lock.ts';
export * from './functional.ts';
export * from './fused.ts';
export { Lock, type LockHolder, lockHolder } from './lock.ts';
export { loadOperators } from './native.ts';
export * as nn from './nn/index.ts';
export * from './number-watch.ts';
export * as optim from './optim/index.ts';
export {
  chromeTrace,
  type OperatorTotal,
  operatorTotals,
  type Profile,
  span,
  startProfile,
  stopProfile,
} from './profile.ts';
export { Generator, type Share } from './random.ts';
export * from './safetensors/index.ts';
export { scope } from './scope.ts';
export { call, callMany, type Operand, Tensor } from './tensor.ts';
