import type { LanguageFigures, RivalFigures, StepNats, SyntheticEvaluation } from '@hidden-schema/hsn';
import type {
  DecoderComparison,
  JudgedFigures,
  StageChanges,
  SubsampleStability,
  SymbolFigures,
} from '@hidden-schema/studies';

/** What each figure is, in the order shown. */
const meanings: readonly (readonly [keyof SyntheticEvaluation, string, number])[] = [
  ['auc', 'ROC AUC of link probabilities', 4],
  ['average_precision', 'average precision', 4],
  ['edges_truth', 'links of the true graph', 0],
  ['edges_expected', 'links expected under q(A)', 1],
  ['edges_sampled', 'links of sampled graphs', 1],
  ['edges_walked', 'links that walks of test sentences use', 0],
  ['frobenius_truth', '|G* - q(A)|, pairs', 3],
  ['frobenius_random', '|G^rand - q(A)|, pairs', 3],
  ['frobenius_truth_sampled', '|G* - G|, G sampled', 3],
  ['frobenius_random_sampled', '|G^rand - G|, G sampled', 3],
  ['nll', 'negative log-likelihood (nats a sentence)', 3],
  ['nll_authors', "the same in the authors' convention", 3],
  ['kl_walk', 'KL of the aggregated walks', 3],
  ['kl_walk_sentence', "mean KL of each sentence's walk", 3],
  ['kl_graph', 'KL of the graph', 2],
  ['hits', 'symbols read correctly', 4],
];

/** Every figure that a model of texts may have. */
type TextFigures = LanguageFigures & RivalFigures & DecoderComparison;

const languageMeanings: readonly (readonly [keyof TextFigures, string, number])[] = [
  ['perplexity', 'importance-weighted, per token', 2],
  ['perplexity_error', 'its standard error', 2],
  ['perplexity_wide', 'the same by walks drawn less surely as well: the closest estimate', 2],
  ['perplexity_wide_error', 'its standard error', 2],
  ['perplexity_paper', "the paper's Eq. 34: the graph weighs in every sentence", 2],
  ['baseline_perplexity', 'of the same decoder without symbols', 2],
  ['perplexity_bound', 'of the bound, which no draws improve', 2],
  ['perplexity_reconstruction', 'were walks, or latents, for free', 2],
  ['perplexity_ratio', 'perplexity to that of the decoder alone', 3],
  ['perplexity_wide_ratio', 'the same of the closest estimate', 3],
  ['efficiency', 'nats that a walk saves the decoder, for each nat it tells', 3],
  ['efficiency_paid', 'the same for each nat it costs', 3],
  ['information_sentences', 'sentences that information and divergences are over', 0],
  ['mutual_information', "I(z; x) by the paper's estimator (nats)", 3],
  ['mutual_information_exact', 'I(z; x) of these sentences, exactly', 3],
  ['mutual_information_bound', 'the most that so many sentences can have', 3],
  ['reconstruction', '-E log p(x|z) (nats a sentence)', 3],
  ['kl', "mean KL of each sentence's latent", 3],
  ['kl_aggregated', 'KL of the aggregated latents', 3],
  ['active_units', 'dimensions whose means differ between sentences', 0],
  ['kl_walk', "mean KL of each sentence's walk", 3],
  ['kl_walk_aggregated', 'KL of the aggregated walks', 3],
  ['kl_graph', 'KL of the graph', 2],
  ['symbols_used', 'symbols, or codes, that these sentences use', 0],
];

type RunSymbolFigures = SymbolFigures & { npmi_reference?: number | null };

/** Coherence in the texts themselves, which hardly follows people, comes last. */
const symbolMeanings: readonly (readonly [keyof RunSymbolFigures, string, number])[] = [
  ['nmi', 'first symbols against labels: normalised mutual information', 3],
  ['ami', 'the same, adjusted for chance', 3],
  ['purity', 'texts whose label is the commonest of their first symbol', 3],
  ['reader', 'labels that a linear reader of walks gets right', 3],
  ['reader_weighed', 'the same where it knows how much of the text each symbol tells', 3],
  ['stability', 'agreement of first symbols with those of another seed (AMI)', 3],
  ['walk_information', 'what walks tell of texts (nats)', 3],
  ['walk_information_bound', 'the most that so many texts allow', 3],
  ['told_apart', 'texts with a walk of their own', 3],
  ['links', 'links of probability above one half', 0],
  ['density', 'their share of all pairs', 3],
  ['linked_moves', 'moves of walks along them', 4],
  ['diversity', 'different words among the first ten of all symbols', 3],
  ['npmi_reference', "coherence of symbols' words in the other corpus (NPMI, ten words in a row)", 3],
  ['embedding_coherence', "coherence of symbols' words by their vectors of the run's own encoder", 3],
  ['npmi', 'and in the texts themselves (NPMI)', 3],
  ['cv', 'the same by C_v', 3],
];

/** How good symbols are, as lines. */
export function symbolText(figures: RunSymbolFigures): string {
  return figureLines(figures, symbolMeanings, `symbols and walks of ${figures.texts} texts:`);
}

/** What another encoder says of walks and words, as lines. */
export function judgedText({ judge, texts, of, steps, ...figures }: JudgedFigures): string {
  const some = texts === of ? `${texts} texts` : `${texts} of ${of} texts`;
  const fits = steps.flatMap(({ fit, texts: have }, at) =>
    fit === null
      ? []
      : [
          [
            `fit_${at + 1}`,
            fit.toFixed(3),
            `${at === 0 ? 'other symbols that fit a text worse than its first; chance is 0.5' : `the same of step ${at + 1}`}: ${have} texts`,
          ] as const,
        ],
  );
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
    const [a, b] = [discovered[key as keyof SymbolFigures], written[key as keyof SymbolFigures]];
    return typeof a !== 'number' || typeof b !== 'number'
      ? []
      : [[key, a.toFixed(digits), b.toFixed(digits)]];
  });
  const width = Math.max(...rows.map(([name]) => name!.length));
  const lines = rows.map(
    ([name, a, b]) => `  ${name!.padEnd(width)}  ${a!.padStart(10)}  ${b!.padStart(10)}\n`,
  );
  return `${' '.repeat(width + 4)}discovered  after ${step} steps\n${lines.join('')}walks that changed: ${share(changes.walks)}; first symbols: ${share(changes.firstSymbols)}; links: ${changes.links} of ${discovered.links}\n`;
}

/** An evaluation as lines for a terminal; figures that need a truth are left out where there is none. */
export function evaluationText(evaluation: SyntheticEvaluation): string {
  return figureLines(evaluation, meanings, `on ${evaluation.sentences} test sentences:`);
}

/** The same of a model of texts; a baseline has fewer figures. */
export function languageText(figures: Partial<TextFigures> & { sentences: number }): string {
  const lines = figureLines<Partial<TextFigures>>(
    figures,
    languageMeanings,
    `on ${figures.sentences} test sentences:`,
  );
  return `${lines}${figures.steps ? stepText(figures.steps, figures.evidence) : ''}`;
}

/** What each step of walks costs, and what the decoder gains by it. */
function stepText(steps: readonly StepNats[], evidence: readonly number[] | undefined): string {
  const row = (name: string, values: readonly string[]) =>
    `  ${name.padEnd(8)}${values.map((value) => value.padStart(8)).join('')}`;
  const of = (value: number | null) => value?.toFixed(2) ?? '-';
  const missing = steps.slice(1).some(({ gained }) => gained === null)
    ? '  gained: not known where walks do not end\n'
    : steps[0]!.gained === null
      ? '  gained by the first step: add --baseline, a run of the decoder alone\n'
      : '';
  const used = evidence
    ? `${row('evidence', evidence.map(String))}  share of it that walks are drawn with, fitted on validation sentences\n`
    : '';
  return `nats a sentence, by step of the walk:\n${row(
    'step',
    steps.map((_, i) => String(i + 1)),
  )}\n${used}${row(
    'paid',
    steps.map(({ paid }) => of(paid)),
  )}  divergence from the walk prior\n${row(
    'gained',
    steps.map(({ gained }) => of(gained)),
  )}  by the decoder, which reads the step\n${missing}`;
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

function figureLines<T extends object>(
  figures: T,
  known: readonly FigureMeaning<T>[],
  title: string,
): string {
  return linesOf(title, rowsOf(figures, known));
}
