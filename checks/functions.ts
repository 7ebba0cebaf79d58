// node --import tsx checks/functions.ts   fails on a function of more than 40 lines or 4 parameters
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vite';
import { reportFaults, sourceFiles } from './source-files.ts';

const MOST_LINES = 40;
const MOST_PARAMETERS = 4;
/** Tests are lists of cases, as long as they need to be. */
const outside = ['paper/src', 'faults', 'checks', 'packaging', 'bench'];

/** What is read of a node of a syntax tree (ESTree). */
interface Node {
  type: string;
  start: number;
  end: number;
  id?: Node | null;
  key?: Node;
  name?: string;
  params?: Node[];
  body?: unknown;
  [part: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function* childrenOf(node: Node): Generator<Node> {
  for (const part of Object.values(node))
    for (const child of Array.isArray(part) ? part : [part]) if (isNode(child)) yield child;
}

/** Functions with a body, each with what holds it: the latter has the name where the former has none. */
function* functionsIn(node: Node, holder: Node): Generator<{ made: Node; holder: Node }> {
  if (node.params && isNode(node.body)) yield { made: node, holder };
  for (const child of childrenOf(node)) yield* functionsIn(child, node);
}

function nameOf({ made, holder }: { made: Node; holder: Node }): string {
  const named = [made.id, holder.key, holder.id].find((part) => part?.name !== undefined);
  return named?.name ?? 'a function without a name';
}

/** What is too long or takes too much in a file. */
function functionFaults(file: string, text: string): string[] {
  const program = parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node;
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  return [...functionsIn(program, program)].flatMap((found) => {
    // A method's name and modifiers stand before its function.
    const { start } = found.holder.type === 'MethodDefinition' ? found.holder : found.made;
    const first = lineAt(start);
    const lines = lineAt(found.made.end) - first + 1;
    const parameters = found.made.params!.length;
    const where = `${file}:${first} ${nameOf(found)}`;
    return [
      ...(lines > MOST_LINES
        ? [`${where} has ${lines} lines: take it apart, ${MOST_LINES} are the most`]
        : []),
      ...(parameters > MOST_PARAMETERS
        ? [`${where} has ${parameters} parameters: name some in an object, ${MOST_PARAMETERS} are the most`]
        : []),
    ];
  });
}

function main(): void {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  const folders = fs
    .readdirSync('packages')
    .flatMap((name) => ['src', 'setup', 'check'].map((part) => path.posix.join('packages', name, part)));
  const files = [...folders, ...outside].flatMap(sourceFiles);
  reportFaults(files.flatMap((file) => functionFaults(file, fs.readFileSync(file, 'utf8'))));
}

main();
