import type { nn, optim, Tensor } from '@hidden-schema/torch';
import type { LanguageConfig } from '../../config/language.ts';

/** Groups: decoder and walk prior; the decoder's projections of symbols; encoder; graph and symbols. A baseline trains its decoder alone. */
export function parameterGroups(
  model: nn.Module,
  config: Pick<LanguageConfig, 'baseline' | 'training'>,
): optim.ParameterGroup[] {
  const { rate, symbolRate, encoderRate, graphRate, decay } = config.training;
  const named = [...model.namedParameters()];
  const of = (...prefixes: string[]) =>
    named.filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix)));
  if (config.baseline) return [{ parameters: of('decoder.'), rate, decay }];
  const ofSymbols = ([name]: readonly [string, Tensor]) => name.includes('.psa.');
  const written = of('decoder.', 'walkPrior.');
  return [
    { parameters: written.filter((one) => !ofSymbols(one)), rate, decay },
    { parameters: written.filter(ofSymbols), rate: rate * symbolRate },
    { parameters: of('encoder.'), rate: encoderRate, decay },
    { parameters: of('graph.', 'graphPrior.', 'symbols.'), rate: graphRate },
  ];
}
