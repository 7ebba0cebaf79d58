import { readFileSync } from 'node:fs';

/** The kernel's ticks a second for these figures, on every architecture that Linux runs on. */
const ticks = 100;

/** Fields 14 to 17 of /proc/PID/stat: ticks of the process in its own code and the kernel's, then of ended children. */
function fields(pid: number | 'self'): number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold spaces and brackets.
  const after = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return after.slice(11, 15).map(Number);
}

/** Seconds of the processor that all threads of a process have had. */
export function processorSeconds(pid: number): number {
  const [own = 0, system = 0] = fields(pid);
  return (own + system) / ticks;
}

/** Seconds of the processor that ended children of this process had. */
export function childrenSeconds(): number {
  const [, , own = 0, system = 0] = fields('self');
  return (own + system) / ticks;
}
