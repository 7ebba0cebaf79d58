import path from 'node:path';
import { Random, UserError } from '@hidden-schema/base';
import { type Fault, faultMessage, splitFaults, wholeNumberFault } from './faults.ts';
import { graphCounts, writeCorpusFolder, writeDrawn, writeTruth } from './folder.ts';
import { type GraphOptions, graphFaults, type RandomGraph, randomGraph, UniformWalk } from './graphs.ts';
import { type DrawSettings, splitCounts } from './synthetic.ts';
import { THEMES, type Topic } from './word-topics.ts';
import { SPLITS, type SplitName, type WriteOptions } from './writer.ts';

/** What a corpus of readable sentences with a planted graph is drawn from. */
export type WordSettings = DrawSettings;

/** Six themes of six topics: communities that words tell apart, with few ways between them. */
export const WORD_DEFAULTS: WordSettings = {
  graph: 'blocks',
  graphOptions: { blocks: THEMES.length, inside: 0.7, outside: 0.02 },
  nodes: THEMES.length * 6,
  length: 5,
  sentences: 20_000,
  split: [80, 10, 10],
  seed: 1,
};

const TOPICS_A_THEME = Math.min(...THEMES.map(({ topics }) => topics.length));
const MOST_NODES = THEMES.length * TOPICS_A_THEME;
const STREAM = { graph: 1, sentences: 4 };

/** A node's topic, and the theme it belongs to: its community. */
export interface WordNode {
  topic: Topic;
  theme: number;
}

export interface WordLanguage extends RandomGraph {
  nodes: WordNode[];
}

/** Every fault of the settings; empty when a corpus can be drawn. */
export function wordFaults(settings: WordSettings): Fault[] {
  const { graph, nodes, length, sentences, seed } = settings;
  const faults = [
    ...graphFaults(graph, nodes, optionsOf(settings)),
    ...wholeNumberFault('length', length, 1, 50),
    ...wholeNumberFault('sentences', sentences, 1, 1_000_000_000),
    ...wholeNumberFault('seed', seed, 0, Number.MAX_SAFE_INTEGER),
  ];
  if (Number.isInteger(nodes) && nodes > MOST_NODES)
    faults.push({ setting: 'nodes', text: `there are topics for ${MOST_NODES} nodes, got ${nodes}` });
  else if (faults.length === 0 && graph === 'blocks') faults.push(...blockFaults(settings));
  faults.push(...splitFaults(settings.split, '80,10,10'));
  return faults;
}

function blockFaults(settings: WordSettings): Fault[] {
  const { blocks = 1 } = optionsOf(settings);
  const largest = Math.ceil(settings.nodes / blocks);
  if (blocks > THEMES.length)
    return [{ setting: 'blocks', text: `there are themes for ${THEMES.length} communities, got ${blocks}` }];
  if (largest <= TOPICS_A_THEME) return [];
  const text = `a theme has ${TOPICS_A_THEME} topics, but ${settings.nodes} nodes in ${blocks} communities need ${largest}; raise blocks or lower nodes`;
  return [{ setting: 'blocks', text }];
}

/** The defaults of the block graph, where that is the graph, under what was given. */
const optionsOf = ({ graph, graphOptions }: WordSettings): GraphOptions =>
  graph === 'blocks' ? { ...WORD_DEFAULTS.graphOptions, ...graphOptions } : graphOptions;

/** Draws the graph and gives each node a topic: community by community a theme's, else all themes in turn. */
export function drawWords(settings: WordSettings): WordLanguage {
  const faults = wordFaults(settings);
  if (faults.length > 0) throw new UserError(faultMessage(faults));
  const { graph, nodes: count, seed } = settings;
  const drawn = randomGraph(graph, count, optionsOf(settings), new Random(seed, STREAM.graph));
  const blocks = graph === 'blocks' ? drawn.model.options.blocks! : Math.ceil(count / TOPICS_A_THEME);
  const used = THEMES.map(() => 0);
  const nodes = Array.from({ length: count }, (_, node) => {
    const theme = Math.floor((node * blocks) / count);
    return { theme, topic: THEMES[theme]!.topics[used[theme]!++]! };
  });
  return { ...drawn, nodes };
}

export interface WordSentence {
  walk: number[];
  text: string;
  /** The theme in which the walk spent most of its steps; among equals the one it came to first. */
  label: string;
}

/** Uniform random walks, a phrase of the topic at each node passed. */
export class WordSampler {
  readonly #language: WordLanguage;
  readonly #length: number;
  readonly #random: Random;
  readonly #walk: UniformWalk;

  constructor(language: WordLanguage, settings: WordSettings) {
    this.#language = language;
    this.#length = settings.length;
    this.#random = new Random(settings.seed, STREAM.sentences);
    this.#walk = new UniformWalk(language.adjacency, this.#random);
  }

  next(): WordSentence {
    const { nodes } = this.#language;
    const walk = [this.#walk.start()];
    while (walk.length < this.#length) walk.push(this.#walk.after(walk.at(-1)!));
    const phrases = walk.map((node) => this.#random.choice(nodes[node]!.topic.phrases));
    const themes = walk.map((node) => nodes[node]!.theme);
    return { walk, text: sentenceOf(phrases), label: THEMES[mostOf(themes)]!.name };
  }
}

function mostOf(values: readonly number[]): number {
  const count = (value: number) => values.filter((other) => other === value).length;
  return values.reduce((best, value) => (count(value) > count(best) ? value : best));
}

/** Clauses in a row: a capital, commas, "and" before the last, a full stop. */
function sentenceOf(phrases: readonly string[]): string {
  const last = phrases.at(-1)!;
  const joined = phrases.length === 1 ? last : `${phrases.slice(0, -1).join(', ')} and ${last}`;
  return `${joined[0]!.toUpperCase()}${joined.slice(1)}.`;
}

const WORDS_FORMAT = 'hsn-words-corpus';

/** `corpus.json` of such a corpus; the same settings give the same files. */
export interface WordsRecord {
  format: typeof WORDS_FORMAT;
  version: 1;
  settings: WordSettings;
  counts: ReturnType<typeof graphCounts> & {
    phrases: number;
    labels: Record<string, number>;
    sentences: Record<SplitName, number>;
  };
}

const LAYOUT = new Set([
  ...SPLITS.flatMap((split) => [`${split}.tsv`, `${split}_walks.txt`]),
  ...['adjacency.txt', 'edges.tsv', 'node_phrases.tsv', 'corpus.json'],
]);

/** Draws a corpus of readable sentences and writes it to `directory` with its truth, all of it or nothing. */
export function writeWordsCorpus(
  settings: WordSettings,
  directory: string,
  options: WriteOptions = {},
): WordsRecord {
  const language = drawWords(settings);
  return writeCorpusFolder(directory, LAYOUT, options.force ?? false, (folder) =>
    writeFiles(language, settings, folder),
  );
}

function writeFiles(language: WordLanguage, settings: WordSettings, folder: string): WordsRecord {
  const { adjacency, nodes } = language;
  const [train, valid, test] = splitCounts(settings.sentences, settings.split);
  const sentences = { train, valid, test };
  const sampler = new WordSampler(language, settings);
  const labels: Record<string, number> = {};
  for (const split of SPLITS) {
    const files = [`${split}.tsv`, `${split}_walks.txt`].map((name) => path.join(folder, name));
    writeDrawn(files, sentences[split], CHUNK, (some) => {
      const drawn = Array.from({ length: some }, () => sampler.next());
      for (const { label } of drawn) labels[label] = (labels[label] ?? 0) + 1;
      return [
        drawn.map(({ label, text }) => `${label}\t${text}\n`).join(''),
        drawn.map(({ walk }) => `${walk.join(' ')}\n`).join(''),
      ];
    });
  }
  const phrases = nodes.reduce((sum, { topic }) => sum + topic.phrases.length, 0);
  const line = ({ theme, topic }: WordNode, node: number) =>
    `${[node, THEMES[theme]!.name, topic.name, ...topic.phrases].join('\t')}\n`;
  return writeTruth(folder, adjacency, ['node_phrases.tsv', nodes.map(line).join('')], {
    format: WORDS_FORMAT,
    version: 1,
    settings: { ...settings, graphOptions: language.model.options },
    counts: { ...graphCounts(language), phrases, labels, sentences },
  });
}

const CHUNK = 4096;
