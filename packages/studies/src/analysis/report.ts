import { UserError } from '@hidden-schema/base';
import type { LanguageRun, OpenedRun } from '@hidden-schema/hsn';
import { linkProbabilities } from '@hidden-schema/hsn/graph/link-records';
import { readMetrics } from '@hidden-schema/hsn/run/metrics';
import { reportDamage } from '@hidden-schema/hsn/run/run-faults';
import { drawCurves } from '../drawing/curves.ts';
import { degreeFigure } from '../evaluation/degree-figure.ts';
import { studyGraph } from '../evaluation/graph-samples.ts';
import { type LabelMaps, labelMaps } from '../evaluation/label-maps.ts';
import type { Sheet } from '../evaluation/sheets.ts';
import { withoutStays } from '../measures/step-weights.ts';
import {
  attentionSheet,
  degreeSheet,
  divergenceSheet,
  graphSheet,
  interpolationSheet,
  symbolSheet,
  typicalSheet,
} from './analysis-sheets.ts';
import { studyAttention } from './attention.ts';
import { type EncodedCorpus, type EncodingOptions, encodedCorpus } from './encoded.ts';
import { drawAttention, drawDivergence, drawLabelMaps } from './figures.ts';
import { interpolateWalks } from './interpolate.ts';
import type { SymbolMeaning } from './meaning.ts';
import { finalFigures, runFacts } from './model-card.ts';
import { symbolNames } from './names.ts';
import { overviewOf, themeName } from './report-overview.ts';
import { type ReportPart, type ReportSection, reportPage } from './report-page.ts';
import {
  comparisonSections,
  labelComparison,
  MOST_LABELS,
  searchedTexts,
  timeSections,
  timeStudyOf,
} from './report-reading.ts';
import { storedMeanings } from './stored-meanings.ts';

export interface ReportOptions extends EncodingOptions {
  /** Words of the attention study; chosen from the symbols' words unless given. */
  words?: readonly string[];
  /** Graphs drawn for statistics. */
  samples?: number;
  /** Texts that the page's search holds; 5000 unless given. */
  texts?: number;
  /** Called with what is being worked out. */
  onStage?: (what: string) => void;
}

/** All tables and figures of a run as one HTML page that needs nothing else. */
export async function runReport(run: OpenedRun, options: ReportOptions = {}): Promise<string> {
  const stage = options.onStage ?? (() => {});
  stage('walks of sentences');
  const encoded = await encodedCorpus(run, options);
  try {
    stage('what symbols mean');
    const meanings = await storedMeanings(run, { ...options, encoded });
    stage('graph statistics');
    const comparison = labelComparison(encoded);
    const time = await timeStudyOf(run, encoded, options.signal);
    const overview = overviewOf(run, { encoded, meanings, comparison, time });
    // What was found first, then how it came about.
    const sections = [
      symbolsSection(meanings),
      examplesSection(meanings),
      ...comparisonSections(run, comparison),
      ...labelSections(run, encoded, meanings),
      ...timeSections(run, time),
      graphSection(run, options.samples),
      trainingSection(run),
    ];
    if (run.kind === 'language' && run.texts.writes) {
      stage('attention');
      sections.push(await attentionSection(run, encoded, options.words ?? frequentWords(meanings), options));
      stage('interpolation');
      sections.push(await interpolationSection(run, encoded));
    }
    const facts = [...runFacts(run.run), ['checkpoint', `step ${run.step}`] as [string, string]];
    stage('search');
    const searched = await searchedTexts(run, encoded, meanings, options);
    return reportPage({ overview, facts, sections, searched });
  } finally {
    encoded.close();
  }
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

function graphSection(run: OpenedRun, samples?: number): ReportSection {
  const study = studyGraph(
    linkProbabilities(run.model),
    run.symbols,
    samples === undefined ? {} : { samples },
  );
  const title = `Degree distribution, ${study.inferred.samples} sampled graphs`;
  return {
    title: 'Graph',
    parts: [
      { text: study.verdict.text },
      { sheet: graphSheet(study) },
      { svg: degreeFigure(study, title) },
      { sheet: degreeSheet(study) },
    ],
  };
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
  const names = symbolNames(run.run);
  const words = (symbol: number) =>
    meanings[symbol]!.words.slice(0, 5)
      .map(({ word }) => word)
      .join(' ');
  return [
    {
      title: 'Each label',
      parts: [
        ...(few
          ? [{ svg: drawLabelMaps(run, maps.maps, `Schema distributions of labels, ${sentences}`).svg }]
          : []),
        { sheet: typicalSheet(maps, names, words) },
        ...(few ? divergenceParts(maps) : []),
      ],
    },
  ];
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
  const columns = [
    { title: 'theme', align: 'left' as const },
    { title: 'label' },
    { title: 'walk' },
    { title: 'text' },
  ];
  const title = 'Texts that are most surely about a theme';
  return {
    title: 'Texts of each theme',
    parts: [{ sheet: { name: 'examples', title, columns, rows } }],
  };
}

/** Words that many sentences have and that belong to different symbols. */
function frequentWords(meanings: readonly SymbolMeaning[]): string[] {
  const best = meanings
    .flatMap(({ words }) => words.toSorted((a, b) => b.count - a.count).slice(0, 1))
    .sort((a, b) => b.count - a.count);
  return [...new Set(best.map(({ word }) => word))].slice(0, 3);
}

async function attentionSection(
  run: LanguageRun,
  encoded: EncodedCorpus,
  words: readonly string[],
  { signal, onProgress }: ReportOptions,
): Promise<ReportSection> {
  const title = 'Attention';
  const options = { limit: 1000, ...(signal ? { signal } : {}), ...(onProgress ? { onProgress } : {}) };
  try {
    const study = await studyAttention(run, encoded, words, options);
    const figures = drawAttention(study, symbolNames(run.run));
    return { title, parts: [{ sheet: attentionSheet(study) }, ...figures.map(({ svg }) => ({ svg }))] };
  } catch (error) {
    if (error instanceof UserError) return { title, parts: [{ text: error.message }] };
    throw error;
  }
}

/** Between the first sentence and the first that shares nothing with it. */
async function interpolationSection(run: LanguageRun, encoded: EncodedCorpus): Promise<ReportSection> {
  const title = 'Interpolation';
  const first = encoded.walk(0);
  let other = 0;
  while (other < encoded.count - 1 && encoded.walk(other).some((symbol) => first.includes(symbol))) other++;
  const [a, b] = [encoded.sentence(0), encoded.sentence(other)];
  const found = await interpolateWalks(run, a.walk, b.walk, { write: { maxTokens: 40 } });
  if (found.unreachable) return { title, parts: [{ text: found.unreachable }] };
  const complete = {
    ...found,
    first: { ...found.first, text: a.text },
    second: { ...found.second, text: b.text },
  };
  return { title, parts: [{ sheet: interpolationSheet(complete, symbolNames(run.run)) }] };
}
