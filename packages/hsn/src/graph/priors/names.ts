/** What `graph.prior` may be. Names alone, so that settings are read without the engine; the registry has the priors. */
export const graphPriorNames = [
  'bernoulli',
  'beta',
  'power-law',
  'sparse',
  'preferential-attachment',
  'drawn',
] as const;
export type GraphPriorName = (typeof graphPriorNames)[number];
