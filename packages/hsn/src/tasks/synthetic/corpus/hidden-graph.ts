import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { eachField, readLines } from '@hidden-schema/text/field-lines';
import { type Adjacency, hasEdge } from './graphs.ts';

/** Bags of tokens as distributions over the vocabulary: probabilities is row-major [nodes, vocabulary]. */
export interface Bags {
  nodes: number;
  probabilities: Float64Array;
}

interface BagLine {
  line: number;
  tokens: string[];
  probabilities: number[];
}

export interface BagFile {
  bags: Bags;
  vocabulary: string[];
  sha256: string;
}

/** `node_tokens.tsv`: node, tab, tokens; equally likely unless a third column gives their probabilities. */
export function readBags(file: string): BagFile {
  const name = path.basename(file);
  const byNode = new Map<number, BagLine>();
  const { sha256 } = readLines(file, (text, line) => {
    const where = `${name}:${line}`;
    const [node, bag] = parseBag(text, line, where);
    const earlier = byNode.get(node);
    if (earlier)
      throw new UserError(`${where} gives node ${node} a second bag; its first is on line ${earlier.line}`);
    byNode.set(node, bag);
  });
  if (byNode.size === 0)
    throw new UserError(`${name} is empty; expected a line "node<TAB>tokens" for each node`);
  for (let node = 0; node < byNode.size; node++) {
    if (byNode.has(node)) continue;
    const highest = Math.max(...byNode.keys());
    throw new UserError(
      `${name} has no line for node ${node}; nodes must be numbered 0 to ${highest} without gaps`,
    );
  }
  return { ...toDistributions(byNode), sha256 };
}

function parseBag(text: string, line: number, where: string): [node: number, bag: BagLine] {
  const columns = text.split('\t');
  const [first = '', second = '', third] = columns;
  const tokens = fields(second);
  if (!/^\s*\d+\s*$/.test(first) || tokens.length === 0 || columns.length > 3) {
    const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
    throw new UserError(
      `${where} is ${shown}; expected "node<TAB>token token …", probabilities in a third column`,
    );
  }
  const twice = tokens.find((token, at) => tokens.indexOf(token) < at);
  if (twice !== undefined) throw new UserError(`${where} has the token "${twice}" twice in one bag`);
  const probabilities = third === undefined ? tokens.map(() => 1 / tokens.length) : fields(third).map(Number);
  const sum = probabilities.reduce((total, p) => total + p, 0);
  if (
    probabilities.length !== tokens.length ||
    !probabilities.every((p) => p >= 0) ||
    !(Math.abs(sum - 1) < 1e-6)
  )
    throw new UserError(
      `${where}: expected ${tokens.length} probabilities that sum to 1 in the third column, got "${third}"`,
    );

  return [Number(first), { line, tokens, probabilities: probabilities.map((p) => p / sum) }];
}

function fields(text: string): string[] {
  const list: string[] = [];
  eachField(text, (field) => list.push(field));
  return list;
}

function toDistributions(byNode: Map<number, BagLine>): { bags: Bags; vocabulary: string[] } {
  const nodes = byNode.size;
  const numbers = new Map<string, number>();
  for (let node = 0; node < nodes; node++)
    for (const token of byNode.get(node)!.tokens) if (!numbers.has(token)) numbers.set(token, numbers.size);

  const probabilities = new Float64Array(nodes * numbers.size);
  for (const [node, bag] of byNode)
    bag.tokens.forEach((token, at) => {
      probabilities[node * numbers.size + numbers.get(token)!] = bag.probabilities[at]!;
    });

  return { bags: { nodes, probabilities }, vocabulary: [...numbers.keys()] };
}

/** `adjacency.txt`: a square, symmetric matrix of 0 and 1; `nodes` is the number of bags where known. */
export function readAdjacency(file: string, nodes?: number): { truth: Adjacency; sha256: string } {
  const name = path.basename(file);
  const rows: Uint8Array[] = [];
  const { sha256 } = readLines(file, (text, line) => {
    const row: number[] = [];
    eachField(text, (field) => {
      if (field === '0' || field === '1') row.push(Number(field));
      else throw new UserError(`${name}:${line} has the entry "${field}"; expected only 0 and 1`);
    });
    if (rows.length > 0 && row.length !== rows[0]!.length)
      throw new UserError(
        `${name}:${line} has ${row.length} entries where the first row has ${rows[0]!.length}`,
      );

    rows.push(Uint8Array.from(row));
  });
  const size = rows.length;
  const width = rows[0]?.length ?? 0;
  if (size === 0 || width !== size)
    throw new UserError(`${name} has ${size} rows of ${width} entries; expected a square matrix`);

  if (nodes !== undefined && nodes !== size)
    throw new UserError(
      `${name} is ${size} by ${size}, but node_tokens.tsv has ${nodes} nodes; they must agree`,
    );

  const truth: Adjacency = { nodes: size, data: new Uint8Array(size * size) };
  rows.forEach((row, i) => {
    truth.data.set(row, i * size);
  });
  checkSymmetric(truth, name);
  return { truth, sha256 };
}

function checkSymmetric(graph: Adjacency, name: string): void {
  for (let i = 0; i < graph.nodes; i++)
    for (let j = 0; j < i; j++) {
      if (hasEdge(graph, i, j) === hasEdge(graph, j, i)) continue;
      throw new UserError(
        `${name} is not symmetric: nodes ${j} and ${i} are linked in one direction only; the graph is undirected`,
      );
    }
}
