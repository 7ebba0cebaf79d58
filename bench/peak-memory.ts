import { readFileSync, writeFileSync } from 'node:fs';

/** Most memory that a process has had. `maxRSS` will not do: a child's begins with what its parent had. */
export function peakMB(pid: number | 'self' = 'self'): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error(`expected VmHWM in /proc/${pid}/status`);
  return Number(kilobytes) / 1024;
}

/** Counts the peak from now on. Where the kernel does not allow it, it counts from the start, which is never less. */
export function resetPeak(pid: number | 'self' = 'self'): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Told above.
  }
}
