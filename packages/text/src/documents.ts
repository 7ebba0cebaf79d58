import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { CorpusReport } from './corpus-report.ts';
import { LineDecoder, type LineSource, type TextLine, utf8Blocks } from './lines.ts';
import { htmlText, markdownText } from './markup.ts';
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
