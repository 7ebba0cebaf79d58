// What a process does and takes, seen from outside through /proc.
import { once } from 'node:events';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { HsnProcess } from './hsn-process.ts';

const running = ({ child }: HsnProcess): boolean => child.exitCode === null && child.signalCode === null;

/** So long a file is open that it is read, and not only looked into. */
const READING_MS = 1500;

/** Resolves once the process has had a file open for a while. */
export async function opened(process: HsnProcess, file: string): Promise<void> {
  const folder = `/proc/${process.child.pid}/fd`;
  const isOpen = () =>
    fs.readdirSync(folder).some((name) => {
      try {
        return fs.readlinkSync(`${folder}/${name}`) === fs.realpathSync(file);
      } catch {
        // Closed meanwhile.
        return false;
      }
    });
  for (let since = Date.now(); Date.now() - since < READING_MS; await pause(10)) {
    if (!running(process)) throw new Error(`it ended before it opened ${file}`);
    if (!isOpen()) since = Date.now();
  }
}

/** The most memory that was resident, in MB, until the process ends. */
export async function peakMegabytes(process: HsnProcess): Promise<number> {
  let peak = 0;
  while (running(process)) {
    try {
      const status = fs.readFileSync(`/proc/${process.child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It ended between the two.
    }
    await pause(5);
  }
  return peak;
}

/** Writes megabytes without a line end to the process, and ends its input. */
export async function writeEndless({ child }: HsnProcess, megabytes: number): Promise<void> {
  const input = child.stdin!;
  // It may refuse the rest.
  input.on('error', () => {});
  const block = Buffer.alloc(1 << 20, 'x');
  const closed = once(child, 'close');
  for (let n = 0; n < megabytes && !input.destroyed; n++)
    if (!input.write(block)) await Promise.race([once(input, 'drain'), closed]);
  input.end();
}
