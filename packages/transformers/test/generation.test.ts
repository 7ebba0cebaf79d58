import { expectClose } from '@hidden-schema/testing/closeness';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import { Generator, liveTensors, type Tensor, tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyValueCache } from '../src/cache.ts';
import { type GenerationOptions, nextTokens, type SamplingOptions } from '../src/generation.ts';
import { Gpt2Decoder, generate, generateSync, type LanguageDecoder, LlamaDecoder } from '../src/index.ts';

const symbols = { symbols: 6, deviation: 1 };
const models: { name: string; model: LanguageDecoder }[] = [
  {
    name: 'GPT-2',
    model: new Gpt2Decoder(
      { vocab_size: 50, n_positions: 24, n_embd: 16, n_layer: 2, n_head: 2, initializer_range: 0.4 },
      new Generator(1),
      { symbols },
    ),
  },
  {
    name: 'LLaMA',
    model: new LlamaDecoder(
      {
        vocab_size: 50,
        hidden_size: 16,
        intermediate_size: 24,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        max_position_embeddings: 24,
        initializer_range: 0.4,
      },
      new Generator(1),
      { symbols },
    ),
  },
];
const walks = [
  [0, 3, 5],
  [1, 1, 2],
  [4, 0, 4],
];
const schema = walkTensor(walks).oneHot(6).to('float32');
const single = (b: number): Tensor => walkTensor([walks[b]!]).oneHot(6).to('float32');
const prompts = [[1], [1, 8, 9, 30], [1, 44]];

describe.each(models)('$name', ({ model }) => {
  const run = (more: Partial<GenerationOptions> = {}): number[][] =>
    generateSync(model, { prompts, schema, maxNewTokens: 12, ...more }).map((one) => one.tokens);
  const drawing = (seed: number): Partial<GenerationOptions> => ({
    temperature: 1.3,
    topK: 20,
    topP: 0.9,
    repetitionPenalty: 1.2,
    generator: new Generator(seed),
  });

  test('cached and uncached give the same tokens, greedy and drawn', () => {
    expect(run({ cached: false })).toEqual(run());
    expect(run({ ...drawing(3), cached: false })).toEqual(run(drawing(3)));
    expect(run({ temperature: 1, generator: new Generator(5), cached: false })).toEqual(
      run({ temperature: 1, generator: new Generator(5) }),
    );
  });

  test('the same seed repeats, another does not, and the schema matters', () => {
    expect(run(drawing(3))).toEqual(run(drawing(3)));
    expect(run(drawing(3))).not.toEqual(run(drawing(4)));
    expect(run()).not.toEqual(run({ schema: single(0).expand(3, 3, 6) }));
  });

  test('a batch gives each sentence what it gets alone', () => {
    const together = run();
    for (const [b, prompt] of prompts.entries())
      expect(run({ prompts: [prompt], schema: single(b) })).toEqual([together[b]]);
  });

  test('generate and generateSync agree, and the decoder keeps its mode', async () => {
    model.train(true);
    const waited = await generate(model, { prompts, schema, maxNewTokens: 12 });
    expect(waited.map((one) => one.tokens)).toEqual(run());
    expect(model.training).toBe(true);
  });

  test('ends at the end token, at the limit, and where positions run out', () => {
    const free = run()[0]!;
    const end = free[4]!;
    const [stopped] = generateSync(model, { prompts: [[1]], schema: single(0), maxNewTokens: 12, end });
    expect(stopped).toEqual({ tokens: free.slice(0, free.indexOf(end)), finish: 'end' });
    expect(run({ maxNewTokens: 0 })).toEqual([[], [], []]);
    const long = generateSync(model, { prompts: [[1, 2, 3, 4]], maxNewTokens: 100 });
    expect(long[0]!.tokens).toHaveLength(24 - 4 + 1);
    expect(long[0]!.finish).toBe('length');
  });

  test('nothing is left when it is done, or stopped', () => {
    run();
    const before = liveTensors().tensors;
    run();
    run({ signal: AbortSignal.abort() });
    expect(liveTensors().tensors).toBe(before);
  });

  test('a cache that is read in pieces gives the states of one reading', () => {
    const tokens = walkTensor([[1, 5, 9, 2, 33, 4]]);
    model.train(false);
    const cache = new KeyValueCache(6);
    const pieces = [tokens.narrow(1, 0, 3), tokens.narrow(1, 3, 1), tokens.narrow(1, 4, 2)];
    const states = pieces.map((piece) => model.hidden(piece, single(1), { cache }));
    expect(cache.length).toBe(6);
    const whole = model.hidden(tokens, single(1));
    for (const [i, start] of [0, 3, 4].entries())
      expectClose(states[i]!, whole.narrow(1, start, states[i]!.dim(1)), 1e-5);
    expect(() => model.hidden(tokens, single(1), { cache })).toThrow('6 more do not fit');
    cache.free();
  });
});

describe('stopping', () => {
  const { model } = models[0]!;

  test('a caller who leaves stops it within one token', async () => {
    const controller = new AbortController();
    let steps = 0;
    const running = generate(model, {
      prompts: [[1]],
      maxNewTokens: 20,
      signal: controller.signal,
      onTokens: () => {
        // The client goes while other work has its turn.
        if (++steps === 3) setImmediate(() => controller.abort());
      },
    });
    const [first] = await running;
    expect(first!.finish).toBe('stopped');
    expect(first!.tokens.length).toBeLessThanOrEqual(4);
    expect(first!.tokens.length).toBeGreaterThanOrEqual(3);
  });

  test('tokens arrive as they are made', () => {
    const seen: (number | undefined)[][] = [];
    const made = generateSync(model, {
      prompts,
      maxNewTokens: 3,
      onTokens: (tokens) => seen.push([...tokens]),
    });
    for (const [b, { tokens }] of made.entries())
      expect(seen.flatMap((step) => step[b] ?? [])).toEqual(tokens);
  });

  test.each([
    [{ prompts: [] }, 'there is no prompt to continue'],
    [{ prompts: [[]] }, 'prompt 0 is empty'],
    [{ prompts: [[50]] }, 'prompt 0 has token 50, this decoder knows 0 to 49: is the tokenizer its own?'],
    [{ prompts: [Array(25).fill(1)] }, 'prompt 0 has 25 tokens, this decoder reads at most 24: cut it'],
    [{ maxNewTokens: -1 }, 'the number of new tokens is a whole number from 0, got -1'],
    [{ temperature: -1 }, 'temperature is a number from 0'],
    [{ topK: 0 }, 'top-k is a whole number from 1, got 0'],
    [{ topP: 1.5 }, 'top-p is a probability in (0, 1], got 1.5'],
    [{ repetitionPenalty: 0 }, 'the repetition penalty is a positive number, got 0'],
    [{ temperature: 1 }, 'needs a generator'],
  ])('%j is refused', (more, message) => {
    expect(() => generateSync(model, { prompts: [[1]], maxNewTokens: 2, ...more })).toThrow(message);
  });
});

describe('drawing', () => {
  const logits = [2, 1, 0, -1, -30];
  const none = [new Set<number>()];
  const share = (options: SamplingOptions, draws = 4000): number[] => {
    const rows = tensor(Array(draws).fill(logits));
    const tokens = nextTokens(rows, none, { temperature: 1, ...options }, new Generator(2));
    return logits.map((_, v) => tokens.filter((token) => token === v).length / draws);
  };
  const softmax = (values: number[]): number[] => {
    const weights = values.map(Math.exp);
    return weights.map((w) => w / weights.reduce((a, b) => a + b));
  };

  test('follows the probabilities, at any temperature', () => {
    for (const temperature of [0.5, 1, 2])
      expectClose(share({ temperature }), softmax(logits.map((x) => x / temperature)), 0.03);
  });

  test('top-k and top-p cut the tail and keep proportions', () => {
    const two = softmax(logits.slice(0, 2));
    expectClose(share({ topK: 2 }), [...two, 0, 0, 0], 0.03);
    // 0.644 alone falls short of 0.7, the two best reach it.
    expectClose(share({ topP: 0.7 }), [...two, 0, 0, 0], 0.03);
    expectClose(share({ topP: 0.1 }), [1, 0, 0, 0, 0], 1e-9);
    expectClose(share({ topK: 4, topP: 1 }), share({}), 0.03);
  });

  test('the repetition penalty lowers what was there, whatever its sign', () => {
    const next = (seen: number[], repetitionPenalty: number): number =>
      nextTokens(tensor([logits]), [new Set(seen)], { repetitionPenalty }, undefined)[0]!;
    expect(next([0], 1)).toBe(0);
    expect(next([0], 1.5)).toBe(0);
    expect(next([0], 3)).toBe(1);
    const negative = nextTokens(tensor([[-1, -1.5]]), [new Set([0])], { repetitionPenalty: 2 }, undefined);
    expect(negative).toEqual([1]);
  });

  test('never draws what the cuts exclude', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 2, maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        fc.nat(),
        (scores, topK, topP, seed) => {
          const options = { temperature: 0.8, topK, topP };
          const [token] = nextTokens(tensor([scores]), none, options, new Generator(seed));
          // Scores reach the draw in float32, where near ones are equal.
          const better = scores.filter((score) => Math.fround(score) > Math.fround(scores[token!]!)).length;
          return better < topK;
        },
      ),
      { numRuns: 60 },
    );
  });
});
