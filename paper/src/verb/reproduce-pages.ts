import path from 'node:path';
import { writeOutput } from '@hidden-schema/cli/output-files';
import type { ReportPart } from '@hidden-schema/studies/analyses/page';
import type { Reproduced } from './reproduce.ts';

/** What is kept of a piece, enough for the page. */
export interface PieceRecord extends Omit<Reproduced, 'data'> {
  /** What it was made from: another one makes it anew. */
  key: string;
  seconds: number;
  made: string;
}

/** A piece that was made, or why it was not. */
export interface Piece {
  name: string;
  record?: PieceRecord;
  failure?: string;
}

interface PageFacts {
  quick: boolean;
  /** The preset that was asked for. */
  settings?: string | undefined;
  texts: string;
}

/** One page of all pieces, as HTML that needs nothing else and as Markdown. */
export async function writePages(folder: string, pieces: readonly Piece[], about: PageFacts): Promise<void> {
  const { sectionsPage } = await import('./sections-page.ts');
  const title = `The paper's tables and figures${about.quick ? ', on small data' : ''}`;
  const seconds = pieces.reduce((sum, { record }) => sum + (record?.seconds ?? 0), 0);
  const preset = about.settings ? ` --settings ${about.settings}` : '';
  const facts: [string, string][] = [
    ['made with', `hsn reproduce all${about.quick ? ' --quick' : ''}${preset}`],
    ['texts', about.texts],
    ['minutes', (seconds / 60).toFixed(1)],
    ...(about.quick ? ([['note', quickNote]] as [string, string][]) : []),
  ];
  const sections = pieces.map(({ name, record, failure }) => ({
    title: record?.title ?? name,
    parts: record ? partsOf(record) : [{ text: `not made: ${failure}` }],
  }));
  await writeOutput(path.join(folder, 'index.html'), sectionsPage(title, facts, sections));
  await writeOutput(path.join(folder, 'index.md'), await markdownPage(title, facts, pieces));
}

const quickNote =
  'Small models, few steps and few sentences: this shows that every part works, and no figure of it says how good the method is.';

function partsOf({ sheets = [], figures = [], text }: PieceRecord): ReportPart[] {
  return [
    ...sheets.map((sheet) => ({ sheet })),
    ...figures.map(({ svg }) => ({ svg })),
    ...(text ? [{ text }] : []),
  ];
}

async function markdownPage(
  title: string,
  facts: readonly (readonly [string, string])[],
  pieces: readonly Piece[],
): Promise<string> {
  const { sheetText } = await import('@hidden-schema/studies/drawing/sheets');
  const { plainText } = await import('@hidden-schema/base');
  // Titles carry labels of a corpus, which are shown and never read as markup.
  const plain = (text: string) => plainText(text).replace(/[\\`*_[\]<>#|]/g, '\\$&');
  const sections = pieces.map(({ name, record, failure }) => {
    if (!record) return `## ${name}\n\nnot made: ${plain(failure ?? '')}\n`;
    const { sheets = [], figures = [], text } = record;
    const tables = sheets.map(
      (sheet) =>
        `**${plain(sheet.title)}**\n\n${sheetText(sheet, 'markdown')}\n${plain(sheet.caption ?? '')}\n`,
    );
    const drawings = figures.map(
      (figure) => `![${plain(figure.title)}](${record.name}/${figure.name}.svg)\n`,
    );
    return [`## ${record.title}\n`, ...tables, ...drawings, plain(text ?? '')].join('\n');
  });
  return [
    `# ${title}\n`,
    ...facts.map(([name, value]) => `- ${name}: ${plain(value)}`),
    '',
    ...sections,
    '',
  ].join('\n');
}
