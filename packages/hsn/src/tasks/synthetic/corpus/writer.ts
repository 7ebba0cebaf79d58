import path from 'node:path';
import { graphCounts, writeCorpusFolder, writeDrawn, writeTruth } from './folder.ts';
import {
  drawLanguage,
  SentenceSampler,
  type SyntheticLanguage,
  type SyntheticSettings,
  splitCounts,
} from './synthetic.ts';

export const SPLITS = ['train', 'valid', 'test'] as const;
export type SplitName = (typeof SPLITS)[number];

export const CORPUS_FORMAT = 'hsn-synthetic-corpus';

/** `corpus.json`: how the corpus was drawn; the same settings give the same files. */
export interface CorpusRecord {
  format: typeof CORPUS_FORMAT;
  version: 1;
  settings: SyntheticSettings;
  counts: ReturnType<typeof graphCounts> & {
    tokens_in_bags: number;
    tokens_shared: number;
    sentences: Record<SplitName, number>;
  };
}

export interface WriteOptions {
  /** Replace a corpus that is already there. */
  force?: boolean;
}

/** Everything a corpus folder may hold; `force` removes a folder only when it holds nothing else. */
export const CORPUS_LAYOUT: ReadonlySet<string> = new Set([
  ...SPLITS.flatMap((split) => [`${split}.txt`, `${split}_walks.txt`]),
  ...['adjacency.txt', 'edges.tsv', 'node_tokens.tsv', 'corpus.json'],
]);

const SENTENCES_PER_CHUNK = 8192;

/** Draws a synthetic corpus and writes it to `directory`, all of it or nothing. */
export function writeSyntheticCorpus(
  settings: SyntheticSettings,
  directory: string,
  options: WriteOptions = {},
): CorpusRecord {
  const language = drawLanguage(settings);
  return writeCorpusFolder(directory, CORPUS_LAYOUT, options.force ?? false, (folder) =>
    writeFiles(language, settings, folder),
  );
}

function writeFiles(language: SyntheticLanguage, settings: SyntheticSettings, folder: string): CorpusRecord {
  const sizes = splitCounts(settings.sentences, settings.split);
  const sampler = new SentenceSampler(language, settings);
  const { length } = settings;
  for (const [part, split] of SPLITS.entries()) {
    const files = [`${split}.txt`, `${split}_walks.txt`].map((name) => path.join(folder, name));
    writeDrawn(files, sizes[part]!, SENTENCES_PER_CHUNK, (some) => {
      const { tokens, walks } = sampler.next(some);
      return [
        rowsText(tokens, length, (token) => language.vocabulary[token]!),
        rowsText(walks, length, String),
      ];
    });
  }
  const [train, valid, test] = sizes;
  return writeTruth(folder, language.adjacency, ['node_tokens.tsv', bagsText(language)], {
    format: CORPUS_FORMAT,
    version: 1,
    settings: { ...settings, graphOptions: language.model.options },
    counts: { ...graphCounts(language), ...tokenCounts(language), sentences: { train, valid, test } },
  });
}

function rowsText(values: Int32Array, length: number, name: (value: number) => string): string {
  let text = '';
  for (let at = 0; at < values.length; at++)
    text += name(values[at]!) + ((at + 1) % length === 0 ? '\n' : ' ');

  return text;
}

function bagsText({ adjacency, bag, bags, vocabulary }: SyntheticLanguage): string {
  const line = (node: number) =>
    Array.from(bags.subarray(node * bag, (node + 1) * bag), (token) => vocabulary[token]!).sort();
  return Array.from({ length: adjacency.nodes }, (_, node) => `${node}\t${line(node).join(' ')}\n`).join('');
}

function tokenCounts({ bags }: SyntheticLanguage): { tokens_in_bags: number; tokens_shared: number } {
  const uses = new Map<number, number>();
  for (const token of bags) uses.set(token, (uses.get(token) ?? 0) + 1);
  const shared = [...uses.values()].filter((nodes) => nodes > 1).length;
  return { tokens_in_bags: uses.size, tokens_shared: shared };
}
