import { walkTensor } from '@hidden-schema/testing/enumeration';
import { Generator, liveTensors, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { beamSearch } from '../src/beam-search.ts';
import { Gpt2Decoder, type LanguageDecoder, RecurrentDecoder } from '../src/index.ts';

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
  test('finds the most probable text of all that there are, and tells its probability', () => {
    model.train(false);
    const before = liveTensors();
    const options = { prompts, schema, end, maxNewTokens: 2, beams: 6, lengthPenalty: 0 };
    const found = scope(() => beamSearch(model, options));
    expect(liveTensors()).toEqual(before);
    for (const at of prompts.keys()) {
      const truth = allTexts(model, at);
      const best = Math.max(...truth.values());
      expect(found[at]![0]!.logProb).toBeCloseTo(best, 4);
      for (const { tokens, logProb } of found[at]!)
        expect(logProb, tokens.join()).toBeCloseTo(truth.get(tokens.join())!, 4);
      for (let i = 1; i < found[at]!.length; i++)
        expect(found[at]![i]!.logProb).toBeLessThanOrEqual(found[at]![i - 1]!.logProb);
    }
  });

  test('is the same for prompts alone and together, each with its own schema', () => {
    const search = { end, maxNewTokens: 6, beams: 4, lengthPenalty: 0 };
    const together = scope(() => beamSearch(model, { prompts, schema, ...search }));
    expect(together[0]).not.toEqual(together[1]);
    for (const at of prompts.keys()) {
      const alone = scope(() =>
        beamSearch(model, { prompts: [prompts[at]!], schema: schema.narrow(0, at, 1), ...search }),
      );
      expect(alone[0]!.map(({ tokens }) => tokens)).toEqual(together[at]!.map(({ tokens }) => tokens));
    }
    const plain = scope(() => beamSearch(model, { prompts, ...search }));
    expect(plain[0]![0]!.logProb).not.toBeCloseTo(together[0]![0]!.logProb, 4);
  });

  test('prompts of several lengths come back in their order, as each alone', () => {
    const search = { end, maxNewTokens: 5, beams: 3, lengthPenalty: 0 };
    const several = [[1, 8], [1, 5, 6], [1], [1, 5], [1, 2, 6]];
    const together = scope(() => beamSearch(model, { prompts: several, ...search }));
    expect(new Set(together.map((found) => JSON.stringify(found))).size).toBe(several.length);
    for (const [at, prompt] of several.entries()) {
      const [alone] = scope(() => beamSearch(model, { prompts: [prompt], ...search }));
      expect(together[at]!.map(({ tokens }) => tokens)).toEqual(alone!.map(({ tokens }) => tokens));
      for (const [i, { logProb }] of alone!.entries())
        expect(together[at]![i]!.logProb).toBeCloseTo(logProb, 4);
    }
  });
});
