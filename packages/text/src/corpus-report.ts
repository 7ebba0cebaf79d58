import { createHash } from 'node:crypto';
import type { BadUtf8Policy, TextFormat, TextSplit } from './settings.ts';

export interface FileReport {
  name: string;
  format: TextFormat;
  /** The split that its name or the user gives it. */
  split: TextSplit | null;
  bytes: number;
  sha256: string;
  lines: number;
  sentences: number;
}

export interface TokenReport {
  tokens: number;
  longest: number;
  /** Sentences that had more tokens than the model has positions, and how many tokens they lost. */
  cutSentences: number;
  lostTokens: number;
}

/** Everything that was found while a corpus was read, for its user. */
export interface CorpusReport extends ReturnType<typeof nothingFound> {
  /** Files that were read as UTF-16, by their byte order mark. */
  utf16?: number;
  /** Objects of JSON that had no text. */
  missing?: number;
  /** Texts from which markup, addresses or tags of news agencies were taken. */
  cleaned?: number;
}

const nothingFound = (policy: BadUtf8Policy) => ({
  files: [] as FileReport[],
  sentences: 0,
  lines: 0,
  blank: 0,
  /** Lines that were not UTF-8, and what was done with them. */
  badUtf8: { policy, lines: 0 },
  /** Files that began with a byte order mark, had CRLF line ends, or no newline at their end. */
  boms: 0,
  crlf: 0,
  noFinalNewline: 0,
  /** Texts from which NUL characters were taken, and in which lone surrogates became U+FFFD. */
  nul: 0,
  loneSurrogates: 0,
  /** Texts cut at the limit, and records left out because their line was longer than is held. */
  cut: 0,
  tooLong: 0,
  duplicatesRemoved: 0,
  /** Sentences of each label, in the order in which labels were met: the order of label numbers. */
  labels: [] as [label: string, sentences: number][],
  unlabelled: 0,
  tokens: null as { encoder: TokenReport; decoder: TokenReport } | null,
});

/** The report of a corpus of which nothing is read yet. */
export const emptyReport = (policy: BadUtf8Policy): CorpusReport => nothingFound(policy);

/** One hash for the files of a corpus and the splits they are for: the same data, wherever they lie. */
export function fingerprintOf(files: readonly Pick<FileReport, 'sha256' | 'split'>[]): string {
  const identities = files.map(({ sha256, split }) => [sha256, split]);
  return createHash('sha256').update(JSON.stringify(identities)).digest('hex');
}

export const counted = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;

/** Sides that read only the beginning of a long text, both unless given, and the size of batches where there are some. */
export interface NoteOptions {
  cutting?: readonly ('encoder' | 'decoder')[];
  batchSize?: number;
}

/** What a user should know about a corpus that is not as plain as could be; a line each. */
export function corpusNotes(
  report: CorpusReport,
  { cutting = ['encoder', 'decoder'], batchSize }: NoteOptions = {},
): string[] {
  const { badUtf8, labels, tokens } = report;
  const left = badUtf8.policy === 'skip' ? 'left out' : 'read with U+FFFD in place of the bad bytes';
  const notes: [count: number, text: string][] = [
    [badUtf8.lines, `${counted(badUtf8.lines, 'line')} not in UTF-8: ${left}`],
    [report.blank, `${counted(report.blank, 'blank line')} passed over`],
    [report.utf16 ?? 0, `${counted(report.utf16 ?? 0, 'file')} read as UTF-16, by the byte order mark`],
    [report.missing ?? 0, `${counted(report.missing ?? 0, 'row')} without a text passed over`],
    [
      report.cleaned ?? 0,
      `markup, addresses or tags of news agencies taken out of ${counted(report.cleaned ?? 0, 'text')}; --no-clean keeps them`,
    ],
    [report.nul, `NUL characters removed from ${counted(report.nul, 'text')}`],
    [report.loneSurrogates, `lone surrogates replaced in ${counted(report.loneSurrogates, 'text')}`],
    [report.cut, `${counted(report.cut, 'text')} longer than the limit, cut there`],
    [report.tooLong, `${counted(report.tooLong, 'record')} too long to be read, left out`],
    [report.duplicatesRemoved, `${counted(report.duplicatesRemoved, 'duplicate')} removed`],
  ];
  for (const side of cutting) {
    const found = tokens?.[side];
    if (!found) continue;
    const text = `${counted(found.cutSentences, 'sentence')} longer than the ${side}'s positions: ${found.lostTokens} tokens cut off`;
    notes.push([found.cutSentences, text]);
  }
  const lines = notes.filter(([count]) => count > 0).map(([, text]) => text);
  if (labels.length === 1)
    lines.push(`one class only: every label is ${JSON.stringify(labels[0]![0])}, so labels tell nothing`);
  if (labels.length > 0 && report.unlabelled > 0)
    lines.push(`${counted(report.unlabelled, 'sentence')} without a label`);
  if (batchSize !== undefined && report.sentences < batchSize)
    lines.push(
      `${counted(report.sentences, 'sentence')}, fewer than a batch of ${batchSize}: batches hold what there is`,
    );
  return lines;
}
