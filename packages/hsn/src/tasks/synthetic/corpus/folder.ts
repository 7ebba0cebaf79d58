import fs from 'node:fs';
import path from 'node:path';
import { removeStalePartials, UserError, writeBeside } from '@hidden-schema/base';
import { type Adjacency, edgeList } from './graphs.ts';

/**
 * Writes a corpus folder, all of it or nothing. `layout` is everything such a folder may hold; `force` replaces a
 * folder only when it holds nothing else.
 */
export function writeCorpusFolder<T>(
  directory: string,
  layout: ReadonlySet<string>,
  force: boolean,
  write: (folder: string) => T,
): T {
  try {
    const target = resolveTarget(directory);
    checkTarget(target, directory, layout, force);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    removeStalePartials(target);
    return writeBeside(target, (partial) => {
      fs.mkdirSync(partial);
      return write(partial);
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UserError(`cannot write the corpus to ${directory}: ${message}; nothing was changed there`);
  }
}

/** A link to a folder is followed, so that the rename below replaces the folder and not the link. */
function resolveTarget(directory: string): string {
  return fs.existsSync(directory) ? fs.realpathSync(directory) : path.resolve(directory);
}

function checkTarget(target: string, directory: string, layout: ReadonlySet<string>, force: boolean): void {
  if (!fs.existsSync(target)) return;
  if (!fs.statSync(target).isDirectory()) {
    throw new UserError(
      `${directory} is a file; expected a folder to write the corpus to, choose another name`,
    );
  }
  const names = fs.readdirSync(target);
  if (names.length === 0) return;
  if (!force) {
    throw new UserError(
      `${directory} is not empty; choose another folder, or --force to replace the corpus there`,
    );
  }
  const foreign = names.filter((name) => !layout.has(name));
  if (foreign.length === 0) return;
  throw new UserError(
    `${directory} holds more than a corpus (${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}), so --force will not replace it; choose another folder`,
  );
}

export function writeText(file: string, text: string): void {
  fs.writeFileSync(file, text, { flag: 'wx', flush: true });
}

export function adjacencyText({ nodes, data }: Adjacency): string {
  return Array.from(
    { length: nodes },
    (_, i) => `${data.subarray(i * nodes, (i + 1) * nodes).join(' ')}\n`,
  ).join('');
}

export function edgesText(adjacency: Adjacency): string {
  return edgeList(adjacency)
    .map((edge) => `${edge.join('\t')}\n`)
    .join('');
}
