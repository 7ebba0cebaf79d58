import { call, callMany, fusable, loadOperators, type Tensor } from '@hidden-schema/torch';

// Built from ../native. Shapes are checked before memory is read, and a second gradient is refused, as of the engine's
// own fused operators.
loadOperators('hsn');

/** y_ij = Σ_h w_h relu(a_ih + b_jh) for a [I, H], b [J, H] and w [H], without the I·J·H terms in memory. [I, J] */
export function pairSums(a: Tensor, b: Tensor, w: Tensor): Tensor {
  return call('hsn::pairs', a, b, w);
}

/** The same through further layers, each a weight and a bias; `rows` of a at a time, computed again for the gradient. */
export function deepPairSums(a: Tensor, b: Tensor, layers: readonly Tensor[], rows: number): Tensor {
  return call('hsn::deep_pairs', a, b, layers, rows);
}

/** R, m, p [J, K]; w, s [J] */
export type DivergenceTerms = Readonly<Record<'R' | 'm' | 'w' | 's' | 'p', Tensor>>;

/** Σ_jk w_j R_jk m_jk (log m_jk − s_j − p_jk) in one pass, log 0 being −69. */
export function walkDivergence({ R, m, w, s, p }: DivergenceTerms): Tensor {
  return call('hsn::walk_divergence', R, m, w, s, p);
}

/**
 * The best of J ways to each of K symbols: max_j scores_bj + links_jk, and the first j that reaches it; one pass where
 * no gradient is asked for.
 * scores [B, J], links [J, K] → best [B, K] and from [B, K] int64
 */
export function bestStep(scores: Tensor, links: Tensor): { best: Tensor; from: Tensor } {
  if (fusable(scores) && fusable(links)) {
    const [best, from] = callMany('hsn::best_step', scores, links);
    return { best: best!, from: from! };
  }
  const [best, from] = callMany('max.dim', scores.unsqueeze(2).add(links), 1, false);
  return { best: best!, from: from! };
}
