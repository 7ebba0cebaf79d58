import type { LanguageFigures, RivalFigures, StepNats, SyntheticEvaluation } from '@hidden-schema/hsn';
import type {
  DecoderComparison,
  JudgedFigures,
  StageChanges,
  SubsampleStability,
  SymbolFigures,
} from '@hidden-schema/studies';
import {
  languageMeanings,
  symbolMeanings,
  syntheticMeanings,
} from '@hidden-schema/studies/measures/figure-meanings';

/** Every figure that a model of texts may have. */
type TextFigures = LanguageFigures & RivalFigures & DecoderComparison;
/** Figures of symbols, and their words' coherence in another corpus where one is named. */
export type RunSymbolFigures = SymbolFigures & { npmi_reference?: number | null };

/** How good symbols are, as lines. */
export function symbolText(figures: RunSymbolFigures): string {
  return figureLines(figures, symbolMeanings, `symbols and walks of ${figures.texts} texts:`);
}

/** What another encoder says of walks and words, as lines. */
export function judgedText({ judge, texts, of, steps, ...figures }: JudgedFigures): string {
  const some = texts === of ? `${texts} texts` : `${texts} of ${of} texts`;
  const fits = steps.flatMap(({ fit, texts: have }, at): FigureRow[] => {
    const first = 'other symbols that fit a text worse than its first; chance is 0.5';
    const meaning = `${at === 0 ? first : `the same of step ${at + 1}`}: ${have} texts`;
    return fit === null ? [] : [[`fit_${at + 1}`, fit.toFixed(3), meaning]];
  });
  const rest = rowsOf(figures, [
    ['fit_later', 'fit of all later steps that name a new symbol', 3],
    ['symbols_per_text', 'different symbols of a text', 2],
    ['repeats', 'steps that name no new symbol, which are not measured', 0],
    ['unplaced', 'steps on a symbol that no other text begins with, not measured', 0],
    ['coherence', "mean cosine of the vectors of symbols' words", 3],
  ]);
  return linesOf(`by ${judge}, which took no part, of ${some}:`, [...fits, ...rest]);
}

/** Agreement of symbols of parts of the texts, as lines. */
export function subsampleText(figures: SubsampleStability): string {
  return figureLines(
    figures,
    [
      ['nmi', 'first symbols of common texts: normalised mutual information', 3],
      ['ari', 'the same: adjusted Rand index', 3],
      ['words', 'words in common of symbols that are matched', 3],
    ],
    'between symbols of random 80 % of the texts:',
  );
}

/** Symbols before and after the decoder learnt to write. */
export function stagesText(
  { discovered, written }: { discovered: SymbolFigures; written: SymbolFigures },
  changes: StageChanges,
  step: number,
): string {
  const share = (value: number) => `${(100 * value).toFixed(1)} %`;
  const rows = symbolMeanings.flatMap(([key, , digits]) => {
    const [a, b] = [discovered, written].map((of) => of[key as keyof SymbolFigures]);
    return typeof a === 'number' && typeof b === 'number'
      ? [{ key, a: a.toFixed(digits), b: b.toFixed(digits) }]
      : [];
  });
  const width = Math.max(...rows.map(({ key }) => key.length));
  const lines = rows.map(({ key, a, b }) => `  ${key.padEnd(width)}  ${a.padStart(10)}  ${b.padStart(10)}\n`);
  return `${' '.repeat(width + 4)}discovered  after ${step} steps\n${lines.join('')}walks that changed: ${share(changes.walks)}; first symbols: ${share(changes.firstSymbols)}; links: ${changes.links} of ${discovered.links}\n`;
}

/** An evaluation as lines for a terminal; figures that need a truth are left out where there is none. */
export function evaluationText(evaluation: SyntheticEvaluation): string {
  return figureLines(evaluation, syntheticMeanings, `on ${evaluation.sentences} test sentences:`);
}

/** The same of a model of texts; a baseline has fewer figures. */
export function languageText(figures: Partial<TextFigures> & { sentences: number }): string {
  const title = `on ${figures.sentences} test sentences:`;
  const lines = figureLines<Partial<TextFigures>>(figures, languageMeanings, title);
  return `${lines}${figures.steps ? stepText(figures.steps, figures.evidence) : ''}`;
}

/** What each step of walks costs, and what the decoder gains by it. */
function stepText(steps: readonly StepNats[], evidence: readonly number[] | undefined): string {
  const row = (name: string, values: readonly string[], meaning = '') =>
    `  ${name.padEnd(8)}${values.map((value) => value.padStart(8)).join('')}${meaning}\n`;
  const of = (value: number | null) => value?.toFixed(2) ?? '-';
  const paid = steps.map((step) => of(step.paid));
  const gained = steps.map((step) => of(step.gained));
  const missing = steps.slice(1).some((step) => step.gained === null)
    ? '  gained: not known where walks do not end\n'
    : steps[0]!.gained === null
      ? '  gained by the first step: add --baseline, a run of the decoder alone\n'
      : '';
  const fitted = '  share of it that walks are drawn with, fitted on validation sentences';
  return [
    'nats a sentence, by step of the walk:\n',
    row(
      'step',
      Array.from(steps.keys(), (step) => String(step + 1)),
    ),
    evidence ? row('evidence', evidence.map(String), fitted) : '',
    row('paid', paid, '  divergence from the walk prior'),
    row('gained', gained, '  by the decoder, which reads the step'),
    missing,
  ].join('');
}

/** A figure's name, its value and what it means. */
type FigureRow = readonly [name: string, value: string, meaning: string];
type FigureMeaning<T> = readonly [key: keyof T & string, meaning: string, digits: number];

/** Times the importance-weighted perplexity above which the paper's estimate says nothing. */
const mostTimes = 1000;

/** Whether the paper's estimator, whose weights hold the graph's divergence once a sentence, has lost all draws but one. */
const brokeDown = (key: string, value: number, { perplexity }: { perplexity?: number }): boolean =>
  key === 'perplexity_paper' && perplexity !== undefined && !(value < mostTimes * perplexity);

function rowsOf<T extends object>(figures: T, known: readonly FigureMeaning<T>[]): FigureRow[] {
  return known.flatMap(([key, meaning, digits]) => {
    const value = figures[key];
    if (typeof value !== 'number') return [];
    if (brokeDown(key, value, figures))
      return [[key, 'none', 'the estimator of Eq. 34 broke down: one draw outweighs all others'] as const];
    return [[key, value.toFixed(digits), meaning] as const];
  });
}

function linesOf(title: string, rows: readonly FigureRow[]): string {
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const valueWidth = Math.max(...rows.map(([, value]) => value.length));
  const lines = rows.map(
    ([name, value, meaning]) => `  ${name.padEnd(nameWidth)}  ${value.padStart(valueWidth)}  ${meaning}\n`,
  );
  return `${title}\n${lines.join('')}`;
}

const figureLines = <T extends object>(
  figures: T,
  known: readonly FigureMeaning<T>[],
  title: string,
): string => linesOf(title, rowsOf(figures, known));
