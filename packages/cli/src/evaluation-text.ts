import type { SyntheticEvaluation } from '@hidden-schema/hsn';

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

/** An evaluation as lines for a terminal; figures that need a truth are left out where there is none. */
export function evaluationText(evaluation: SyntheticEvaluation): string {
  const rows = meanings.flatMap(([key, meaning, digits]) => {
    const value = evaluation[key];
    return typeof value === 'number' ? [[key, value.toFixed(digits), meaning] as const] : [];
  });
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const valueWidth = Math.max(...rows.map(([, value]) => value.length));
  const lines = rows.map(
    ([name, value, meaning]) => `  ${name.padEnd(nameWidth)}  ${value.padStart(valueWidth)}  ${meaning}\n`,
  );
  return `on ${evaluation.sentences} test sentences:\n${lines.join('')}`;
}
