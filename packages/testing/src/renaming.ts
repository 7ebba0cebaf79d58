import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const renamer = fileURLToPath(new URL('renamer.ts', import.meta.url));

/** Names `processes` · `each` symbols of a run from that many processes at once. */
export async function renameAtOnce(directory: string, processes: number, each: number): Promise<void> {
  const children = Array.from({ length: processes }, (_, i) =>
    spawn(process.execPath, ['--import', 'tsx', renamer, directory, String(i * each), String(each)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.stdin.write('go\n');
  for (const [code] of await Promise.all(ended))
    if (code !== 0) throw new Error(`a renaming ended with ${code}`);
}
