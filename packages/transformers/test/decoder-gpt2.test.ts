import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expectClose, largestGap, readFixture } from '@hidden-schema/testing/closeness';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import {
  type DType,
  Generator,
  liveTensors,
  noGrad,
  scope,
  type Tensor,
  writeSafetensors,
} from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { Gpt2Decoder, openDecoder } from '../src/index.ts';

interface Expected {
  input_ids: number[][];
  lengths: number[];
  logits: number[][][];
  token_nll: number[][];
  mean_cross_entropy: number;
  n_predicted_tokens: number;
  grad_l2: Record<string, number>;
  grad_entries: Record<string, { index: number[]; value: number }[]>;
}

const folder = fileURLToPath(new URL('../../../fixtures/gpt2-tiny', import.meta.url));
const expected = readFixture<Expected>('gpt2-tiny/expected');
const scratch = mkdtempSync(join(tmpdir(), 'hsn-gpt2-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function open(dtype: DType = 'float64'): Gpt2Decoder {
  return Gpt2Decoder.open(folder, new Generator(1), { dtype }).train(false);
}

/** A folder with the tiny config and other files beside it. */
function folderWith(name: string, config?: object): string {
  const made = mkdtempSync(join(scratch, name));
  if (config) writeFileSync(join(made, 'config.json'), JSON.stringify(config));
  else copyFileSync(join(folder, 'config.json'), join(made, 'config.json'));
  return made;
}

const tokens = (): Tensor => walkTensor(expected.input_ids);
const meanLoss = (model: Gpt2Decoder, budget = Number.POSITIVE_INFINITY): Tensor => {
  const { perSentence, tokens: count } = model.nll(tokens(), undefined, expected.lengths, { budget });
  return perSentence.sum().div(count);
};

describe.each([
  { dtype: 'float64', logits: 1e-9, loss: 1e-9, gradient: 1e-9 },
  { dtype: 'float32', logits: 5e-5, loss: 5e-6, gradient: 1e-4 },
] as const)('gpt2-tiny in $dtype', (tolerance) => {
  const model = open(tolerance.dtype);

  test('logits', () => {
    const logits = model.logits(model.hidden(tokens()));
    for (const [b, rows] of expected.logits.entries())
      expectClose(logits.select(0, b).narrow(0, 0, rows.length), rows, tolerance.logits, `logits of ${b}`);
  });

  test('loss of each sentence, and gradients of the mean, for one slice and for many', () => {
    for (const budget of [Number.POSITIVE_INFINITY, 97 * 8 * 3]) {
      const { perSentence, tokens: count } = model.nll(tokens(), undefined, expected.lengths, { budget });
      expect(count).toBe(expected.n_predicted_tokens);
      const sums = expected.token_nll.map((row) => row.reduce((a, b) => a + b));
      expectClose(perSentence, sums, 20 * tolerance.loss, 'loss of each sentence');
      const loss = meanLoss(model, budget);
      expectClose([loss.item()], [expected.mean_cross_entropy], tolerance.loss, 'mean loss');
      for (const parameter of model.parameters()) parameter.setGrad(undefined);
      loss.backward();
      for (const [name, parameter] of model.namedParameters()) {
        const norm = expected.grad_l2[name]!;
        expect(Math.abs(parameter.grad!.norm().item() - norm) / norm, name).toBeLessThan(tolerance.gradient);
        for (const { index, value } of expected.grad_entries[name] ?? []) {
          const [row, column] = index as [number, number?];
          const entry = parameter.grad!.select(0, row);
          const got = (column === undefined ? entry : entry.select(0, column)).item();
          expectClose([got], [value], 10 * tolerance.gradient, `${name}[${index}]`);
        }
      }
    }
  });
});

describe('loss in slices', () => {
  const model = open();
  const gradients = (budget: number): number[][] => {
    for (const parameter of model.parameters()) parameter.setGrad(undefined);
    model.nll(tokens(), undefined, expected.lengths, { budget }).perSentence.mean().mul(3).backward();
    return model.parameters().map((parameter) => parameter.grad!.toNumbers());
  };

  test('gradients equal those of one piece, whatever the size of a slice', () => {
    const whole = gradients(Number.POSITIVE_INFINITY);
    for (const rows of [1, 4, 16]) expect(largestGap(gradients(97 * 8 * rows), whole)).toBeLessThan(1e-12);
  });

  test('a frozen output matrix, and no gradients at all, give the same losses', () => {
    const budget = 97 * 8 * 4;
    const whole = model.nll(tokens(), undefined, expected.lengths).perSentence.toNumbers();
    const silent = noGrad(() => model.nll(tokens(), undefined, expected.lengths, { budget }).perSentence);
    expect(silent.requiresGrad).toBe(false);
    expectClose(silent, whole, 1e-12);
    model.transformer.wte.weight.requireGrad(false);
    const frozen = gradients(budget);
    const plain = gradients(Number.POSITIVE_INFINITY);
    model.transformer.wte.weight.requireGrad();
    expect(largestGap(frozen, plain)).toBeLessThan(1e-12);
  });

  test('nothing outlives its scope', () => {
    const before = liveTensors().tensors;
    scope(() => {
      model
        .nll(tokens(), undefined, expected.lengths, { budget: 97 * 8 * 4 })
        .perSentence.sum()
        .backward();
    });
    for (const parameter of model.parameters()) parameter.setGrad(undefined);
    expect(liveTensors().tensors).toBe(before);
  });

  test('tokens of a prefix are read and not predicted', () => {
    const { perSentence, tokens: count } = model.nll(tokens(), undefined, expected.lengths, {
      prefix: [4, 7],
    });
    const rest = expected.token_nll[0]!.slice(3).reduce((a, b) => a + b);
    expect(count).toBe(8);
    expectClose(perSentence, [rest, 0]);
  });

  test('lengths that do not fit are refused', () => {
    expect(() => model.nll(tokens(), undefined, [13, 7])).toThrow(
      'sentence 0 has length 13, expected 1 to 12',
    );
    expect(() => model.nll(tokens(), undefined, [12])).toThrow('2 sentences came with 1 lengths');
    expect(() => model.hidden(walkTensor([Array(33).fill(1)]))).toThrow('at most 32 tokens, got 33');
    expect(() => model.hidden(tokens(), tokens())).toThrow('made without symbols');
  });
});

describe('opening', () => {
  test('names and shapes that do not fit are named', () => {
    const model = open();
    const made = folderWith('shapes');
    const tensors = new Map(model.namedTensors());
    tensors.delete('transformer.ln_f.bias');
    tensors.set('transformer.ln_f.weight', model.transformer.ln_f.weight.narrow(0, 0, 8));
    tensors.set('transformer.h.1.ln_3.weight', model.transformer.ln_f.weight);
    writeSafetensors(join(made, 'model.safetensors'), tensors);
    const failing = (): unknown => openDecoder(made, new Generator(1));
    expect(failing).toThrow('transformer.ln_f.bias is missing');
    expect(failing).toThrow('transformer.ln_f.weight has shape [8], expected [32]');
    expect(failing).toThrow('transformer.h.1.ln_3.weight is not part of this model');
  });

  test('old masks, a tied output and missing prefixes are no faults', () => {
    const model = open('float32');
    const made = folderWith('old');
    const tensors = [...model.namedTensors()].map(
      ([name, tensor]) => [name.replace('transformer.', ''), tensor] as [string, Tensor],
    );
    tensors.push(
      ['h.0.attn.bias', model.transformer.ln_f.bias],
      ['lm_head.weight', model.transformer.wte.weight],
    );
    writeSafetensors(join(made, 'model.safetensors'), tensors);
    const again = openDecoder(made, new Generator(2)).train(false);
    expectClose(again.hidden(tokens()), model.hidden(tokens()), 1e-12);
  });

  test('an export opens again, symbols included', () => {
    const model = new Gpt2Decoder(readFixture('gpt2-tiny/config'), new Generator(4), {
      symbols: { symbols: 5 },
    });
    const made = folderWith('export', model.configOf());
    writeSafetensors(join(made, 'model.safetensors'), model.namedTensors());
    const again = openDecoder(made, new Generator(5));
    expect(again.configOf()).toEqual(model.configOf());
    const schema = walkTensor([
      [1, 2, 3],
      [0, 4, 0],
    ])
      .oneHot(5)
      .to('float32');
    expectClose(again.hidden(tokens(), schema), model.hidden(tokens(), schema), 1e-12);
  });

  test('a pickle is refused, as are settings that would be computed wrongly', () => {
    const made = folderWith('pickle');
    writeFileSync(join(made, 'pytorch_model.bin'), 'anything');
    expect(() => openDecoder(made, new Generator(1))).toThrow('Pickles can run any code');
    const relu = folderWith('relu', { model_type: 'gpt2', activation_function: 'relu', n_embd: 31 });
    expect(() => openDecoder(relu, new Generator(1))).toThrow(/activation_function: .*gelu_new/);
    const heads = folderWith('heads', { model_type: 'gpt2', n_embd: 31 });
    expect(() => openDecoder(heads, new Generator(1))).toThrow('n_embd must divide into n_head heads');
    const other = folderWith('other', { model_type: 'mamba' });
    expect(() => openDecoder(other, new Generator(1))).toThrow(
      'expected a model of type gpt2, llama, lstm or bart, got "mamba"',
    );
    expect(() => openDecoder(join(scratch, 'nothing'), new Generator(1))).toThrow(
      'expected the config.json of a model',
    );
  });

  test('from scratch: the same seed gives the same weights, and a loss near that of guessing', () => {
    const settings = { ...readFixture<object>('gpt2-tiny/config'), embd_pdrop: 0.1 };
    const make = (seed: number): Gpt2Decoder => new Gpt2Decoder(settings, new Generator(seed));
    const [one, two, three] = [make(1), make(1), make(2)];
    expectClose(one.transformer.h[1]!.mlp.c_fc.weight, two.transformer.h[1]!.mlp.c_fc.weight, 1e-12);
    expect(largestGap(one.transformer.wte.weight, three.transformer.wte.weight)).toBeGreaterThan(0.01);
    expect(Math.abs(meanLoss(one.train(false)).item() - Math.log(97))).toBeLessThan(0.1);
  });

  test('dropout draws from the generator, in training alone', () => {
    const settings = {
      ...readFixture<object>('gpt2-tiny/config'),
      attn_pdrop: 0.3,
      embd_pdrop: 0.3,
      resid_pdrop: 0.3,
    };
    const run = (): number => meanLoss(new Gpt2Decoder(settings, new Generator(1))).item();
    expect(run()).toBe(run());
    const model = new Gpt2Decoder(settings, new Generator(1));
    expect(meanLoss(model).item()).not.toBe(meanLoss(model).item());
    model.train(false);
    expect(meanLoss(model).item()).toBe(meanLoss(model).item());
  });
});
