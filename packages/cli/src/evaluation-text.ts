import type { LanguageFigures, SyntheticEvaluation } from '@hidden-schema/hsn';

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

const languageMeanings: readonly (readonly [keyof LanguageFigures, string, number])[] = [
  ['perplexity', 'importance-weighted, per token', 2],
  ['perplexity_error', 'its standard error', 2],
  ['baseline_perplexity', 'of the same decoder without symbols', 2],
  ['perplexity_reconstruction', 'were walks for free', 2],
  ['mutual_information', "I(z; x) by the paper's estimator (nats)", 3],
  ['mutual_information_exact', 'I(z; x) of these sentences, exactly', 3],
  ['mutual_information_bound', 'the most that so many sentences can have', 3],
  ['reconstruction', '-E log p(x|z) (nats a sentence)', 3],
  ['kl_walk', "mean KL of each sentence's walk", 3],
  ['kl_walk_aggregated', 'KL of the aggregated walks', 3],
  ['kl_graph', 'KL of the graph', 2],
  ['symbols_used', 'symbols that walks of these sentences use', 0],
];

/** An evaluation as lines for a terminal; figures that need a truth are left out where there is none. */
export function evaluationText(evaluation: SyntheticEvaluation): string {
  return figureLines(evaluation, meanings);
}

/** The same of a language model; a baseline has fewer figures. */
export function languageText(figures: LanguageFigures): string {
  return figureLines(figures, languageMeanings);
}

function figureLines<T extends { sentences: number }>(
  figures: T,
  known: readonly (readonly [keyof T & string, string, number])[],
): string {
  const rows = known.flatMap(([key, meaning, digits]) => {
    const value = figures[key];
    return typeof value === 'number' ? [[key, value.toFixed(digits), meaning] as const] : [];
  });
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const valueWidth = Math.max(...rows.map(([, value]) => value.length));
  const lines = rows.map(
    ([name, value, meaning]) => `  ${name.padEnd(nameWidth)}  ${value.padStart(valueWidth)}  ${meaning}\n`,
  );
  return `on ${figures.sentences} test sentences:\n${lines.join('')}`;
}
