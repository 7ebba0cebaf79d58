import { BernoulliPrior, BetaBernoulliPrior, type GraphPriorMaker, PowerLawPrior } from '../prior.ts';
import { drawnPrior } from './drawn.ts';
import { preferentialAttachmentPrior } from './preferential-attachment.ts';
import { sparsePrior } from './sparse.ts';

/** Graph priors by the name that `graph.prior` has: a new one is a file and a line here. */
export const graphPriors = {
  bernoulli: ({ settings }) => new BernoulliPrior(settings.p),
  beta: ({ settings, pairs }) => new BetaBernoulliPrior(settings.beta[0], settings.beta[1], pairs.count),
  'power-law': ({ settings, pairs, generator, options }) =>
    new PowerLawPrior(settings, pairs, generator, options),
  sparse: sparsePrior,
  'preferential-attachment': preferentialAttachmentPrior,
  drawn: drawnPrior,
} satisfies Record<string, GraphPriorMaker>;

export type GraphPriorName = keyof typeof graphPriors;
export const graphPriorNames = Object.keys(graphPriors) as [GraphPriorName, ...GraphPriorName[]];
