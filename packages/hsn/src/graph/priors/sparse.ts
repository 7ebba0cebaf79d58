import { BernoulliPrior, type GraphPriorMaker } from '../prior.ts';

/** Largest link probability that a small graph may get: with it, absent links still have a finite logarithm. */
const MOST = 0.99;

/**
 * A sparse Erdős–Rényi graph: p = d/(K − 1), so that a symbol has d links on average however many symbols there are
 * (Section 4 names a sparse prior as the way to fewer links). d is `graph.degree`.
 */
export const sparsePrior: GraphPriorMaker = ({ settings, pairs }) =>
  new BernoulliPrior(Math.min(MOST, settings.degree / Math.max(1, pairs.nodes - 1)));
