// Names alone, so that settings are read without the engine. The registries have what each name stands for.

/** What `graph.prior` may be (`packages/hsn/src/graph/priors`). */
export const graphPriorNames = [
  'bernoulli',
  'beta',
  'power-law',
  'sparse',
  'preferential-attachment',
  'drawn',
] as const;
export type GraphPriorName = (typeof graphPriorNames)[number];

/** What `walk.process` may be (`packages/hsn/src/walk/processes`). */
export const schemaProcessNames = ['walk', 'tree'] as const;
export type SchemaProcessName = (typeof schemaProcessNames)[number];
