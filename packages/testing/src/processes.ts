import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes of models that a process has started and that are not gone yet (Linux). */
export function modelProcesses(of = process.pid): number[] {
  return fs.readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const line = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return Number(parent) === of && state !== 'Z' && line.includes('worker-start.mjs')
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

export async function until(true_: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await true_())) await sleep(50);
}

/** Counts the most processes of models at once while something goes on. */
export async function mostProcesses(during: Promise<unknown>): Promise<number> {
  let [most, over] = [0, false];
  const ended = during.finally(() => {
    over = true;
  });
  while (!over) {
    most = Math.max(most, modelProcesses().length);
    await sleep(20);
  }
  await ended;
  return most;
}
