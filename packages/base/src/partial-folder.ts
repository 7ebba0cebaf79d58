import fs from 'node:fs';
import path from 'node:path';

/** Where this process writes what is to become `target`. */
export const partialName = (target: string): string =>
  path.join(path.dirname(target), `.${path.basename(target)}.partial-${process.pid}`);

/** Folders left by a writer that was killed; one that still runs keeps its own. */
export function removeStalePartials(target: string): void {
  const prefix = `.${path.basename(target)}.partial-`;
  for (const name of fs.readdirSync(path.dirname(target))) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (!Number.isInteger(pid) || pid < 1 || (pid !== process.pid && isRunning(pid))) continue;
    fs.rmSync(path.join(path.dirname(target), name), { recursive: true, force: true });
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
