import { expectClose } from '@hidden-schema/testing/closeness';
import { jitter } from '@hidden-schema/testing/tiny-language';
import { Generator, noGrad, randn, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { generateSync } from '../src/generation.ts';
import { Gpt2Decoder } from '../src/gpt2.ts';
import { RecurrentDecoder } from '../src/recurrent.ts';

const width = 8;
const latent = 3;
const sizes = { vocab_size: 11, n_embd: width, n_layer: 2, n_head: 2, n_positions: 12 };
const tokens = Tensor.fromArray(BigInt64Array.from([0, 4, 7, 2], BigInt), [1, 4]);
const z = randn([1, 1, latent], new Generator(9));

const reading = (how: 'attention' | 'embedding' | 'both') => {
  const symbols = { symbols: latent, vectors: true, positions: false, reading: how };
  const decoder = new Gpt2Decoder(sizes, new Generator(1), { symbols });
  jitter(decoder, 1);
  return decoder.train(false);
};

describe('a latent that is added to embeddings', () => {
  test.each(['embedding', 'both'] as const)('%s: is as if every position had it', (how) => {
    noGrad(() => {
      const decoder = reading(how);
      const with_ = decoder.hidden(tokens, z);
      // The same decoder with z·W in its table of positions, and nothing added.
      const { wpe, schema } = decoder.transformer;
      const { weight } = schema!.into_embedding!;
      wpe.weight.add_(z.reshape(1, latent).matmul(weight));
      weight.zero_();
      expectClose(decoder.hidden(tokens, z), with_, 1e-5);
      const same = decoder.hidden(tokens, z.mul(2));
      // Attention still reads it where it is memory too.
      if (how === 'both') expect(same.sub(with_).abs().sum().item()).toBeGreaterThan(0.01);
      else expectClose(same, with_, 1e-5);
    });
  });

  test('only the ways that are asked for have weights', () => {
    const names = (how: 'attention' | 'embedding' | 'both') =>
      [...reading(how).namedTensors()].map(([name]) => name);
    const has = (list: string[], part: string) => list.some((name) => name.includes(part));
    expect([has(names('attention'), '.psa.'), has(names('attention'), 'into_embedding')]).toEqual([
      true,
      false,
    ]);
    expect([has(names('embedding'), '.psa.'), has(names('embedding'), 'into_embedding')]).toEqual([
      false,
      true,
    ]);
    expect([has(names('both'), '.psa.'), has(names('both'), 'into_embedding')]).toEqual([true, true]);
  });

  test.each(['embedding', 'both'] as const)('%s: writing with a cache is writing without', (how) => {
    const decoder = reading(how);
    const options = {
      prompts: [[0], [0, 3]],
      schema: randn([2, 1, latent], new Generator(3)),
      maxNewTokens: 8,
    };
    const [kept, read] = [true, false].map((cached) => generateSync(decoder, { ...options, cached }));
    expect(kept).toEqual(read);
  });

  test('an LSTM reads it at every step', () => {
    noGrad(() => {
      const symbols = { symbols: latent, vectors: true, reading: 'embedding' as const };
      const decoder = new RecurrentDecoder({ vocab_size: 11, hidden_size: width }, new Generator(1), {
        symbols,
      });
      jitter(decoder, 1);
      decoder.train(false);
      const with_ = decoder.hidden(tokens, z);
      const { weight } = decoder.schema!.into_embedding!;
      decoder.wte.weight.add_(z.reshape(1, latent).matmul(weight));
      expectClose(decoder.hidden(tokens, z.mul(0)), with_, 1e-5);
    });
  });

  test('config.json says how, unless by attention alone', () => {
    expect(reading('both').configOf()).toMatchObject({ hsn: { symbols: latent, reading: 'both' } });
    expect(reading('attention').configOf()).not.toHaveProperty('hsn.reading');
  });
});
