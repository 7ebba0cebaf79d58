import { call, scope, type Tensor } from '@hidden-schema/torch';

/** Above this a link is more probable than not: such links are the graph that is walked on, counted and drawn. */
export const LIKELY_LINK = 0.5;

export const isLikely = (probability: number): boolean => probability > LIKELY_LINK;

/** A_ij of 0 and 1 from link probabilities, both [K, K]. */
export const likelyLinks = (probabilities: Tensor): Tensor => probabilities.gt(LIKELY_LINK).to('float32');

/** How many pairs of different symbols are linked, by symmetric link probabilities [K, K]. */
export const countLikelyLinks = (probabilities: Tensor): number =>
  scope(() => call('triu', likelyLinks(probabilities), 1).sum().item());
