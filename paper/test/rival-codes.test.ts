import { type VqConfig, vqConfigSchema } from '@hidden-schema/hsn/config/rivals';
import { decoderSource } from '@hidden-schema/hsn/tasks/language/build';
import type { ReadTexts } from '@hidden-schema/hsn/tasks/language/network';
import { straightThrough } from '@hidden-schema/hsn/walk/categorical';
import { expectClose, f64, gradientOf, sum } from '@hidden-schema/testing/closeness';
import { allWalks, walkTensor } from '@hidden-schema/testing/enumeration';
import { finiteDifferences } from '@hidden-schema/testing/finite-differences';
import { jitter } from '@hidden-schema/testing/tiny-language';
import { noGrad } from '@hidden-schema/torch/autograd';
import { stack } from '@hidden-schema/torch/functional';
import { Generator } from '@hidden-schema/torch/random';
import { Tensor } from '@hidden-schema/torch/tensor';
import { LstmText } from '@hidden-schema/transformers/text-encoder';
import { describe, expect, test } from 'vitest';
import { makeRival } from '../src/rivals/build.ts';
import { logWeightsOf } from '../src/rivals/evaluation.ts';
import { CodePrior, squaredDistances, type Vq } from '../src/rivals/vq.ts';

const vocabulary = 7;
const decoder = await decoderSource({ decoder: { name: 'gpt2' } });

/** Three codes in two places, over a vocabulary of seven. */
function tinyVq(changes: Partial<VqConfig> = {}): Vq {
  const config = vqConfigSchema.parse({
    model: 'vq',
    symbols: 3,
    length: 2,
    code: 4,
    prior: 5,
    encoder: { name: 'lstm', width: 8, dropout: 0 },
    decoder: { width: 8, layers: 1, heads: 2, longest: 16, dropout: 0 },
    ...changes,
  });
  const generator = new Generator(2);
  const sizes = { vocabulary, width: 8, layers: 1, positions: 16, dropout: 0 };
  const encoder = new LstmText(sizes, generator);
  const sources = { encoder, frozen: false, decoderVocabulary: vocabulary, decoder };
  const model = makeRival(config, sources, generator) as Vq;
  jitter(model, 1);
  return model;
}

function batchOf(sentences: readonly number[][]): ReadTexts {
  const width = sentences[0]!.length;
  const ids = Int32Array.from(sentences.flat());
  const side = { ids, width, lengths: Int32Array.from(sentences, () => width) };
  return { encoder: side, decoder: side };
}

const sentence = [0, 3, 5, 2, 0];

describe('the prior over codes', () => {
  test('is one over all sequences, and its draws are as frequent as it says', () => {
    const prior = new CodePrior(3, 5, new Generator(1));
    jitter(prior, 2);
    const walks = allWalks(3, 2);
    const probabilities = prior
      .logProb(walkTensor(walks))
      .toNumbers()
      .map((log) => Math.exp(log));
    expect(sum(probabilities)).toBeCloseTo(1, 5);
    const drawn = noGrad(() => prior.sample(20_000, 2, new Generator(3))).toNumbers();
    const counts = walks.map(
      ([a, b]) => drawn.filter((code, i) => i % 2 === 0 && code === a && drawn[i + 1] === b).length / 20_000,
    );
    expectClose(counts, probabilities, 0.015);
  });
});

describe('quantising', () => {
  test('distances are those of all pairs, and the nearest code is read', () => {
    const model = tinyVq();
    const vectors = noGrad(() => model.beliefs(batchOf([sentence, [0, 1, 1, 4, 0]])));
    const rows = vectors.reshape(-1, 4).toNumbers();
    const codes = model.codes.toNumbers();
    const wanted = Array.from({ length: 4 }, (_, n) =>
      [0, 1, 2].map((k) => sum([0, 1, 2, 3].map((c) => (rows[n * 4 + c]! - codes[k * 4 + c]!) ** 2))),
    );
    expectClose(squaredDistances(vectors, model.codes), wanted, 1e-5);
    const nearest = wanted.map((row) => row.indexOf(Math.min(...row)));
    expect(model.read(vectors).toNumbers()).toEqual(nearest);
    model.free();
  });

  test('going forward it is the code, going back the encoder', () => {
    const vectors = f64([[[0.2, -0.1]]]).requireGrad();
    const chosen = f64([[[1, 1]]]);
    const through = straightThrough(chosen, vectors);
    expectClose(through, [1, 1], 1e-12);
    expectClose(gradientOf(through.mul(f64([2, 3])).sum(), vectors), [2, 3], 1e-12);
  });

  test('codes that learn by a loss follow its finite differences', () => {
    const model = tinyVq({ codebook: 'loss' });
    const batch = batchOf([sentence]);
    const { loss } = model.forward(batch, { step: 0 });
    loss.backward();
    const gradient = model.codes.grad!.toNumbers();
    // Of the loss only ‖e − sg[z]‖² reaches the codes: the decoder's share goes to the encoder.
    const beliefs = noGrad(() => model.beliefs(batch));
    const codes = noGrad(() => model.read(beliefs)).reshape(-1);
    const error = (at: Tensor) => {
      const off = at.indexSelect(0, codes).sub(beliefs.reshape(-1, 4).to('float64'));
      return off.mul(off).sum();
    };
    expectClose(gradient, finiteDifferences(error, model.codes.detach().to('float64')), 1e-4);
    model.free();
  });

  test('codes that are running means move towards what is written by them', () => {
    const model = tinyVq({ restart: 0, keep: 0.9 });
    const batch = batchOf([sentence, [0, 1, 1, 4, 0]]);
    const vectors = noGrad(() => model.beliefs(batch));
    const read = noGrad(() => model.read(vectors)).toNumbers();
    const [sums, counts] = [model.sums!.toNumbers(), model.counts!.toNumbers()];
    const rows = vectors.reshape(-1, 4).toNumbers();
    model.train().forward(batch, { step: 5 });
    const wanted = [0, 1, 2].flatMap((k) => {
      const own = read.flatMap((code, n) => (code === k ? [n] : []));
      const count = 0.9 * counts[k]! + 0.1 * own.length;
      return [0, 1, 2, 3].map(
        (c) => (0.9 * sums[k * 4 + c]! + 0.1 * sum(own.map((n) => rows[n * 4 + c]!))) / count,
      );
    });
    expectClose(model.codes, wanted, 1e-5);
    const before = model.codes.toNumbers();
    model.train(false).forward(batch, { step: 6 });
    expect(model.codes.toNumbers()).toEqual(before);
    model.free();
  });

  test('codes that nobody uses begin again at a text, and all do at first', () => {
    const model = tinyVq({ restart: 0.5 });
    const batch = batchOf([sentence]);
    const rows = noGrad(() => model.beliefs(batch)).reshape(-1, 4);
    model.train().forward(batch, { step: 0 });
    const distances = squaredDistances(model.codes.unsqueeze(0), rows).toNumbers(); // [1, K, B·L]
    for (const k of [0, 1, 2]) expect(Math.min(distances[2 * k]!, distances[2 * k + 1]!)).toBeLessThan(1e-5);
    model.free();
  });
});

describe('the likelihood of a text', () => {
  const tokens = Int32Array.from(sentence);
  const enumerated = (model: Vq) => {
    const walks = walkTensor(allWalks(3, 2));
    const prior = model.prior.logProb(walks).toNumbers();
    const { perSentence } = model.decoder.nll(
      stack(Array.from({ length: 9 }, () => Tensor.fromArray(tokens, [tokens.length]))),
      model.schema(walks),
      Array.from({ length: 9 }, () => tokens.length),
    );
    return Math.log(sum(perSentence.toNumbers().map((nll, c) => Math.exp(prior[c]! - nll))));
  };

  test('by importance draws is the sum over all codes', () => {
    const model = tinyVq({ temperature: 2 }).train(false);
    noGrad(() => {
      const beliefs = model.beliefs(batchOf([sentence]));
      const { weights } = logWeightsOf(model, model.proposal(beliefs).repeated(0, 4000), tokens, 4000);
      const estimate = Math.log(weights.reduce((total, weight) => total + Math.exp(weight), 0) / 4000);
      expect(estimate).toBeCloseTo(enumerated(model), 1);
      // Its own code alone is a bound, and not the sum.
      const own = logWeightsOf(model, model.posterior(beliefs).repeated(0, 1), tokens, 1);
      expect(own.weights[0]).toBeLessThan(enumerated(model));
      expect(own.ratios[0]).toBeCloseTo(model.prior.logProb(model.read(beliefs)).item(), 4);
    });
    model.free();
  });
});
