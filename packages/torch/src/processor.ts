import { readFileSync } from 'node:fs';

const avx512 = ['avx512f', 'avx512cd', 'avx512bw', 'avx512dq', 'avx512vl'];

/**
 * The OpenBLAS kernel for a processor, by what /proc/cpuinfo says it can do; undefined where that says too little.
 * OpenBLAS goes by model number, and one it does not know yet gets the kernels of 2004, six times slower.
 */
export function blasCore(cpuinfo: string): string | undefined {
  const flags = new Set(/^flags\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(/\s+/));
  if (avx512.every((flag) => flags.has(flag))) return 'SKYLAKEX';
  if (!flags.has('avx2') || !flags.has('fma')) return undefined;
  return /^vendor_id\s*:\s*AuthenticAMD/m.test(cpuinfo) ? 'ZEN' : 'HASWELL';
}

/** Names the kernel for this processor in the environment, where OpenBLAS looks when it is loaded. */
export function chooseBlasCore(environment: NodeJS.ProcessEnv): void {
  if (environment.OPENBLAS_CORETYPE !== undefined) return;
  try {
    const core = blasCore(readFileSync('/proc/cpuinfo', 'utf8'));
    if (core !== undefined) environment.OPENBLAS_CORETYPE = core;
  } catch {
    // No /proc/cpuinfo on this system: OpenBLAS chooses for itself.
  }
}
