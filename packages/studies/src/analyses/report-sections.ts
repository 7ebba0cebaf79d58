import { UserError } from '@hidden-schema/base';
import type { LanguageRun, OpenedRun } from '@hidden-schema/hsn';
import { linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import { reportDamage } from '@hidden-schema/hsn/run/edit-record';
import { readMetrics } from '@hidden-schema/hsn/run/metrics';
import { drawCurves } from '../drawing/curves.ts';
import { columnsOf, type Sheet } from '../drawing/sheets.ts';
import { studyGraph } from '../measures/graph-samples.ts';
import { type LabelMaps, labelMaps } from '../measures/label-maps.ts';
import { withoutStays } from '../measures/symbol-uses.ts';
import { finalFigures, runFacts } from '../runs/model-card.ts';
import { studyAttention } from '../symbols/attention.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import { symbolNames } from '../symbols/names.ts';
import { storedMeanings } from '../symbols/stored-meanings.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { type AnalysisSource, given, type Report } from './analysis.ts';
import { attend } from './attend.ts';
import { compare } from './compare.ts';
import { drawDivergence, drawLabelMaps } from './figures.ts';
import { interpolate } from './interpolate.ts';
import { interpolateWalks } from './interpolate-texts.ts';
import { type ReportPart, type ReportSection, reportPage } from './page.ts';
import { type OverviewParts, overviewOf, themeName } from './report-overview.ts';
import { labelComparison, MOST_LABELS, searchedTexts, timeStudyOf } from './report-reading.ts';
import { divergenceSheet, symbolSheet, typicalSheet } from './sheets.ts';
import { statistics } from './statistics.ts';
import { time as timeAnalysis } from './time.ts';

export interface ReportOptions {
  /** Words of the attention study; chosen from the symbols' words unless given. */
  words?: readonly string[] | undefined;
  /** Graphs drawn for statistics. */
  samples?: number | undefined;
  /** Texts that the page's search holds; 5000 unless given. */
  texts?: number | undefined;
}

/** All tables and figures of a run as one HTML page that needs nothing else. */
export async function runReport(source: AnalysisSource, options: ReportOptions = {}): Promise<string> {
  const { run, signal } = source;
  const encoded = await source.encoded();
  const meanings = await storedMeanings(run, {
    encoded,
    signal,
    onProgress: begun(source, 'what symbols mean'),
  });
  begun(source, 'graph statistics');
  const comparison = labelComparison(encoded);
  const time = await timeStudyOf(run, encoded, signal);
  const overview = overviewOf(run, { encoded, meanings, comparison, time });
  // What was found first, then how it came about.
  const sections = [
    ...(await foundSections(source, { meanings, comparison, time }, options)),
    trainingSection(run),
    ...(run.kind === 'language' && run.texts.writes ? await decoderSections(source, meanings, options) : []),
  ];
  const facts = [...runFacts(run.run), ['checkpoint', `step ${run.step}`] as [string, string]];
  begun(source, 'search');
  const searched = await searchedTexts(run, encoded, meanings, { texts: options.texts, signal });
  return reportPage({ overview, facts, sections, searched });
}

/** Says what is being worked out; what it returns is told how far that is. */
function begun({ progress }: AnalysisSource, what: string): (done: number, total: number) => void {
  const count = progress(`report: ${what}`, 'sentences');
  count(0, 1);
  return count;
}

/** What was found, section by section. */
async function foundSections(
  source: AnalysisSource,
  { meanings, comparison, time }: Omit<OverviewParts, 'encoded'>,
  { samples }: ReportOptions,
): Promise<ReportSection[]> {
  const { run } = source;
  const study = studyGraph(linkProbabilities(run.model), run.symbols, given('samples', samples));
  const { shown: _, ...graph } = await statistics.tables(study, source);
  return [
    symbolsSection(meanings),
    examplesSection(meanings),
    ...(comparison
      ? [partsOf('Labels compared', await compare.tables({ by: 'label', ...comparison }, source))]
      : []),
    ...labelSections(run, await source.encoded(), meanings),
    ...(time ? [partsOf('Over time', await timeAnalysis.tables({ column: '', ...time }, source))] : []),
    partsOf('Graph', graph),
  ];
}

/** What the decoder does with symbols. */
async function decoderSections(
  source: AnalysisSource,
  meanings: readonly SymbolMeaning[],
  { words = frequentWords(meanings) }: ReportOptions,
): Promise<ReportSection[]> {
  const onProgress = begun(source, 'attention');
  const attention = await orFault('Attention', () => attentionSection(source, words, onProgress));
  begun(source, 'interpolation');
  return [attention, await orFault('Interpolation', () => interpolationSection(source))];
}

const titled = { loss: 'objective', validation: 'validation' };

function trainingSection({ run }: OpenedRun): ReportSection {
  const { rows, skipped } = readMetrics(run.path('metrics.jsonl'));
  if (skipped > 0) reportDamage(`${run.path('metrics.jsonl')}: ${skipped} lines are damaged and left out`);
  const series = Object.entries(titled).flatMap(([key, name]) => {
    const points = rows.flatMap((row): [number, number][] => {
      const value = row[key];
      return typeof value === 'number' && Number.isFinite(value) ? [[row.step, value]] : [];
    });
    return points.length > 1 ? [{ name, points, plain: true }] : [];
  });
  const figures: Sheet = {
    name: 'figures',
    title: 'Figures on the test split',
    columns: [{ title: 'figure' }, { title: 'value' }],
    rows: finalFigures(run),
  };
  const curve: ReportPart[] =
    series.length === 0
      ? [{ text: 'No metrics were recorded.' }]
      : [{ svg: drawCurves({ title: 'Training', xLabel: 'step', yLabel: 'nats', series }) }];
  return { title: 'Training', parts: [...curve, ...(figures.rows.length > 0 ? [{ sheet: figures }] : [])] };
}

function labelSections(
  run: OpenedRun,
  encoded: EncodedCorpus,
  meanings: readonly SymbolMeaning[],
): ReportSection[] {
  const maps = labelMaps(encoded);
  const few = maps.maps.length <= MOST_LABELS;
  const sentences = `${encoded.count} of ${encoded.total} sentences`;
  if (maps.maps.length === 0) {
    const { svg } = drawLabelMaps(run, [maps.all], `Where walks go, ${sentences}`);
    return [{ title: 'Where walks go', parts: [{ svg }] }];
  }
  const typical = { sheet: typicalSheet(maps, symbolNames(run.run), meanings) };
  if (!few) return [{ title: 'Each label', parts: [typical] }];
  const { svg } = drawLabelMaps(run, maps.maps, `Schema distributions of labels, ${sentences}`);
  return [{ title: 'Each label', parts: [{ svg }, typical, ...divergenceParts(maps)] }];
}

/** How far labels are apart, as a picture and as tables. */
const divergenceParts = (maps: LabelMaps): ReportPart[] => [
  ...(maps.maps.length > 1 ? [{ svg: drawDivergence(maps).svg }] : []),
  { sheet: divergenceSheet(maps, maps.divergence, 'label-divergence') },
  {
    sheet: {
      ...divergenceSheet(maps, maps.edgeDivergence, 'label-divergence-links'),
      title: 'Divergence between labels over links',
    },
  },
];

const symbolsSection = (meanings: readonly SymbolMeaning[]): ReportSection => ({
  title: 'All themes',
  parts: [{ sheet: symbolSheet(meanings, 10) }],
});

const shownExamples = 2;

function examplesSection(meanings: readonly SymbolMeaning[]): ReportSection {
  const inWords = (walk: readonly number[]) =>
    withoutStays(walk)
      .map((symbol) => themeName(meanings[symbol]!))
      .join(' → ');
  const rows = meanings
    .filter(({ sentences }) => sentences > 0)
    .toSorted((a, b) => b.usage - a.usage || a.symbol - b.symbol)
    .flatMap(({ symbol, examples }) =>
      examples
        .slice(0, shownExamples)
        .map(({ text, walk, label }, rank) => [
          rank > 0 ? '' : themeName(meanings[symbol]!),
          ...[label ?? undefined, inWords(walk), text],
        ]),
    );
  const columns = columnsOf({ theme: 'left', label: null, walk: null, text: null });
  const title = 'Texts that are most surely about a theme';
  return { title: 'Texts of each theme', parts: [{ sheet: { name: 'examples', title, columns, rows } }] };
}

/** Words that many sentences have and that belong to different symbols. */
function frequentWords(meanings: readonly SymbolMeaning[]): string[] {
  const best = meanings
    .flatMap(({ words }) => words.toSorted((a, b) => b.count - a.count).slice(0, 1))
    .sort((a, b) => b.count - a.count);
  return [...new Set(best.map(({ word }) => word))].slice(0, 3);
}

/** A section of what an analysis says. */
const partsOf = (title: string, { sheets, shown = sheets, figures = [], text }: Report): ReportSection => ({
  title,
  parts: [
    ...(text ? [{ text }] : []),
    ...figures.map(({ svg }) => ({ svg })),
    ...shown.map((sheet) => ({ sheet })),
  ],
});

/** A section, or why there is none. */
async function orFault(title: string, report: () => Promise<Report>): Promise<ReportSection> {
  try {
    return partsOf(title, await report());
  } catch (error) {
    if (error instanceof UserError) return { title, parts: [{ text: error.message }] };
    throw error;
  }
}

async function attentionSection(
  source: AnalysisSource,
  words: readonly string[],
  onProgress: (done: number, total: number) => void,
): Promise<Report> {
  const encoded = await source.encoded();
  const options = { limit: 1000, signal: source.signal, onProgress };
  return attend.tables(await studyAttention(source.run as LanguageRun, encoded, words, options), source);
}

/** Between the first sentence and the first that shares nothing with it. */
async function interpolationSection(source: AnalysisSource): Promise<Report> {
  const encoded = await source.encoded();
  const first = encoded.walk(0);
  let other = 0;
  while (other < encoded.count - 1 && encoded.walk(other).some((symbol) => first.includes(symbol))) other++;
  const [a, b] = [encoded.sentence(0), encoded.sentence(other)];
  const run = source.run as LanguageRun;
  const found = await interpolateWalks(run, a.walk, b.walk, { write: { maxTokens: 40 } });
  const texts = { first: { ...found.first, text: a.text }, second: { ...found.second, text: b.text } };
  return interpolate.tables({ ...found, ...texts }, source);
}
