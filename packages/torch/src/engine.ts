import { native } from './native.ts';

/** The libtorch that runs, and what it runs on. */
export interface EngineInfo {
  version: string;
  threads: number;
  devices: string[];
  /** Whether it was built with CUDA, which graphics cards need; there may be none. */
  cuda: boolean;
  parallel: string;
  config: string;
}

/** Which libtorch is loaded, with what threads and devices. */
export function engineInfo(): EngineInfo {
  const { cudaDevices, ...rest } = native.info();
  // libtorch itself says that it has no CUDA where it finds no driver.
  const cuda = cudaDevices > 0 || /\bUSE_CUDA=(?:1|ON)\b/.test(rest.config);
  return { ...rest, cuda, devices: ['cpu', ...Array.from({ length: cudaDevices }, (_, i) => `cuda:${i}`)] };
}

/** Sets how many threads operators and matrix products use in this process. */
export function setThreads(count: number): void {
  if (!Number.isInteger(count) || count < 1)
    throw new RangeError(`threads are a whole number from 1, got ${count}`);
  native.threads(count);
}

/** Tensors that this thread holds now, and the bytes they own. */
export function liveTensors(): { tensors: number; bytes: number } {
  return native.counters();
}
