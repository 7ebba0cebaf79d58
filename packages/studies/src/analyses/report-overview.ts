import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn';
import { wordCell } from '../drawing/sheets.ts';
import type { GroupComparison } from '../measures/groups.ts';
import { burstWeight, firstBurst, type TimeStudy } from '../measures/time.ts';
import { drawNetwork, drawTextMap } from '../runs/network-drawing.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { OTHER_LABELS } from './report-reading.ts';

/** What the first screen of a report says, in plain words. */
export interface Overview {
  title: string;
  /** What was read, and how to read the picture. */
  sentences: string[];
  svg: string;
  themes: OverviewTheme[];
  groups: GroupDifferences[];
  changes: ThemeOverTime[];
}

export interface OverviewTheme {
  name: string;
  words: string[];
  /** Of all texts. */
  share: number;
  /** Apt texts, the aptest first. */
  examples: string[];
}

/** What a group of texts has more of than the others. */
export interface GroupDifferences {
  group: string;
  texts: number;
  more: { name: string; own: number; others: number }[];
}

/** A theme whose share is not the same at all times. */
export interface ThemeOverTime {
  name: string;
  /** When it was far more frequent than usual, with its share then and at other times; null where it had no such time. */
  peak: { when: string; inside: number; outside: number } | null;
  /** Share of the texts of each period; null where there are no texts. */
  shares: (number | null)[];
  /** The first and the last period. */
  periods: readonly [string, string];
}

const THEMES = 10;
const EXAMPLES = 2;
const WORDS = 6;
const GROUPS = 6;
const MORE = 3;
const CHANGES = 6;
/** Differences that are likelier to be chance are not told. */
const FALSE_SHARE = 0.05;

export interface OverviewParts {
  encoded: EncodedCorpus;
  meanings: readonly SymbolMeaning[];
  comparison: GroupComparison | undefined;
  time: TimeStudy | undefined;
}

/** The first screen of a run's report. */
export function overviewOf(run: OpenedRun, parts: OverviewParts): Overview {
  const { encoded, meanings, comparison, time } = parts;
  const used = meanings.filter(({ sentences }) => sentences > 0);
  const nameOf = (symbol: number) => themeName(meanings[symbol]!);
  const corpus = path.basename(run.run.record.corpus.directory);
  return {
    title: `What ${count(encoded.count)} ${KINDS[run.kind].many} of ${corpus} are about`,
    sentences: sentencesOf(run, parts, used.length),
    svg:
      run.kind === 'language'
        ? drawTextMap(run, encoded, meanings)
        : drawNetwork(run, { title: `Symbols of ${corpus}`, encoded, meanings }).svg,
    themes: used
      .toSorted((a, b) => b.sentences - a.sentences || a.symbol - b.symbol)
      .slice(0, THEMES)
      .map((meaning) => ({
        name: themeName(meaning),
        words: meaning.words.slice(0, WORDS).map(({ word }) => word),
        share: meaning.sentences / encoded.count,
        examples: meaning.examples.slice(0, EXAMPLES).map(({ text }) => text),
      })),
    groups: comparison ? differencesOf(comparison, nameOf) : [],
    changes: time ? changesOf(time, nameOf) : [],
  };
}

/** What a symbol is called: its name, else its first words. */
export const themeName = ({ symbol, name, words }: SymbolMeaning): string =>
  name ?? wordCell(words, 2) ?? `theme ${symbol}`;

const count = (n: number): string => n.toLocaleString('en');

/** What the texts of each kind of run are called. */
const KINDS: Readonly<Record<OpenedRun['kind'], { one: string; many: string }>> = {
  language: { one: 'text', many: 'texts' },
  synthetic: { one: 'sentence', many: 'sentences' },
  reasoning: { one: 'tuple', many: 'tuples' },
};

function sentencesOf(run: OpenedRun, { encoded, time }: OverviewParts, themes: number): string[] {
  const { one, many } = KINDS[run.kind];
  const notes = [
    ...(encoded.count < encoded.total ? [`of ${count(encoded.total)}`] : []),
    ...(time ? [`${time.periods[0]!.label} to ${time.periods.at(-1)!.label}`] : []),
  ];
  const about = notes.length > 0 ? ` (${notes.join('; ')})` : '';
  const read = `The program read ${count(encoded.count)} ${many}${about} and found ${themes} themes in them by itself.`;
  const walk = `Each ${one} goes through up to ${encoded.length} themes in turn: that is its walk.`;
  const picture =
    run.kind === 'language'
      ? 'In the picture each dot is a text, like texts lie together, and each name is a theme. A line joins themes that texts often go through one after the other.'
      : 'In the picture each name is a theme, called after its words. A line joins themes that often follow each other.';
  return [`${read} ${walk}`, picture];
}

/** Of the largest groups, what each surely has more of. */
function differencesOf(
  { groups, symbols }: GroupComparison,
  nameOf: (symbol: number) => string,
): GroupDifferences[] {
  return groups
    .toSorted((a, b) => b.texts - a.texts)
    .map(({ group, texts }) => ({
      ...{ group, texts },
      more: symbols
        .filter((one) => one.group === group && one.corrected < FALSE_SHARE && one.difference > 0)
        .slice(0, MORE)
        .map(({ symbol, own, others }) => ({ name: nameOf(symbol), own: own.share, others: others.share })),
    }))
    .filter(({ group, more }) => group !== OTHER_LABELS && more.length > 0)
    .slice(0, GROUPS);
}

/** Themes whose share surely changes, those with the greatest peaks first, in the order of their peaks. */
function changesOf({ symbols, periods }: TimeStudy, nameOf: (symbol: number) => string): ThemeOverTime[] {
  const ends = [periods[0]!.label, periods.at(-1)!.label] as const;
  return symbols
    .filter(({ corrected }) => corrected < FALSE_SHARE)
    .sort((a, b) => burstWeight(b) - burstWeight(a) || a.corrected - b.corrected)
    .slice(0, CHANGES)
    .sort((a, b) => firstBurst(a) - firstBurst(b))
    .map(({ symbol, bursts, shares }) => {
      const peak = bursts.toSorted((a, b) => b.weight - a.weight)[0];
      return {
        name: nameOf(symbol),
        peak: peak ? { when: peak.label, inside: peak.inside.share, outside: peak.outside.share } : null,
        shares: shares.map(({ share, texts }) => (texts === 0 ? null : share)),
        periods: ends,
      };
    });
}
