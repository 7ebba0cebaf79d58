import { fileURLToPath } from 'node:url';
import {
  expectClose,
  f64,
  gradientOf,
  largestGap,
  type Nested,
  readFixture,
} from '@hidden-schema/testing/closeness';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import { type DType, Generator, nn, noGrad, openSafetensors, type Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { symbolClaims } from '../src/decoder-config.ts';
import { Gpt2Decoder } from '../src/index.ts';
import { droppedWords, hidingMask } from '../src/language-decoder.ts';
import {
  attendWithSymbols,
  SchemaInput,
  SymbolAttention,
  type SymbolOptions,
} from '../src/symbol-attention.ts';

type Matrix = number[][];
interface Variant {
  logits: Matrix[];
  attention_to_symbols: Nested[];
  token_nll: Matrix;
  mean_cross_entropy: number;
}
interface Expected {
  K: number;
  input_ids: Matrix;
  walks: Matrix;
  soft_symbols: Matrix[];
  variants: Record<'posenc' | 'no_posenc' | 'posenc_soft_symbols', Variant>;
}

const at = (path: string): string => fileURLToPath(new URL(`../../../fixtures/${path}`, import.meta.url));
const expected = readFixture<Expected>('gpt2-psa/expected');

function open(dtype: DType, symbols: Partial<SymbolOptions> = {}): Gpt2Decoder {
  const options = { dtype, symbols: { symbols: expected.K, ...symbols } };
  const model = Gpt2Decoder.open(at('gpt2-tiny'), new Generator(1), options).train(false);
  const own = new Map(model.namedTensors());
  const stored = openSafetensors(at('gpt2-psa/psa.safetensors'));
  noGrad(() => {
    for (const name of stored.names)
      own.get(name.replace('psa_k', 'psa.k').replace('psa_v', 'psa.v'))!.copy_(stored.get(name));
  });
  return model;
}

const oneHot = (b: number, dtype: DType): Tensor =>
  walkTensor([expected.walks[b]!]).oneHot(expected.K).to(dtype);
const soft = (b: number, dtype: DType): Tensor => f64([expected.soft_symbols[b]!]).to(dtype);

describe.each([
  { dtype: 'float64', logits: 1e-9, attention: 1e-9 },
  { dtype: 'float32', logits: 5e-5, attention: 1e-5 },
] as const)('gpt2-psa in $dtype', ({ dtype, logits: near, attention: nearer }) => {
  test.each([
    { name: 'posenc', positions: true, schema: oneHot },
    { name: 'no_posenc', positions: false, schema: oneHot },
    { name: 'posenc_soft_symbols', positions: true, schema: soft },
  ] as const)('$name', ({ name, positions, schema }) => {
    const model = open(dtype, { positions });
    const variant = expected.variants[name];
    for (const [b, ids] of expected.input_ids.entries()) {
      const attention: Tensor[] = [];
      const states = model.hidden(walkTensor([ids]), schema(b, dtype), { attention });
      expectClose(model.logits(states), variant.logits[b]!, near, `logits of ${b}`);
      expect(attention.map((weights) => weights.shape)).toEqual([
        [1, 2, ids.length, 3],
        [1, 2, ids.length, 3],
      ]);
      for (const [layer, weights] of attention.entries())
        expectClose(
          weights,
          (variant.attention_to_symbols[b] as Nested[])[layer]!,
          nearer,
          `attention in ${layer}`,
        );
      const { perSentence } = model.nll(walkTensor([ids]), schema(b, dtype), [ids.length]);
      expectClose([perSentence.item()], [variant.token_nll[b]!.reduce((x, y) => x + y)], 20 * near);
    }
  });
});

describe('a schema', () => {
  test('gets gradients through every layer, as finite differences say', () => {
    const model = open('float64');
    const schema = soft(0, 'float64').requireGrad();
    const tokens = walkTensor([expected.input_ids[0]!]);
    const loss = (e: Tensor): Tensor => model.nll(tokens, e, [12], { budget: 97 * 8 * 5 }).perSentence.sum();
    const gradient = gradientOf(loss(schema), schema).toNumbers();
    const base = schema.detach().toNumbers();
    for (const i of [0, 8, 20]) {
      const value = (delta: number): number =>
        loss(f64(base.map((x, j) => (i === j ? x + delta : x))).reshape(1, 3, 7)).item();
      expectClose([gradient[i]!], [(value(1e-5) - value(-1e-5)) / 2e-5], 1e-7);
    }
  });

  test('padding leaves no trace, and the order of symbols matters', () => {
    const model = open('float64');
    const [long, short] = expected.input_ids as [number[], number[]];
    const both = walkTensor([long, [...short, 0, 0, 0, 0, 0]]);
    const schema = walkTensor(expected.walks).oneHot(7).to('float64');
    const states = model.hidden(both, schema).select(0, 1).narrow(0, 0, short.length);
    expectClose(states, model.hidden(walkTensor([short]), oneHot(1, 'float64')).squeeze(0), 1e-12);
    const turned = walkTensor([expected.walks[1]!.toReversed()]).oneHot(7).to('float64');
    expect(largestGap(model.hidden(walkTensor([short]), turned).squeeze(0), states)).toBeGreaterThan(0.1);
  });

  test('has its positions at the size asked for, 1 unless told', () => {
    const tokens = walkTensor([expected.input_ids[0]!]);
    const states = (symbols: Partial<SymbolOptions>) =>
      open('float64', symbols).hidden(tokens, oneHot(0, 'float64'));
    expectClose(states({ positionScale: 1 }), states({}), 1e-15);
    expectClose(states({ positionScale: 0 }), states({ positions: false }), 1e-12);
    const placed = (variant: 'paper' | 'authors', positionScale?: number) => {
      const options = { symbols: 7, variant, positions: true, positionScale };
      const input = new SchemaInput(options, 4, new Generator(1), { dtype: 'float64' });
      const { rows, positions } = input.prepare(oneHot(0, 'float64'), 1, 4);
      return positions ?? rows.sub(input.map_symbols!.forward(oneHot(0, 'float64'))).squeeze(0);
    };
    for (const variant of ['paper', 'authors'] as const)
      expectClose(placed(variant, 0.1), placed(variant).mul(0.1), 1e-12, variant);
    expect(placed('paper').abs().amax().item()).toBe(1);
  });

  test('keeps the size of its positions in config.json', () => {
    const small = open('float64', { positionScale: 0.1 });
    const { hsn } = small.configOf();
    expect(hsn).toEqual({ symbols: 7, variant: 'paper', positions: true, positionScale: 0.1 });
    expect(open('float64').configOf().hsn).toEqual({ symbols: 7, variant: 'paper', positions: true });
    const settings = JSON.parse(JSON.stringify(small.configOf()));
    const again = new Gpt2Decoder(settings, new Generator(2), { dtype: 'float64' }).train(false);
    again.load(new Map(small.namedTensors()));
    const tokens = walkTensor([expected.input_ids[0]!]);
    const schema = oneHot(0, 'float64');
    expectClose(again.hidden(tokens, schema), small.hidden(tokens, schema), 1e-12);
    expect(largestGap(open('float64').hidden(tokens, schema), small.hidden(tokens, schema))).toBeGreaterThan(
      1e-3,
    );
  });

  /** The fixture's projections for every step, each times its own number. */
  function ofSteps(factors: readonly number[]): Gpt2Decoder {
    const options = { dtype: 'float64', symbols: { symbols: expected.K, steps: factors.length } } as const;
    const model = Gpt2Decoder.open(at('gpt2-tiny'), new Generator(1), options).train(false);
    const shared = new Map(open('float64').namedTensors());
    noGrad(() => {
      for (const [name, tensor] of model.namedTensors())
        if (name.includes('.psa.'))
          for (const [i, factor] of factors.entries())
            tensor.select(0, i).copy_(shared.get(name)!.mul(factor));
    });
    return model;
  }

  test('with projections for each step is read as with one where they are alike', () => {
    const tokens = walkTensor([expected.input_ids[0]!]);
    const schema = soft(0, 'float64');
    expectClose(ofSteps([1, 1, 1]).hidden(tokens, schema), open('float64').hidden(tokens, schema), 1e-12);
    // e·(2·W) is (2·e)·W, step by step.
    const scaled = schema.mul(f64([2, 0.5, 0]).reshape(1, 3, 1));
    expectClose(ofSteps([2, 0.5, 0]).hidden(tokens, schema), open('float64').hidden(tokens, scaled), 1e-12);
    const short = schema.narrow(1, 0, 2);
    expectClose(ofSteps([1, 1, 1]).hidden(tokens, short), open('float64').hidden(tokens, short), 1e-12);
  });

  test('keeps projections for each step in config.json', () => {
    const model = ofSteps([1, 2, 3]);
    const settings = JSON.parse(JSON.stringify(model.configOf()));
    expect(settings.hsn).toMatchObject({ symbols: 7, steps: 3 });
    const again = new Gpt2Decoder(settings, new Generator(2), { dtype: 'float64' }).train(false);
    again.load(new Map(model.namedTensors()));
    const tokens = walkTensor([expected.input_ids[0]!]);
    const schema = oneHot(0, 'float64');
    expectClose(again.hidden(tokens, schema), model.hidden(tokens, schema), 1e-12);
    const shapes = new Map([...model.namedTensors()].map(([name, { shape }]) => [name, shape]));
    const claims = symbolClaims(settings.hsn);
    expect(claims.map(({ key, value }) => [key, value])).toEqual([
      ['hsn.symbols', 7],
      ['hsn.steps', 3],
    ]);
    for (const { tensor, axis, value } of claims) {
      const [, shape] = [...shapes].find(([name]) => tensor.test(name))!;
      expect(shape[axis!]).toBe(value);
    }
  });

  test('of a wrong shape is refused with the right one', () => {
    const model = open('float64');
    const tokens = walkTensor(expected.input_ids.map((ids) => ids.slice(0, 5)));
    expect(() => model.hidden(tokens, oneHot(0, 'float64'))).toThrow(
      'a schema has shape [2, L, 7] (sentences, walk steps, symbols), got [1, 3, 7]',
    );
  });
});

interface GoldenPsa {
  u: Matrix[];
  e: Matrix[];
  weights: Record<string, number[] | Matrix>;
  code_output_no_pos_encoding_DEFAULT: Matrix[];
  code_attention_no_pos_encoding: Matrix[][];
  code_output_last_token_masked: Matrix[];
  code_output_pos_encoding_before_projection: Matrix[];
  code_attention_pos_encoding: Matrix[][];
  paper_output_pos_encoding_after_projection: Matrix[];
}

describe("the authors' numbers", () => {
  const { psa: golden } = readFixture<{ psa: GoldenPsa }>('authors-golden');
  const weight = (name: string): Tensor => f64(golden.weights[name]!);
  const generator = new Generator(1);
  const like = { dtype: 'float64' } as const;
  const sizes = { width: 4, keyWidth: 4 };
  const rw = weight('rw_attn.weight').chunk(2, 1);
  const rwBias = weight('rw_attn.bias').chunk(2, 0);

  function authors(positions: boolean): [SchemaInput, SymbolAttention] {
    const options = { symbols: 3, variant: 'authors', positions } as const;
    const input = new SchemaInput(options, 4, generator, like);
    const layer = new SymbolAttention(options, sizes, generator, like);
    input.load(new Map(['weight', 'bias'].map((n) => [`map_symbols.${n}`, weight(`map_symbols.${n}`)])));
    layer.load(
      new Map([
        ['k.weight', rw[0]!],
        ['v.weight', rw[1]!],
        ['k.bias', rwBias[0]!],
        ['v.bias', rwBias[1]!],
      ]),
    );
    return [input, layer];
  }

  /** The paper's form: of one-hot symbols the map and all biases are one matrix. */
  function paper(): [SchemaInput, SymbolAttention] {
    const options = { symbols: 3 };
    const rows = weight('map_symbols.weight').transpose(0, 1).add(weight('map_symbols.bias')); // [S, D]
    const layer = new SymbolAttention(options, sizes, generator, like);
    layer.load(new Map([0, 1].map((i) => [`${'kv'[i]}.weight`, rows.matmul(rw[i]!).add(rwBias[i]!)])));
    return [new SchemaInput(options, 4, generator, like), layer];
  }

  function run(
    [input, psa]: [SchemaInput, SymbolAttention],
    hideLast = false,
  ): { out: Tensor; seen: Tensor } {
    const u = f64(golden.u);
    const projected = u.matmul(weight('c_attn.weight')).add(weight('c_attn.bias')).chunk(3, 2);
    const [query, key, value] = projected.map((part) => nn.splitHeads(part, 2)) as [Tensor, Tensor, Tensor];
    const causal = f64([
      [0, 0, 0, 1, 1],
      [0, 0, 0, 0, 1],
      [0, 0, 0, 0, 0],
    ]).mul(-1e300);
    const mask = hideLast ? causal.add(hidingMask(f64([[0, 0, 1]]), 2, u)) : causal;
    const attention: Tensor[] = [];
    const context = { mask, schema: input.prepare(f64(golden.e), 1, 4), cache: undefined, attention };
    const dropout = new nn.Dropout(0, generator);
    const mixed = attendWithSymbols({ layer: 0, query, token: { key, value }, psa, dropout }, context);
    return { out: mixed.matmul(weight('c_proj.weight')).add(weight('c_proj.bias')), seen: attention[0]! };
  }

  const onSymbols = (all: Matrix[][]): number[][][][] =>
    all.map((h) => h.map((t) => t.map((row) => row.slice(0, 2))));

  test('their variant without and with positions before the projection', () => {
    const plain = run(authors(false));
    expectClose(plain.out, golden.code_output_no_pos_encoding_DEFAULT, 1e-12);
    expectClose(plain.seen, onSymbols(golden.code_attention_no_pos_encoding), 1e-12);
    const placed = run(authors(true));
    expectClose(placed.out, golden.code_output_pos_encoding_before_projection, 1e-12);
    expectClose(placed.seen, onSymbols(golden.code_attention_pos_encoding), 1e-12);
  });

  test('the paper, with positions after the projection', () => {
    expectClose(run(paper()).out, golden.paper_output_pos_encoding_after_projection, 1e-12);
  });

  test('a word hidden from attention', () => {
    expectClose(run(authors(false), true).out, golden.code_output_last_token_masked, 1e-12);
  });
});

describe('word dropout', () => {
  const model = open('float64');
  const ids = expected.input_ids[0]!;
  const tokens = walkTensor([ids]);
  const drop = (how: 'replace' | 'mask', more: object = {}): Tensor =>
    model.hidden(tokens, oneHot(0, 'float64'), {
      wordDropout: { rate: 0.4, how, generator: new Generator(7), ...more },
    });
  const gone = droppedWords(1, 12, { rate: 0.4, how: 'mask', generator: new Generator(7) }).toNumbers();

  test('drops its share, never the first, and repeats with the seed', () => {
    const many = droppedWords(400, 20, { rate: 0.3, how: 'mask', generator: new Generator(3) });
    expect(many.select(1, 0).sum().item()).toBe(0);
    expect(many.sum().item() / (400 * 19)).toBeCloseTo(0.3, 1);
    expectClose(drop('mask'), drop('mask'), 1e-15);
    expect(gone.filter(Boolean).length).toBeGreaterThan(1);
  });

  test('replacing is reading other tokens at the same positions', () => {
    const others = walkTensor([ids.map((id, t) => (gone[t] ? 5 : id))]);
    expectClose(drop('replace', { token: 5 }), model.hidden(others, oneHot(0, 'float64')), 1e-12);
  });

  test('a word that is masked or zeroed cannot be told from another', () => {
    const t = gone.lastIndexOf(1);
    const states = { mask: drop('mask'), replace: drop('replace') };
    const changed = walkTensor([ids.map((id, i) => (i === t ? (id + 1) % 97 : id))]);
    const again = (how: 'replace' | 'mask'): Tensor =>
      model.hidden(changed, oneHot(0, 'float64'), {
        wordDropout: { rate: 0.4, how, generator: new Generator(7) },
      });
    expectClose(again('replace'), states.replace, 1e-12);
    const later = 12 - t - 1;
    if (later > 0)
      expectClose(again('mask').narrow(1, t + 1, later), states.mask.narrow(1, t + 1, later), 1e-12);
    expect(
      largestGap(model.hidden(changed, oneHot(0, 'float64')), model.hidden(tokens, oneHot(0, 'float64'))),
    ).toBeGreaterThan(0.01);
  });

  test('a rate outside [0, 1) is refused', () => {
    expect(() => drop('mask', { rate: 1 })).toThrow('a word dropout rate lies in [0, 1), got 1');
  });
});
