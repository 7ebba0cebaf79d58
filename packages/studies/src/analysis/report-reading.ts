import type { OpenedRun } from '@hidden-schema/hsn';
import { comparisonFigure, comparisonSheets, comparisonText } from '../comparison/group-sheets.ts';
import { compareGroups, tooManyGroups } from '../comparison/groups.ts';
import { studyTime } from '../comparison/time.ts';
import { burstSheet, timeFigureOf } from '../comparison/time-sheets.ts';
import { comparableLabels } from '../measures/topic-figures.ts';
import type { EncodedCorpus } from './encoded.ts';
import type { SymbolMeaning } from './meaning.ts';
import { symbolNames, symbolTitle } from './names.ts';
import type { ReportSection } from './report-page.ts';
import type { SearchedTexts } from './report-search.ts';
import { textColumn, textTimes, timeColumnOf } from './text-columns.ts';
import { unsureTexts } from './unsure.ts';

/** What the texts of one label have more of; nothing where labels say nothing of texts. */
export function comparisonSections(run: OpenedRun, encoded: EncodedCorpus): ReportSection[] {
  const labels = Array.from(encoded.labelOf, (label) => encoded.labels[label]);
  const known = labels.filter((label) => label !== undefined);
  if (!comparableLabels(labels).labels || tooManyGroups(new Set(known).size, known.length)) return [];
  const comparison = compareGroups(encoded);
  const title = titleOf(run);
  const sheets = comparisonSheets(comparison, title).filter(({ rows }) => rows.length > 0);
  const figure = sheets.length > 0 ? [{ svg: comparisonFigure(comparison, title, 'label').svg }] : [];
  return [
    {
      title: 'Labels compared',
      parts: [{ text: comparisonText(comparison) }, ...figure, ...sheets.map((sheet) => ({ sheet }))],
    },
  ];
}

/** Shares over time, where training was told of dates. */
export async function timeSections(
  run: OpenedRun,
  encoded: EncodedCorpus,
  signal?: AbortSignal,
): Promise<ReportSection[]> {
  if (timeColumnOf(run) === undefined) return [];
  const { times } = await textTimes(run, encoded, signal ? { signal } : {});
  const { walks, symbols, length } = encoded;
  const study = studyTime({ walks, symbols, length, times });
  const title = titleOf(run);
  return [
    {
      title: 'Over time',
      parts: [
        { svg: timeFigureOf(study, 'symbols', title).svg },
        ...(study.links.length > 0 ? [{ svg: timeFigureOf(study, 'links', title).svg }] : []),
        { sheet: burstSheet(study, title) },
      ],
    },
  ];
}

/** Texts that a page holds unless told otherwise: about as many as it can be sent by mail with. */
const defaultTexts = 5000;
const unsureShare = 0.05;

/** What the page's search looks through; the first texts, those of the test split before the others. */
export async function searchedTexts(
  run: OpenedRun,
  encoded: EncodedCorpus,
  meanings: readonly SymbolMeaning[],
  options: { texts?: number; signal?: AbortSignal } = {},
): Promise<SearchedTexts> {
  const { unsure } = unsureTexts(encoded, unsureShare);
  const column = timeColumnOf(run);
  const when = column === undefined ? undefined : await textColumn(run, encoded, column, options);
  const title = titleOf(run);
  return {
    symbols: meanings
      .filter(({ sentences }) => sentences > 0)
      .map(({ symbol, words, sentences }) => ({
        symbol,
        name: title(symbol),
        words: words.map(({ word }) => word),
        texts: sentences,
      })),
    texts: Array.from({ length: Math.min(encoded.count, options.texts ?? defaultTexts) }, (_, n) => {
      const { text, label, walk } = encoded.sentence(n);
      return { text, label, walk, unsure: unsure[n] === 1, when: when?.[n] ?? null };
    }),
    total: encoded.total,
  };
}

function titleOf(run: OpenedRun): (symbol: number) => string {
  const names = symbolNames(run.run);
  return (symbol) => symbolTitle(symbol, names);
}
