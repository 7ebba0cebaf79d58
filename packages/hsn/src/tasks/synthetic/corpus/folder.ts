import fs from 'node:fs';
import path from 'node:path';
import { removeStalePartials, UserError, writeAll, writeBeside } from '@hidden-schema/base';
import { type Adjacency, edgeCount, edgeList, type RandomGraph } from './graphs.ts';

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
const resolveTarget = (directory: string): string =>
  fs.existsSync(directory) ? fs.realpathSync(directory) : path.resolve(directory);

function checkTarget(target: string, directory: string, layout: ReadonlySet<string>, force: boolean): void {
  if (!fs.existsSync(target)) return;
  if (!fs.statSync(target).isDirectory())
    throw new UserError(
      `${directory} is a file; expected a folder to write the corpus to, choose another name`,
    );

  const names = fs.readdirSync(target);
  if (names.length === 0) return;
  if (!force)
    throw new UserError(
      `${directory} is not empty; choose another folder, or --force to replace the corpus there`,
    );

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

/** Writes the hidden graph, the file of what its nodes carry, and the record of how all was drawn, which it gives back. */
export function writeTruth<Noted extends object>(
  folder: string,
  adjacency: Adjacency,
  [name, nodes]: [name: string, text: string],
  record: Noted,
): Noted {
  writeText(path.join(folder, 'adjacency.txt'), adjacencyText(adjacency));
  writeText(path.join(folder, 'edges.tsv'), edgesText(adjacency));
  writeText(path.join(folder, name), nodes);
  writeText(path.join(folder, 'corpus.json'), `${JSON.stringify(record, null, 2)}\n`);
  return record;
}

/** What a record counts of a hidden graph. */
export const graphCounts = ({ adjacency, reconnected }: RandomGraph) => ({
  nodes: adjacency.nodes,
  edges: edgeCount(adjacency),
  reconnected: reconnected.length,
});

/** Draws sentences, some at a time, and writes what each file gets of them: memory does not grow with their number. */
export function writeDrawn(
  files: readonly string[],
  count: number,
  atOnce: number,
  draw: (some: number) => readonly string[],
): void {
  const open = files.map((file) => fs.openSync(file, 'wx'));
  try {
    for (let left = count; left > 0; left -= atOnce)
      for (const [at, text] of draw(Math.min(left, atOnce)).entries()) writeAll(open[at]!, text);
    for (const file of open) fs.fsyncSync(file);
  } finally {
    for (const file of open) fs.closeSync(file);
  }
}
