import { Readable } from 'node:stream';
import { UserError } from '@hidden-schema/base';
import { given } from '@hidden-schema/studies/analyses/analysis';
import type { TextSettings } from '@hidden-schema/text';

/** How texts are read. */
export interface TextOptions {
  /** Column with the texts: a name, a number where no row names columns, or a path in JSON; `text` unless given. */
  text?: string;
  /** Column with the labels; `label`, where there is one, unless given. */
  label?: string;
  /** Column with the dates, for what changes over time. */
  time?: string;
  /** How the file is written; by its ending unless given. */
  format?: NonNullable<TextSettings['format']>;
  /** What separates columns of a table; found in the file unless given. */
  delimiter?: string;
  /** Whether the first row names the columns; found in the file unless given. */
  header?: boolean;
  /** Encoding of the file, such as windows-1252; UTF-8, or UTF-16 where the file says so, unless given. */
  encoding?: string;
  /** What to do with bytes that are not UTF-8: stop (`error`, the default), put U+FFFD in their place, or skip the text. */
  onBadUtf8?: TextSettings['onBadUtf8'];
  /** Whether markup, addresses and tags of news agencies are taken out of texts; true unless given. */
  clean?: boolean;
  /** Words that are no words of symbols, beside the stop words of a language. */
  stopWords?: readonly string[];
  /** `remove` keeps the first of equal texts; `keep` unless given. */
  duplicates?: TextSettings['duplicates'];
}

/** A text in memory, with its label where it has one, and what else is known of it, such as its date. */
export type TextItem =
  | string
  | { text: string; label?: string; [column: string]: string | number | undefined };

/** Texts to train on, as `texts` gives them. */
export interface Texts {
  /** A file or folder; `-` where the texts are in memory. */
  readonly input: string;
  /** How they are read. */
  readonly settings: Partial<TextSettings>;
  /** The texts in memory, anew at each call. */
  readonly stream?: () => Readable;
}

/** Tuples to train on, as `tuples` gives them. */
export interface Tuples {
  readonly kind: 'reasoning';
  /** A file or folder. */
  readonly input: string;
}

/** A synthetic language to train on, as `synthetic` gives it. */
export interface SyntheticLanguage {
  readonly kind: 'synthetic';
  /** The folder that `hsn synth` wrote. */
  readonly input: string;
}

/**
 * Tuples to train on: a file or folder of `head<TAB>relation<TAB>tail` lines, or ATOMIC's own CSV.
 *
 * @example
 * tuples('atomic');
 */
export const tuples = (input: string): Tuples => ({ kind: 'reasoning', input });

/**
 * A synthetic language to train on: the folder that `hsn synth` wrote.
 *
 * @example
 * synthetic('corpus');
 */
export const synthetic = (input: string): SyntheticLanguage => ({ kind: 'synthetic', input });

/**
 * Texts to train on: a file (a sentence a line, `label<TAB>text`, CSV, TSV, JSON, Parquet), a folder with train, valid
 * and test files, a folder of documents (.txt, .md, .html), or texts in memory, of which the run keeps a copy. Nothing is read yet.
 *
 * @example
 * texts('reviews.tsv');
 * texts('reviews.csv', { text: 'review', label: 'stars' });
 * texts([{ text: 'the food was great', label: 'good' }, { text: 'too slow', label: 'bad' }]);
 */
export function texts(source: string | Iterable<TextItem>, options: TextOptions = {}): Texts {
  if (typeof source === 'string') {
    if (source === '')
      throw new UserError('texts takes a file, a folder or texts in memory, got an empty name');
    return { input: source, settings: settingsOf(options) };
  }
  const strange = Object.keys(options).find((key) => ['text', 'label', 'format'].includes(key));
  if (strange !== undefined)
    throw new UserError(`texts in memory have no ${strange} to choose: it is for files, leave it out`);
  const items = [...source];
  return {
    input: '-',
    settings: { ...settingsOf(options), format: 'jsonl' },
    stream: () => Readable.from(items.map((item, i) => `${JSON.stringify(recordOf(item, i))}\n`)),
  };
}

function recordOf(item: TextItem, index: number): Exclude<TextItem, string> {
  const record = typeof item === 'string' ? { text: item } : item;
  if (typeof record?.text === 'string') return record;
  throw new UserError(`text ${index} is ${JSON.stringify(item)}; expected a string, or { text, label }`);
}

const settingsOf = ({ text, label, time, ...rest }: TextOptions): Partial<TextSettings> => ({
  ...{ ...given('textColumn', text), ...given('labelColumn', label), ...given('timeColumn', time) },
  ...rest,
});
