import { call, callMany, fusable, loadOperators, type Tensor } from '@hidden-schema/torch';

// Built from ../native. Shapes are checked before memory is read, and a second gradient is refused, as of the engine's
// own fused operators.
loadOperators('hsn');

/** y_ij = Σ_h w_h relu(a_ih + b_jh) for a [I, H], b [J, H] and w [H], without the I·J·H terms in memory. [I, J] */
export const pairSums = (a: Tensor, b: Tensor, w: Tensor): Tensor => call('hsn::pairs', a, b, w);

/** The same through further layers, each a weight and a bias; `rows` of a at a time, computed again for the gradient. */
export const deepPairSums = (a: Tensor, b: Tensor, layers: readonly Tensor[], rows: number): Tensor =>
  call('hsn::deep_pairs', a, b, layers, rows);

/** Where a matrix [J, K] has links, that is, is not zero, as lists by source and by target. */
export interface Links {
  /** What kernels take: both lists, and the matrix's values at the links. */
  readonly lists: readonly Tensor[];
  /** Where each link leads, in the order of the list by source. [E] int32 */
  readonly to: Tensor;
}

/** The links of a matrix, where there are no more than `most`. */
export function findLinks(rows: Tensor, most: number): Links | undefined {
  const lists = callMany('hsn::links', rows, most);
  return lists.length === 0 ? undefined : { lists, to: lists[1]! };
}

/** x·R, or x·Rᵀ (`back`), R being `rows` with these links: along them where they are few. [B, J] → [B, K] */
export const carry = (x: Tensor, { rows, links }: Linked, back: boolean): Tensor =>
  call('hsn::carry', x, rows, links?.lists ?? [], back);

/** A matrix [J, K] and, where they are few, its links. */
export interface Linked {
  readonly rows: Tensor;
  readonly links: Links | undefined;
}

/** position / D, and f ∘ ((position / D)·R): one step of Eq. 6. position, f and D are [B, K]. */
export function walkStep(
  position: Tensor,
  { weights, rowSums }: { weights: Tensor; rowSums: Tensor },
  { rows, links }: Linked,
): { next: Tensor; leaving: Tensor } {
  const [next, leaving] = callMany('hsn::walk_step', position, weights, rowSums, rows, links?.lists ?? []);
  return { next: next!, leaving: leaving! };
}

/** (1/B) Σ_b left_bj right_bk at the links alone. [E] */
export const linkMeans = (left: Tensor, right: Tensor, links: Links): Tensor =>
  call('hsn::link_means', left, right, links.lists);

/**
 * (1/B) leftᵀ·right. With links, the gradient is read at them alone: for use where the result is multiplied by a matrix
 * that has no others. [J, K]
 */
export const meanProducts = (left: Tensor, right: Tensor, links?: Links): Tensor =>
  call('hsn::mean_products', left, right, links?.lists ?? []);

/** R, m, p [J, K]; w, s [J] */
export type DivergenceTerms = Readonly<Record<'R' | 'm' | 'w' | 's' | 'p', Tensor>>;

/** Σ_jk w_j R_jk m_jk (log m_jk − s_j − p_jk) in one pass, log 0 being −69. */
export const walkDivergence = ({ R, m, w, s, p }: DivergenceTerms): Tensor =>
  call('hsn::walk_divergence', R, m, w, s, p);

/** The same over links alone: m and p are [E], R the values of the links' own matrix. */
export const linkDivergence = ({ m, w, s, p }: Omit<DivergenceTerms, 'R'>, links: Links): Tensor =>
  call('hsn::link_divergence', m, w, s, p, links.lists);

/** Σ_jk w_j R_jk m_jk (log m_jk − p_jk), and Σ_j w_j R_jk m_jk [K], in one pass. */
export function meanStep({ R, m, w, p }: Omit<DivergenceTerms, 's'>): { cost: Tensor; arrived: Tensor } {
  const [cost, arrived] = callMany('hsn::mean_step', R, m, w, p);
  return { cost: cost!, arrived: arrived! };
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
