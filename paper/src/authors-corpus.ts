import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import {
  adjacencyText,
  edgesText,
  writeCorpusFolder,
  writeText,
} from '@hidden-schema/hsn/tasks/synthetic/corpus/folder';
import { type Adjacency, emptyGraph } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import { readSyntheticCorpus, type SyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import {
  CORPUS_LAYOUT,
  SPLITS,
  type SplitName,
  type WriteOptions,
} from '@hidden-schema/hsn/tasks/synthetic/corpus/writer';
import { eachField, readLines } from '@hidden-schema/text/field-lines';
import { NumberArray } from './pickle/numpy.ts';
import { type Pickled, readPickle } from './pickle/read.ts';

/** How the authors name the walks of a split, after a prefix such as "barabasi." or "erdos.". */
const walkNames: Readonly<Record<SplitName, string>> = {
  train: 'train_walks.pkl',
  valid: 'val_walks.pkl',
  test: 'test_walks.pkl',
};

/**
 * Writes the corpus folder of the authors' data (their repository's data/Barabasi_100_Large or data/Erdos): the graph,
 * walks and bags from their pickles, of which nothing is executed, and the sentences from their text files. What is
 * written is read again and checked against itself before it takes its place.
 */
export function convertAuthorsCorpus(
  source: string,
  directory: string,
  { force = false }: WriteOptions = {},
): SyntheticCorpus {
  const names = filesOf(source);
  const graph = graphOf(readPickle(path.join(source, 'adjacency_schemata.pkl')));
  const bags = bagsOf(readPickle(path.join(source, 'schema_words.pkl')));
  return writeCorpusFolder(directory, CORPUS_LAYOUT, force, (folder) => {
    writeText(path.join(folder, 'adjacency.txt'), adjacencyText(graph));
    writeText(path.join(folder, 'edges.tsv'), edgesText(graph));
    writeText(path.join(folder, 'node_tokens.tsv'), bags);
    for (const split of SPLITS) {
      writeText(path.join(folder, `${split}.txt`), sentencesOf(path.join(source, `${split}.txt`)));
      const walks = names.find((name) => name.endsWith(`.${walkNames[split]}`));
      if (walks !== undefined)
        writeText(
          path.join(folder, `${split}_walks.txt`),
          walksOf(readPickle(path.join(source, walks)), walks),
        );
    }
    return { ...readSyntheticCorpus(folder), directory };
  });
}

function filesOf(source: string): string[] {
  if (!fs.statSync(source, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(
      `${source} is not a folder; expected one of the authors' with adjacency_schemata.pkl`,
    );
  const names = fs.readdirSync(source).sort();
  const needed = ['adjacency_schemata.pkl', 'schema_words.pkl', ...SPLITS.map((split) => `${split}.txt`)];
  const missing = needed.find((name) => !names.includes(name));
  if (missing !== undefined)
    throw new UserError(`${source} has no ${missing}; expected ${needed.join(', ')} and PREFIX.*_walks.pkl`);
  for (const name of Object.values(walkNames)) {
    const found = names.filter((each) => each.endsWith(`.${name}`));
    if (found.length > 1)
      throw new UserError(`${source} has ${found.join(' and ')}; expected the walks of one corpus`);
  }
  return names;
}

function graphOf(value: Pickled): Adjacency {
  const [nodes = 0, width] = value instanceof NumberArray ? value.shape : [];
  if (!(value instanceof NumberArray) || value.shape.length !== 2 || nodes !== width || nodes < 2)
    throw new UserError('adjacency_schemata.pkl holds no square array; expected that of a graph');
  const odd = value.values.find((entry) => entry !== 0 && entry !== 1);
  if (odd !== undefined) throw new UserError(`adjacency_schemata.pkl has the entry ${odd}; expected 0 and 1`);
  const graph = emptyGraph(nodes);
  graph.data.set(value.values);
  return graph;
}

/** `node_tokens.tsv`. */
function bagsOf(value: Pickled): string {
  if (!(value instanceof Map)) throw new UserError('schema_words.pkl holds no dict; expected {node: tokens}');
  const lines: string[] = [];
  for (let node = 0; node < value.size; node++) {
    const tokens = value.get(node);
    if (!Array.isArray(tokens) || !tokens.every(isToken) || tokens.length === 0)
      throw new UserError(`schema_words.pkl has no list of tokens for node ${node} of ${value.size}`);
    lines.push(`${node}\t${tokens.join(' ')}\n`);
  }
  return lines.join('');
}

const isToken = (value: Pickled): value is string => typeof value === 'string' && /^\S+$/.test(value);

function walksOf(value: Pickled, name: string): string {
  if (!Array.isArray(value)) throw new UserError(`${name} holds no list; expected a list of walks`);
  const rows = value.map((walk, at) => {
    if (!Array.isArray(walk) || !walk.every((node) => typeof node === 'number' && node >= 0))
      throw new UserError(`${name}: walk ${at + 1} is not a list of nodes`);
    return `${walk.join(' ')}\n`;
  });
  return rows.join('');
}

/** The sentences with one space between tokens and one kind of line end. */
function sentencesOf(file: string): string {
  const rows: string[] = [];
  readLines(file, (line) => {
    const tokens: string[] = [];
    eachField(line, (token) => tokens.push(token));
    rows.push(`${tokens.join(' ')}\n`);
  });
  return rows.join('');
}
