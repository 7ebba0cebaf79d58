import fs from 'node:fs';
import path from 'node:path';

/** What only the folder of a synthetic language holds. */
const marks = ['adjacency.txt', 'train_walks.txt', 'node_tokens.tsv'];
/** What only the folder of readable sentences drawn from a graph holds. */
const wordsMark = 'node_phrases.tsv';
const peekedBytes = 1 << 16;

/**
 * Whether a corpus holds texts, or a synthetic language. A file or standard input is text; a folder is one of a
 * synthetic language if it says so, or if its sentences all have the same number of tokens, as texts never have.
 */
export function corpusKind(corpus: string): 'synthetic' | 'language' {
  const stat = corpus === '-' ? undefined : fs.statSync(corpus, { throwIfNoEntry: false });
  if (corpus === '-' || stat?.isFile()) return 'language';
  if (stat && fs.existsSync(path.join(corpus, wordsMark))) return 'language';
  if (!stat || marks.some((name) => fs.existsSync(path.join(corpus, name)))) return 'synthetic';
  return evenSentences(path.join(corpus, 'train.txt')) ? 'synthetic' : 'language';
}

/** Whether the first lines of a file all have the same number of tokens. */
function evenSentences(file: string): boolean {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  const bytes = Buffer.alloc(peekedBytes);
  const descriptor = fs.openSync(file, 'r');
  const count = fs.readSync(descriptor, bytes);
  fs.closeSync(descriptor);
  const lines = bytes.toString('utf8', 0, count).split('\n');
  // The last one may be cut.
  const tokens = lines.slice(0, -1).map((line) => line.trim().split(/\s+/).length);
  return tokens.length > 1 && tokens[0]! > 1 && tokens.every((length) => length === tokens[0]);
}
