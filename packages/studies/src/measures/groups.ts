import { UserError } from '@hidden-schema/base';
import type { LabelledWalks } from './label-maps.ts';
import { countPresence } from './presence.ts';
import {
  cohensH,
  differenceInterval,
  fisherExact,
  type Interval,
  shareOf,
  wilsonInterval,
  withCorrected,
} from './proportions.ts';

/** How often a symbol or link is met in a group: texts whose walk has it, of all texts, with a Wilson interval of 95 %. */
export interface GroupShare {
  count: number;
  texts: number;
  share: number;
  interval: Interval;
}

/** A symbol or link in a group beside the others. */
export interface ComparedShare {
  group: string;
  own: GroupShare;
  others: GroupShare;
  /** own − others, with Newcombe's interval of 95 %. */
  difference: number;
  differenceInterval: Interval;
  /** Cohen's h. */
  effect: number;
  /** Fisher's exact test, two-sided, and that after Benjamini and Hochberg over all tests of the table. */
  p: number;
  corrected: number;
}

/** What groups of texts have more of, and by which methods that is told. */
export interface GroupComparison {
  groups: { group: string; texts: number }[];
  /** Texts in no group. */
  left: number;
  /** "rest": each group beside all other texts in groups. "pair": two groups beside each other, told once. */
  against: 'rest' | 'pair';
  interval: string;
  test: string;
  correction: string;
  /** By effect, what a group has most more of first. */
  symbols: (ComparedShare & { symbol: number })[];
  links: (ComparedShare & { link: readonly [i: number, j: number] })[];
}

export interface GroupOptions {
  /** Two groups to compare with each other; without them each with the rest. */
  pair?: readonly [string, string];
  /** Texts that must take a link for it to be compared; 10 unless given. */
  leastTexts?: number;
}

const defaultLeast = 10;
/** More groups than this, or many of hardly any texts, are names or numbers rather than groups. */
const mostGroups = 500;
const manyGroups = 50;
const fewTexts = 3;

/** Which symbols and links one group of texts has more of than the others. */
export function compareGroups(labelled: LabelledWalks, options: GroupOptions = {}): GroupComparison {
  const { pair, leastTexts = defaultLeast } = options;
  const { names, groupOf } = pair ? chosenPair(labelled, pair) : filledGroups(labelled);
  const { walks, symbols: K, length } = labelled;
  const presence = countPresence({ walks, symbols: K, length, groupOf, groups: names.length });
  const texts = presence.texts;
  const all = texts.reduce((sum, count) => sum + count, 0);
  const compared = (counts: Int32Array) => eachGroup(counts, texts, pair ? 1 : names.length, names);
  const common = presence.links.filter(({ counts }) => counts.reduce((a, b) => a + b, 0) >= leastTexts);
  const symbols = presence.symbols.flatMap((counts, symbol) =>
    compared(counts).map((one) => ({ symbol, ...one })),
  );
  const links = common.flatMap(({ link, counts }) => compared(counts).map((one) => ({ link, ...one })));
  return {
    groups: names.map((group, at) => ({ group, texts: texts[at]! })),
    left: groupOf.length - all,
    against: pair ? 'pair' : 'rest',
    interval: 'Wilson, 95 %; of differences Newcombe, 95 %',
    test: "Fisher's exact test, two-sided",
    correction: `Benjamini–Hochberg over ${symbols.length} tests of symbols and ${links.length} of links (those that at least ${leastTexts} texts take)`,
    symbols: ranked(symbols),
    links: ranked(links),
  };
}

/** Whether what was taken for groups are names or numbers of texts. */
export const tooManyGroups = (groups: number, texts: number): boolean =>
  groups > mostGroups || (groups > manyGroups && texts < fewTexts * groups);

/** As people order names with numbers in them: 2 before 10. */
const { compare: byName } = new Intl.Collator('en', { numeric: true });

/** How many texts have each label. */
export function textsOfLabels({ labels, labelOf }: Pick<LabelledWalks, 'labels' | 'labelOf'>): Int32Array {
  const counts = new Int32Array(labels.length);
  for (let n = 0; n < labelOf.length; n++) if (labelOf[n]! >= 0) counts[labelOf[n]!]!++;
  return counts;
}

/** The groups that have texts, in the order of their names. */
function filledGroups({ labels, labelOf }: LabelledWalks) {
  const counts = textsOfLabels({ labels, labelOf });
  const filled = labels
    .flatMap((_, at) => (counts[at]! > 0 ? [at] : []))
    .sort((a, b) => byName(labels[a]!, labels[b]!));
  if (filled.length < 2)
    throw new UserError(
      filled.length === 0
        ? 'no text is in a group, so there is nothing to compare'
        : `all texts are of the group ${JSON.stringify(labels[filled[0]!])}; two groups are needed to compare`,
    );
  const texts = counts.reduce((sum, count) => sum + count, 0);
  if (tooManyGroups(filled.length, texts))
    throw new UserError(
      `there are ${filled.length} groups of ${texts} texts, too many to compare: name two groups, or choose a column that has fewer`,
    );
  const place = new Map(filled.map((label, at) => [label, at]));
  const groupOf = Int32Array.from({ length: labelOf.length }, (_, n) => place.get(labelOf[n]!) ?? -1);
  return { names: filled.map((label) => labels[label]!), groupOf };
}

function chosenPair({ labels, labelOf }: LabelledWalks, pair: readonly [string, string]) {
  const places = pair.map((name) => {
    const at = labels.indexOf(name);
    if (at >= 0) return at;
    const shown = labels.slice(0, 20).join(', ');
    throw new UserError(
      `there is no group ${JSON.stringify(name)}; groups are ${shown}${labels.length > 20 ? ', …' : ''}`,
    );
  });
  if (places[0] === places[1])
    throw new UserError(`a group cannot be compared with itself, got ${pair[0]} twice`);
  const groupOf = Int32Array.from({ length: labelOf.length }, (_, n) => places.indexOf(labelOf[n]!));
  for (const [at, name] of pair.entries())
    if (!groupOf.includes(at))
      throw new UserError(`no text read so far is of the group ${JSON.stringify(name)}`);
  return { names: [...pair], groupOf };
}

type Untested = Omit<ComparedShare, 'corrected'>;

function eachGroup(
  counts: Int32Array,
  texts: Int32Array,
  groups: number,
  names: readonly string[],
): Untested[] {
  const sum = (of: Int32Array) => of.reduce((total, count) => total + count, 0);
  const [found, all] = [sum(counts), sum(texts)];
  return Array.from({ length: groups }, (_, at) => {
    const own = groupShare(counts[at]!, texts[at]!);
    const others = groupShare(found - counts[at]!, all - texts[at]!);
    return {
      group: names[at]!,
      own,
      others,
      difference: own.share - others.share,
      differenceInterval: differenceInterval(counted(own), counted(others)),
      effect: cohensH(own.share, others.share),
      p: fisherExact(own.count, own.texts - own.count, others.count, others.texts - others.count),
    };
  });
}

const counted = ({ count, texts }: GroupShare) => ({ count, total: texts });

export function groupShare(count: number, texts: number): GroupShare {
  return { count, texts, share: shareOf({ count, total: texts }), interval: wilsonInterval(count, texts) };
}

const ranked = <T extends Untested>(tested: readonly T[]): (T & { corrected: number })[] =>
  withCorrected(tested).sort((a, b) => b.effect - a.effect || a.corrected - b.corrected);
