import { WalkDistribution } from '../chain.ts';
import { MeanFieldWalks } from '../mean-field.ts';
import { WalkPrior } from '../prior.ts';
import { formOf, type SchemaProcessMaker } from './process.ts';

/** The paper's: a walk on the graph (Eqs. 3 to 6), or its posterior without the graph (Eq. 29; Eq. 33 is the same). */
export const walkProcess: SchemaProcessMaker = ({ settings, logZero, nodes, length, generator, options }) => {
  const shape = { nodes, length, stays: settings.stays };
  return {
    prior: new WalkPrior(settings.prior, shape, generator, options),
    posterior: (scores, graph) =>
      settings.posterior === 'graph'
        ? WalkDistribution.fromScores(graph, scores, formOf(settings))
        : new MeanFieldWalks(scores, logZero),
  };
};
