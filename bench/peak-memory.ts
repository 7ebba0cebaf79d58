import { readFileSync } from 'node:fs';

/** Most memory that this process has had. `maxRSS` will not do: a child's begins with what its parent had. */
export function peakMB(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error('expected VmHWM in /proc/self/status');
  return Number(kilobytes) / 1024;
}
