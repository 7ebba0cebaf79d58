/** How the texts of a corpus are stored; a `document` is a whole file, or a folder of them. */
export const TEXT_FORMATS = ['text', 'tsv', 'csv', 'jsonl', 'json', 'parquet', 'document'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

export const BAD_UTF8_POLICIES = ['error', 'replace', 'skip'] as const;
/** What to do with bytes that are not UTF-8: stop, put U+FFFD in their place, or leave the sentence out. */
export type BadUtf8Policy = (typeof BAD_UTF8_POLICIES)[number];

export const TEXT_SPLITS = ['train', 'valid', 'test'] as const;
export type TextSplit = (typeof TEXT_SPLITS)[number];

/** How texts are read; all of it changes what a corpus is, so all of it is part of a token cache's key. */
export interface TextSettings {
  /** By the file's ending unless given. */
  format?: TextFormat;
  /**
   * Columns by name, or by number from 1 where no row names them; in JSON also a path such as `content.body`. `text` and,
   * where there is one, `label` unless given.
   */
  textColumn?: string;
  labelColumn?: string;
  /** What separates columns of a CSV or TSV, one character; found in the file unless given. */
  delimiter?: string;
  /** Whether the first row names the columns; found in the file unless given. */
  header?: boolean;
  /** By the encoding standard's name; UTF-8, or UTF-16 where a byte order mark says so, unless given. */
  encoding?: string;
  /**
   * `detected`: delimiter, header and columns of tables are found in them, and folders may hold documents. `declared`: as
   * runs of 0.2.0 read texts, for the corpora of those runs.
   */
  layout: 'declared' | 'detected';
  /** Column with the dates of texts, for what changes over time; it changes no tokens. */
  timeColumn?: string;
  onBadUtf8: BadUtf8Policy;
  /** Whether tags of markup, character references, addresses and tags of news agencies are taken out of texts. */
  clean: boolean;
  /** Words that are no words of symbols, beside the stop words of a language; they change no tokens. */
  stopWords?: readonly string[];
  /** `remove` keeps the first of equal texts. Kept ones always lie in one split when it is drawn by seed. */
  duplicates: 'keep' | 'remove';
  /** A text of more UTF-16 units is cut there, and counted. */
  longestText: number;
  /** Bytes of a line that are held at all: what memory needs at most, whatever the file is. */
  longestLine: number;
}

export const TEXT_DEFAULTS: TextSettings = {
  layout: 'detected',
  onBadUtf8: 'error',
  clean: true,
  duplicates: 'keep',
  longestText: 1 << 20,
  longestLine: 1 << 24,
};

/** One sentence of a corpus. */
export interface TextRecord {
  text: string;
  label: string | undefined;
  /** Values of the further columns that were asked for, as text; undefined where there is none. */
  values?: (string | undefined)[];
  /** Line in its file, row of a table or number of a document, from 1. */
  line: number;
  /** Only the beginning of its line could be held. */
  cut?: boolean;
}
