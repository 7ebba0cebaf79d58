// A language network small enough to list all its walks and to move every weight by hand.

import { Random } from '@hidden-schema/base';
import {
  FreeLogits,
  type LanguageNetwork,
  languageConfigSchema,
  likelyLinks,
  makeNetwork,
  schemaOf,
  WalkableGraph,
} from '@hidden-schema/hsn';
import { decoderSource } from '@hidden-schema/hsn/tasks/language/build';
import { Generator, type nn, noGrad, scope, stack, Tensor } from '@hidden-schema/torch';
import { LstmText, TransformerText } from '@hidden-schema/transformers';
import type { z } from 'zod';
import { sum } from './closeness.ts';
import { allWalks, walkTensor } from './enumeration.ts';

/** The code of decoders from scratch, loaded once so that networks are made at once. */
const decoders = {
  gpt2: await decoderSource({ decoder: { name: 'gpt2' } }),
  lstm: await decoderSource({ decoder: { name: 'lstm' } }),
  llama: await decoderSource({ decoder: { name: 'llama' } }),
};

export type LanguageInput = Partial<z.input<typeof languageConfigSchema>>;

/** Four symbols, three steps; soft links and walks, no dropout and a cold start unless asked for. */
export function tinyNetwork(
  { graph, walk, encoder, decoder, ...rest }: LanguageInput = {},
  { vocabulary = 11, frozen = false } = {},
): LanguageNetwork {
  const config = languageConfigSchema.parse({
    model: 'language',
    symbols: 4,
    length: 3,
    seed: 5,
    warmStart: { steps: 0 },
    ...rest,
    graph: { hard: false, hidden: 4, symbolDimension: 3, ...graph },
    walk: { hard: false, ...walk },
    encoder: { name: 'transformer', width: 8, dropout: 0, ...encoder },
    decoder: { width: 8, layers: 1, heads: 2, longest: 64, dropout: 0, wordDropout: 0, ...decoder },
  });
  const generator = new Generator(config.seed);
  const sizes = { vocabulary, width: config.encoder.width, layers: 1, positions: 64, dropout: 0 };
  const text =
    config.encoder.name === 'lstm'
      ? new LstmText(sizes, generator)
      : new TransformerText({ ...sizes, heads: 2, hidden: 8 }, generator);
  const writer = decoders[config.decoder.name as keyof typeof decoders];
  const parts = { encoder: text, frozen, decoderVocabulary: vocabulary, sentences: 20, decoder: writer };
  return makeNetwork(config, parts, generator);
}

/** Moves weights away from their start, where symbols hardly matter and logits are all alike. */
export function jitter(model: nn.Module, size = 0.6): void {
  const draws = new Random(13);
  noGrad(() => {
    for (const parameter of model.parameters()) {
      const noise = Float64Array.from({ length: parameter.size }, () => size * (draws.next() - 0.5));
      parameter.add_(Tensor.fromArray(noise, parameter.shape));
    }
  });
}

/** A network for evaluation whose symbols matter, as if it had been trained. */
export function tinyTrained(settings: LanguageInput = {}, vocabulary?: number): LanguageNetwork {
  const model = tinyNetwork(settings, vocabulary === undefined ? {} : { vocabulary });
  jitter(model, 1);
  return model.train(false);
}

/** Makes the links `i j` (i ≤ j) of a free graph all but certain, and all others absent; gives the matrix. */
export function fixGraph(model: LanguageNetwork, present: readonly string[]): Tensor {
  if (!(model.graph instanceof FreeLogits)) throw new Error('this graph has no logits of its own');
  const { pairs, logits } = model.graph.links();
  const values = Float32Array.from(pairs.rows, (row, e) =>
    present.includes(`${row} ${pairs.columns[e]}`) ? 40 : -40,
  );
  noGrad(() => logits.copy_(Tensor.fromArray(values, [values.length])));
  return noGrad(() => likelyLinks(model.graph.links().matrix()));
}

/** log p(x|z) of one sentence, start and end included, under each walk. */
export function likelihoods(
  model: LanguageNetwork,
  tokens: Int32Array,
  walks: readonly number[][],
): number[] {
  const repeated = stack(walks.map(() => Tensor.fromArray(tokens, [tokens.length])));
  const lengths = walks.map(() => tokens.length);
  const { perSentence } = model.decoder.nll(repeated, schemaOf(model, walks), lengths);
  return perSentence.toNumbers().map((nll) => -nll);
}

/** p(x|A) = Σ p(x|z) p(z|A) over all K^L walks. */
export function evidence(model: LanguageNetwork, tokens: Int32Array, adjacency: Tensor): number {
  return scope(() =>
    noGrad(() => {
      const walks = allWalks(model.config.symbols, model.config.length);
      const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
      const prior = model.walkPrior.on(graph).logProb(walkTensor(walks)).toNumbers();
      return sum(likelihoods(model, tokens, walks).map((value, z) => Math.exp(value + prior[z]!)));
    }),
  );
}
