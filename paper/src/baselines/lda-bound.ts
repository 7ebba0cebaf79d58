import { digamma, logGamma } from '@hidden-schema/hsn/gamma';
import type { DocumentTerms } from '@hidden-schema/studies/measures/document-terms';
import { textCount } from '@hidden-schema/studies/measures/text-words';

/**
 * The variational bound on the log-likelihood a word, both priors 1/K (Hoffman, Blei & Bach 2010, eq. 4). `texts` is
 * [N, K], `words` [V, K] and `logs` its E[ln β].
 */
export function ldaBound(
  matrix: DocumentTerms,
  { texts, words, logs }: { texts: Float64Array; words: Float64Array; logs: Float64Array },
  K: number,
): number {
  let [bound, total] = [0, 0];
  for (let text = 0; text < textCount(matrix); text++) {
    const gamma = texts.subarray(text * K, (text + 1) * K);
    const log = digamma(gamma.reduce((sum, value) => sum + value, 0));
    const logTheta = gamma.map((value) => digamma(value) - log);
    bound += dirichletTerm(gamma, logTheta, 1 / K);
    for (let at = matrix.starts[text]!; at < matrix.starts[text + 1]!; at++) {
      total += matrix.counts[at]!;
      bound += matrix.counts[at]! * logSumExp(logTheta, logs, matrix.terms[at]! * K);
    }
  }
  for (let k = 0; k < K; k++) {
    const column = (of: Float64Array) => Float64Array.from(matrix.words, (_, word) => of[word * K + k]!);
    bound += dirichletTerm(column(words), column(logs), 1 / K);
  }
  return bound / total;
}

/** E[ln p(x)] − E[ln q(x)] for a Dirichlet q with these parameters and E[ln x], p having `prior` everywhere. */
function dirichletTerm(parameters: Float64Array, logs: Float64Array, prior: number): number {
  let [sum, total] = [0, 0];
  for (const [at, value] of parameters.entries()) {
    sum += (prior - value) * logs[at]! + logGamma(value) - logGamma(prior);
    total += value;
  }
  return sum + logGamma(prior * parameters.length) - logGamma(total);
}

function logSumExp(left: Float64Array, right: Float64Array, from: number): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < left.length; k++) most = Math.max(most, left[k]! + right[from + k]!);
  let sum = 0;
  for (let k = 0; k < left.length; k++) sum += Math.exp(left[k]! + right[from + k]! - most);
  return most + Math.log(sum);
}
