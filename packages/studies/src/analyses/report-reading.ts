import type { OpenedRun } from '@hidden-schema/hsn';
import { compareGroups, type GroupComparison, textsOfLabels, tooManyGroups } from '../measures/groups.ts';
import type { LabelledWalks } from '../measures/label-maps.ts';
import { withoutStays } from '../measures/symbol-uses.ts';
import { studyTime, type TimeStudy } from '../measures/time.ts';
import { comparableLabels } from '../measures/topic-figures.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import { symbolTitles } from '../symbols/names.ts';
import type { EncodedCorpus, EncodedSentence } from '../texts/encoded.ts';
import { textColumn, textTimes, timeColumnOf } from '../texts/text-columns.ts';
import { unsureTexts } from '../texts/unsure.ts';
import type { SearchedTexts } from './report-search.ts';

/** Labels that a page compares; further ones are taken together. */
export const MOST_LABELS = 20;
/** What further labels are called together. */
export const OTHER_LABELS = 'other labels';

/** What the texts of one label have more of than all others; undefined where labels say nothing of texts. */
export function labelComparison(encoded: EncodedCorpus): GroupComparison | undefined {
  const labels = Array.from(encoded.labelOf, (label) => encoded.labels[label]);
  const known = labels.filter((label) => label !== undefined);
  if (!comparableLabels(labels).labels || tooManyGroups(new Set(known).size, known.length)) return undefined;
  return compareGroups(fewerLabels(encoded));
}

/** Walks with the labels that most texts have; of more than a page has room for, the rest as one group. */
function fewerLabels({ walks, weights, symbols, length, labels, labelOf }: EncodedCorpus): LabelledWalks {
  const walked = { walks, weights, symbols, length };
  const counts = textsOfLabels({ labels, labelOf });
  const order = Array.from(counts.keys()).sort((a, b) => counts[b]! - counts[a]! || a - b);
  if (order.length <= MOST_LABELS) return { ...walked, labels, labelOf };
  const place = new Map(order.slice(0, MOST_LABELS).map((label, at) => [label, at]));
  return {
    ...walked,
    labels: [...order.slice(0, MOST_LABELS).map((label) => labels[label]!), OTHER_LABELS],
    labelOf: Int32Array.from(labelOf, (label) => (label < 0 ? -1 : (place.get(label) ?? MOST_LABELS))),
  };
}

/** Shares over time; undefined where training was told of no dates. */
export async function timeStudyOf(
  run: OpenedRun,
  encoded: EncodedCorpus,
  signal: AbortSignal | undefined,
): Promise<TimeStudy | undefined> {
  if (timeColumnOf(run) === undefined) return undefined;
  const { times } = await textTimes(run, encoded, { signal });
  const { walks, symbols, length } = encoded;
  return studyTime({ walks, symbols, length, times });
}

/** Texts that a page holds unless told otherwise, and letters of these in all: it is to be sent by mail. */
const defaultTexts = 5000;
const MOST_LETTERS = 1_200_000;
const unsureShare = 0.05;

/** What the page's search looks through; the first texts, those of the test split before the others. */
export async function searchedTexts(
  run: OpenedRun,
  encoded: EncodedCorpus,
  meanings: readonly SymbolMeaning[],
  options: { texts?: number | undefined; signal?: AbortSignal | undefined } = {},
): Promise<SearchedTexts> {
  const { unsure } = unsureTexts(encoded, unsureShare);
  const column = timeColumnOf(run);
  const when = column === undefined ? undefined : await textColumn(run, encoded, column, options);
  const title = symbolTitles(run.run);
  return {
    symbols: meanings
      .filter(({ sentences }) => sentences > 0)
      .map(({ symbol, words, sentences }) => ({
        symbol,
        name: title(symbol),
        words: words.map(({ word }) => word),
        texts: sentences,
      })),
    texts: heldTexts(encoded, options.texts).map(({ text, label, walk }, n) => ({
      ...{ text, label, walk: withoutStays(walk) },
      ...{ unsure: unsure[n] === 1, when: when?.[n] ?? null },
    })),
    total: encoded.total,
  };
}

/** As many as were asked for; else the first that are short enough together. */
function heldTexts(encoded: EncodedCorpus, asked: number | undefined): EncodedSentence[] {
  const held: EncodedSentence[] = [];
  const most = Math.min(encoded.count, asked ?? defaultTexts);
  for (let letters = 0; held.length < most; ) {
    const sentence = encoded.sentence(held.length);
    letters += sentence.text.length;
    if (asked === undefined && letters > MOST_LETTERS) break;
    held.push(sentence);
  }
  return held;
}
