import type { Generator, Tensor, TensorOptions } from '@hidden-schema/torch';
import type { PairIndex } from './pairs.ts';
import { FreeLogits, type GraphPosterior, InnerProduct, PairNetwork } from './posterior.ts';
import { BernoulliPrior, BetaBernoulliPrior, type GraphPrior, PowerLawPrior } from './prior.ts';
import { Symbols } from './symbols.ts';

/** The settings of a graph that its prior and its trained posterior are built from. */
export interface GraphSettings {
  prior: 'bernoulli' | 'beta' | 'power-law';
  p: number;
  beta: readonly [number, number];
  exponent: number;
  symbols: 'one-hot' | 'bags' | 'learnable';
  symbolDimension: number;
  hidden: number;
  layers: number;
}

export function graphPriorOf(
  settings: GraphSettings,
  pairs: PairIndex,
  generator: Generator,
  options: TensorOptions = {},
): GraphPrior {
  const { prior, p, beta, exponent } = settings;
  if (prior === 'bernoulli') return new BernoulliPrior(p);
  if (prior === 'beta') return new BetaBernoulliPrior(beta[0], beta[1], pairs.count);
  return new PowerLawPrior(p, exponent, pairs, generator, options);
}

/** A graph posterior that is trained by gradients, started at `initialLogit`; `bags` are the symbols where given. */
export function trainedPosterior(
  kind: 'pairs' | 'inner' | 'free',
  settings: GraphSettings,
  pairs: PairIndex,
  given: TensorOptions & { initialLogit: number; generator: Generator; bags?: Tensor | undefined },
): GraphPosterior {
  const { initialLogit, generator, bags, ...options } = given;
  if (kind === 'free') return new FreeLogits(pairs, initialLogit, options);
  const symbols = symbolsOf(settings, pairs.nodes, bags, generator, options);
  const network = { ...options, hidden: settings.hidden, layers: settings.layers, initialLogit };
  return kind === 'pairs'
    ? new PairNetwork(symbols, pairs, network, generator)
    : new InnerProduct(symbols, pairs, network, generator);
}

function symbolsOf(
  settings: GraphSettings,
  count: number,
  bags: Tensor | undefined,
  generator: Generator,
  options: TensorOptions,
): Symbols {
  if (settings.symbols === 'learnable')
    return Symbols.learnable(count, settings.symbolDimension, generator, options);
  return settings.symbols === 'bags' && bags ? Symbols.given(bags) : Symbols.oneHot(count, options);
}
