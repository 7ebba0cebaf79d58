export { SafetensorsError, type SafetensorsRule } from './errors.ts';
export { type Header, parseHeader, type TensorEntry, type TensorInfo } from './header.ts';
export { openSafetensors, type Weights } from './reader.ts';
export { openShardedSafetensors, openWeights } from './sharded.ts';
export { type Metadata, safetensorsBytes, writeSafetensors } from './writer.ts';
