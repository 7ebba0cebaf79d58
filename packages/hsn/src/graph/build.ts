import type { Generator, TensorOptions } from '@hidden-schema/torch';
import type { SymbolKind, Symbols } from '../symbols/symbols.ts';
import { ClosedFormPosterior } from './closed-form.ts';
import { NormedInnerProduct } from './normed-inner-product.ts';
import type { PairIndex } from './pairs.ts';
import { FreeLogits, type GraphPosterior, InnerProduct, PairNetwork } from './posterior.ts';
import type { GraphPrior, GraphPriorSettings } from './prior.ts';
import type { GraphPriorName } from './priors/names.ts';

/** The settings of a graph that its prior and posterior are built from. */
export interface GraphSettings extends GraphPriorSettings {
  posterior: 'closed-form' | 'pairs' | 'inner' | 'inner-normed' | 'free';
  prior: GraphPriorName;
  symbols: SymbolKind;
  symbolDimension: number;
  hidden: number;
  layers: number;
  missingLinkCost?: number | undefined;
  traversalRate?: number | undefined;
}

/** Closed form: weight of the newest batch, unless settings say. */
const defaultRate = 0.05;

/** What a graph posterior is made of beside its settings. */
export interface PosteriorParts extends TensorOptions {
  prior: GraphPrior;
  symbols: Symbols;
  /** Sentences in the training set, which the closed form's evidence counts for. */
  sentences: number;
  /** Closed form: what a missing link costs where the settings do not say. */
  noiseCost: () => number;
}

/** q(A): in closed form from expected traversals, or trained by gradients from where the prior is. */
export function graphPosteriorOf(
  settings: GraphSettings,
  pairs: PairIndex,
  generator: Generator,
  { prior, symbols, sentences, noiseCost, ...options }: PosteriorParts,
): GraphPosterior {
  if (settings.posterior === 'closed-form') {
    const missingLinkCost = settings.missingLinkCost ?? noiseCost();
    const rate = settings.traversalRate ?? defaultRate;
    return new ClosedFormPosterior(pairs, prior, { ...options, missingLinkCost, rate, sentences });
  }
  const initialLogit = prior.logit;
  if (settings.posterior === 'free') return new FreeLogits(pairs, initialLogit, options);
  const network = { ...options, hidden: settings.hidden, layers: settings.layers, initialLogit };
  if (settings.posterior === 'inner-normed')
    return new NormedInnerProduct(symbols, pairs, network, generator);
  return settings.posterior === 'pairs'
    ? new PairNetwork(symbols, pairs, network, generator)
    : new InnerProduct(symbols, pairs, network, generator);
}
