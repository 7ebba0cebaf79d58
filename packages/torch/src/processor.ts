import { readFileSync } from 'node:fs';
import type { EncoderPrecision } from './packed.ts';

const avx512 = ['avx512f', 'avx512cd', 'avx512bw', 'avx512dq', 'avx512vl'];

/**
 * The OpenBLAS kernel for a processor, by what /proc/cpuinfo says it can do; undefined where that says too little.
 * OpenBLAS goes by model number, and one it does not know yet gets the kernels of 2004, six times slower.
 */
export function blasCore(cpuinfo: string): string | undefined {
  const flags = flagsOf(cpuinfo);
  if (avx512.every((flag) => flags.has(flag))) return 'SKYLAKEX';
  if (!flags.has('avx2') || !flags.has('fma')) return undefined;
  return /^vendor_id\s*:\s*AuthenticAMD/m.test(cpuinfo) ? 'ZEN' : 'HASWELL';
}

const flagsOf = (cpuinfo: string): Set<string> =>
  new Set(/^flags\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(/\s+/));

/** Names the kernel for this processor in the environment, where OpenBLAS looks when it is loaded. */
export function chooseBlasCore(environment: NodeJS.ProcessEnv): void {
  if (environment.OPENBLAS_CORETYPE !== undefined) return;
  const core = blasCore(cpuinfoHere());
  if (core !== undefined) environment.OPENBLAS_CORETYPE = core;
}

/** Which packed products a processor has instructions for, by what /proc/cpuinfo says it can do. */
export function packedProducts(cpuinfo: string): Record<EncoderPrecision, boolean> {
  const flags = flagsOf(cpuinfo);
  const wide = avx512.every((flag) => flags.has(flag));
  return {
    float32: wide,
    bfloat16: wide && flags.has('avx512_bf16'),
    int8: wide && flags.has('avx512_vnni'),
  };
}

let known: Record<EncoderPrecision, boolean> | undefined;

/** The same of this processor; none on a system without /proc/cpuinfo. */
export function packedProductsHere(): Record<EncoderPrecision, boolean> {
  known ??= packedProducts(cpuinfoHere());
  return known;
}

function cpuinfoHere(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return '';
  }
}
