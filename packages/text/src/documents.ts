import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { CorpusReport } from './corpus-report.ts';
import { LineDecoder, type LineSource, type TextLine, utf8Blocks } from './lines.ts';
import type { TextRecord } from './settings.ts';

/** Endings of files that are one document each, and what their text is. */
const textOf: ReadonlyMap<string, (content: string) => string> = new Map([
  ['.txt', (content) => content],
  ['.text', (content) => content],
  ['.md', markdownText],
  ['.markdown', markdownText],
  ['.html', htmlText],
  ['.htm', htmlText],
]);

const endingOf = (name: string): string => path.extname(name).toLowerCase();

export const isDocument = (name: string): boolean => textOf.has(endingOf(name));

/** One file of a folder of documents. */
export interface DocumentFile {
  file: string;
  /** Its path in the folder, with slashes. */
  name: string;
  /** The folder inside of the corpus' own that it lies in, if in one. */
  label: string | undefined;
}

/** The documents of a folder and of those inside it, by name; links are not followed. A file is its only document. */
export function documentFiles(place: string): DocumentFile[] {
  if (fs.statSync(place).isFile()) return [{ file: place, name: path.basename(place), label: undefined }];
  const files: DocumentFile[] = [];
  const visit = (inner: readonly string[]) => {
    const entries = fs.readdirSync(path.join(place, ...inner), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      const parts = [...inner, entry.name];
      if (entry.isDirectory()) visit(parts);
      else if (entry.isFile() && isDocument(entry.name))
        files.push({ file: path.join(place, ...parts), name: parts.join('/'), label: inner[0] });
    }
  };
  visit([]);
  return files;
}

/** One hash of a folder: of the names and contents of its documents, since names carry labels. */
export async function hashDocuments(
  documents: readonly Pick<DocumentFile, 'file' | 'name'>[],
  hashFile: (file: string, name: string) => Promise<{ sha256: string; bytes: number }>,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let total = 0;
  for (const { file, name } of documents) {
    const { sha256, bytes } = await hashFile(file, name);
    hash.update(`${JSON.stringify(name)} ${sha256}\n`);
    total += bytes;
  }
  return { sha256: hash.digest('hex'), bytes: total };
}

/** The documents of a folder as records, numbered from 1; of each no more bytes are held than of a line. */
export async function* documentRecords(
  source: LineSource & { from: string },
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  let number = 0;
  for (const { file, name, label } of documentFiles(source.from)) {
    number++;
    const content = await readDocument({ ...source, from: file, name }, report);
    if (content.skip) continue;
    const text = textOf.get(endingOf(file))?.(content.text) ?? content.text;
    yield { text, label, line: number, cut: content.cut };
  }
}

/** A file as if it were one line: by the same limit, and the same policy for bytes that are not UTF-8. */
async function readDocument(source: LineSource, report: CorpusReport): Promise<TextLine> {
  const blocks: Buffer[] = [];
  let [held, lost] = [0, 0];
  for await (const block of utf8Blocks(source, report)) {
    const kept = block.subarray(0, Math.max(0, source.longestLine - held));
    blocks.push(Buffer.from(kept));
    held += kept.length;
    lost += block.length - kept.length;
  }
  const decoder = new LineDecoder(source.name, report);
  return decoder.decode({ bytes: Buffer.concat(blocks), number: 1, lost, quotesLost: 0, ended: true });
}

/** Entities that texts have; others stay as they are written. */
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  deg: '°',
};

/** A text with its character references decoded, `&amp;#39;` as well as `&amp;`. */
export function decodeEntities(text: string): string {
  return text
    .replace(/&#(\d{1,7});/g, (written, digits: string) => character(Number(digits)) ?? written)
    .replace(
      /&#x([\da-f]{1,6});/gi,
      (written, digits: string) => character(Number.parseInt(digits, 16)) ?? written,
    )
    .replace(/&([a-z]{2,8});/gi, (written, name: string) => entities[name.toLowerCase()] ?? written);
}

function character(code: number): string | undefined {
  const readable = code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return readable ? String.fromCodePoint(code) : undefined;
}

/** Elements of HTML whose content nobody reads as text. */
const unread = /<(script|style|head|noscript|template|svg)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;
const comments = /<!--[\s\S]*?-->/g;
const blockTag =
  /<\/?(?:p|div|br|hr|li|ul|ol|h[1-6]|tr|table|section|article|header|footer|blockquote|pre|title|body|html)\b[^<>]*>/gi;
/** A tag begins with a name: "3 < 5" is none. */
const tag = /<\/?[a-z][a-z\d:-]*(?:\s[^<>]*)?\/?>/gi;

/** A text without the tags in it; those of blocks end lines. */
export function withoutTags(text: string): string {
  return text.replace(comments, ' ').replace(blockTag, '\n').replace(tag, ' ');
}

const tidyLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/[ \t\f\v\u00a0]+/g, ' ').trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** What a reader sees of an HTML page; its title first, where it has one. */
export function htmlText(content: string): string {
  const title = /<title\b[^>]*>([\s\S]*?)<\/title\s*>/i.exec(content)?.[1] ?? '';
  const body = withoutTags(content.replace(comments, ' ').replace(unread, ' '));
  return tidyLines(decodeEntities(`${title.replace(/\s+/g, ' ')}\n${body}`));
}

/** The text of a Markdown file: without front matter, images, addresses of links and the signs of markup. */
export function markdownText(content: string): string {
  const text = content
    .replace(/\r\n/g, '\n')
    .replace(/^\uFEFF?---\n[\s\S]*?\n---\n/, '')
    .replace(/^(?:```|~~~).*$/gm, '')
    .replace(/!\[[^\]\n]*\]\([^)\n]*\)/g, ' ')
    .replace(/\[([^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])/g, '$1')
    .replace(/^\[[^\]\n]+\]:\s.*$/gm, '')
    .replace(/^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/gm, '$1')
    .replace(/^ {0,3}(?:[-*_] ?){3,}$/gm, '')
    .replace(/^[ \t]*>[ \t]?/gm, '')
    .replace(/^[ \t]*[-*+][ \t]+/gm, '')
    .replace(/(\*\*|__)(?=\S)([^\n]*?\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}])([*_])(?=\S)([^\n]*?\S)\1(?![\p{L}\p{N}])/gu, '$2')
    .replace(/`([^`\n]+)`/g, '$1');
  return tidyLines(decodeEntities(withoutTags(text)));
}

/** Character references that lost their "&" on the way, as in "it#39;s" and "quot;yes quot;". */
const brokenReference = /(?<![&\p{L}\p{N}])(?=(?:#\d{2,5}|quot|amp|lt|gt|nbsp);)/giu;
/** "season #39;s": the apostrophe, with a space before it. */
const brokenApostrophe = /(?<=\p{L}) ?&?#39;(?=\p{L})/gu;
const address = /\b(?:(?:https?|ftp):\/\/|www\.)[^\s<>"'()[\]{}]*[^\s<>"'()[\]{}.,;:!?]/gi;
const mail = /(?<![\p{L}\p{N}])[\w.%+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})+/giu;

const agencies =
  'AP|AFP|UPI|CNN|ANSA|EFE|DPA|dpa|TASS|PTI|IANS|Xinhua|Reuters|Bloomberg|AP Photo|Associated Press|Canadian Press|SPACE\\.com|CP|PRNewswire|Business Wire|BUSINESS WIRE';
/** "WASHINGTON (Reuters) - ", "AP - ", "(AFP) –" at the beginning of a text or line. */
const dateline = new RegExp(
  `^(?:[A-Z][\\p{L}.,'/ -]{1,60}?\\s)?\\(?(?:${agencies})\\)?\\s+[-–—]{1,2}\\s+`,
  'gmu',
);
/** "(Reuters)" and "(AP)" elsewhere, and what is left of them between dashes. */
const tagged = new RegExp(`\\((?:${agencies})\\)`, 'gu');

/** Whether there may be anything to clean: most texts have nothing. */
const suspicious = new RegExp(
  `[<@]|&#?\\w|#\\d\\d|(?:quot|amp|lt|gt|nbsp);|:\\/\\/|www\\.|\\(?(?:${agencies})\\b`,
  'iu',
);

/**
 * A text without what nobody says: tags of markup, character references, addresses of pages and mail, and the tags of news
 * agencies. A text that has none of these is the same string. A text of nothing else is left as it is.
 */
export function cleanText(text: string): string {
  if (!suspicious.test(text)) return text;
  const decoded = decodeEntities(
    decodeEntities(text.replace(brokenApostrophe, "'").replace(brokenReference, '&')),
  );
  const cleaned = withoutTags(decoded)
    .replace(address, ' ')
    .replace(mail, ' ')
    .replace(dateline, '')
    .replace(tagged, ' ');
  if (cleaned === text) return text;
  const tidy = cleaned
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
  return /[\p{L}\p{N}]/u.test(tidy) ? tidy : text;
}
