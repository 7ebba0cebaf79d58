import { UserError } from '@hidden-schema/base';
import { WalkDistribution } from '../chain.ts';
import { WalkPrior } from '../prior.ts';
import { formOf, type SchemaProcessMaker } from './process.ts';

/**
 * A tree of symbols on the graph: the first is the root, and the i-th (from 0) hangs on the symbol ⌊(i − 1)/2⌋, so that
 * each symbol has two that follow from it. Every branch is a walk; what lies on two branches is independent given
 * where they part.
 */
export const treeProcess: SchemaProcessMaker = ({ settings, nodes, length, generator, options }) => {
  if (settings.posterior !== 'graph')
    throw new UserError(
      `a tree of symbols lies on the graph; expected walk.posterior: graph, got ${settings.posterior}`,
    );
  if (settings.stays) throw new UserError('a tree of symbols does not end early; expected walk.stays: false');
  const parents = Array.from({ length: length - 1 }, (_, i) => Math.floor(i / 2));
  return {
    prior: new WalkPrior(settings.prior, { nodes, length, parents }, generator, options),
    posterior: (scores, graph) => WalkDistribution.fromScores(graph, scores, formOf(settings), parents),
  };
};
