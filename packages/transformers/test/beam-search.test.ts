import { walkTensor } from '@hidden-schema/testing/enumeration';
import { Generator, liveTensors, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { beamSearch, Gpt2Decoder, type LanguageDecoder, RecurrentDecoder } from '../src/index.ts';

const vocabulary = 12;
const end = 3;
const symbols = { symbols: 6, deviation: 1 };
const models: { name: string; model: LanguageDecoder }[] = [
  {
    name: 'GPT-2',
    model: new Gpt2Decoder(
      { vocab_size: vocabulary, n_positions: 16, n_embd: 16, n_layer: 2, n_head: 2, initializer_range: 0.6 },
      new Generator(1),
      { symbols },
    ),
  },
  {
    name: 'an LSTM',
    model: new RecurrentDecoder(
      { vocab_size: vocabulary, max_position_embeddings: 16, hidden_size: 16, num_layers: 1 },
      new Generator(2),
      { symbols },
    ),
  },
];
const prompts = [
  [1, 8],
  [1, 5],
];
const schema = walkTensor([
  [0, 3, 5],
  [4, 1, 2],
])
  .oneHot(6)
  .to('float32');

/** log p of every text of at most two tokens after a prompt, the end included where it came. */
function allTexts(model: LanguageDecoder, at: number): Map<string, number> {
  const others = Array.from({ length: vocabulary }, (_, token) => token).filter((token) => token !== end);
  const texts = [[end], ...others.flatMap((a) => [[a, end], ...others.map((b) => [a, b])])];
  return new Map(
    texts.map((tokens) => {
      const whole = [...prompts[at]!, ...tokens];
      const ids = Tensor.fromArray(BigInt64Array.from(whole, BigInt), [1, whole.length]);
      const own = schema.narrow(0, at, 1);
      const nll = scope(() =>
        noGrad(() => model.nll(ids, own, [whole.length], { prefix: 2 }).perSentence.item()),
      );
      return [tokens.filter((token) => token !== end).join(), -nll];
    }),
  );
}

describe.each(models)('$name', ({ model }) => {
  test('finds the most probable of all texts, with their log-probabilities', () => {
    model.train(false);
    const before = liveTensors();
    const found = beamSearch(model, { prompts, schema, end, maxNewTokens: 2, width: 20 });
    expect(liveTensors()).toEqual(before);
    for (const at of prompts.keys()) {
      const truth = [...allTexts(model, at)].sort(([, a], [, b]) => b - a).slice(0, 20);
      expect(found[at]!.map(({ tokens }) => tokens.join())).toEqual(truth.map(([text]) => text));
      for (const [i, { logProb }] of found[at]!.entries()) expect(logProb).toBeCloseTo(truth[i]![1], 4);
    }
  });

  test('is the same for prompts alone and together, and never below greedy', () => {
    const together = beamSearch(model, { prompts, schema, end, maxNewTokens: 6, width: 4 });
    for (const at of prompts.keys()) {
      const own = schema.narrow(0, at, 1);
      const search = { prompts: [prompts[at]!], schema: own, end, maxNewTokens: 6 };
      const alone = beamSearch(model, { ...search, width: 4 })[0]!;
      expect(alone.map(({ tokens }) => tokens)).toEqual(together[at]!.map(({ tokens }) => tokens));
      expect(alone[0]!.logProb).toBeGreaterThanOrEqual(
        beamSearch(model, { ...search, width: 1 })[0]![0]!.logProb,
      );
    }
  });
});

test('refuses what it cannot search', () => {
  const { model } = models[0]!;
  const search = { prompts, schema, end, maxNewTokens: 2 };
  expect(() => beamSearch(model, { ...search, width: 0 })).toThrow(/whole number from 1, got 0/);
  expect(() => beamSearch(model, { ...search, prompts: [[1], [1, 2]], width: 2 })).toThrow(/of one length/);
});
