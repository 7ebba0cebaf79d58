import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { noGrad, scope, setThreads, Tensor } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPretrainedText } from '../src/pretrained.ts';
import { openRotary, RotaryEncoder, readRotaryConfig } from '../src/rotary-bert.ts';
import { maskOfLengths } from '../src/text-encoder.ts';

interface Expected {
  lengths: number[];
  ids: number[][];
  /** States of each text's last token, and unit means of all, by transformers in float64. */
  last: number[][];
  unit_means: number[][];
}

const fixtures = path.join(import.meta.dirname, '../../../fixtures');
const folder = temporaryFolder('rotary-bert');
afterAll(folder.remove);

const largest = (got: ArrayLike<number>, wanted: readonly number[]): number =>
  wanted.reduce((most, x, i) => Math.max(most, Math.abs(x - got[i]!)), 0);

describe.each(['modernbert-tiny', 'nomic-bert-tiny'])('%s', (name) => {
  const source = path.join(fixtures, name);
  const expected = JSON.parse(fs.readFileSync(path.join(source, 'hidden.json'), 'utf8')) as Expected;
  let encoder: RotaryEncoder;
  beforeAll(() => {
    setThreads(1);
    encoder = openRotary(source).train(false);
  });
  afterAll(() => encoder.free());

  const read = (ids: readonly number[][], lengths: readonly number[]): Tensor => {
    const width = ids[0]!.length;
    const padded = Tensor.fromArray(Int32Array.from(ids.flat()), [ids.length, width]);
    return noGrad(() => scope(() => encoder.hidden(padded, maskOfLengths(lengths, width))));
  };

  test('has the states of transformers, and their means', () => {
    const { ids, lengths } = expected;
    const states = read(ids, lengths);
    for (const [row, length] of lengths.entries()) {
      const own = states.select(0, row).narrow(0, 0, length);
      expect(largest(own.select(0, length - 1).toNumbers(), expected.last[row]!)).toBeLessThan(1e-4);
      const mean = own.mean(0).toNumbers();
      const norm = Math.hypot(...mean);
      expect(
        largest(
          mean.map((x) => x / norm),
          expected.unit_means[row]!,
        ),
      ).toBeLessThan(1e-5);
    }
    states.free();
  });

  test('and the same for a text alone, unpadded', () => {
    const [ids, length] = [expected.ids[1]!, expected.lengths[1]!];
    const states = read([ids.slice(0, length)], [length]);
    expect(
      largest(
        states
          .select(0, 0)
          .select(0, length - 1)
          .toNumbers(),
        expected.last[1]!,
      ),
    ).toBeLessThan(1e-4);
    states.free();
  });

  test('opens by the name of its folder, as any encoder', async () => {
    folder.holdCache();
    const own = folder.path(`${name}-named`);
    fs.cpSync(source, own, { recursive: true });
    const vocab = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`w${at}`, at]));
    const tokenizer = {
      version: '1.0',
      added_tokens: [],
      model: { type: 'WordLevel', vocab, unk_token: 'w0' },
    };
    fs.writeFileSync(
      path.join(own, 'tokenizer.json'),
      JSON.stringify({ ...tokenizer, pre_tokenizer: { type: 'WhitespaceSplit' } }),
    );
    const opened = await openPretrainedText(own);
    expect(opened.encoder).toBeInstanceOf(RotaryEncoder);
    opened.encoder.free();
  });

  test('refuses more tokens than it has positions', () => {
    expect(() => read([new Array<number>(65).fill(3)], [65])).toThrow(
      'a sentence of 65 tokens came to an encoder of 64 positions',
    );
  });

  test.each(['num_hidden_layers', 'vocab_size', 'hidden_size', 'intermediate_size'])(
    'refuses a config.json with another %s than the weights have',
    (key) => {
      const own = folder.path(`${name}-${key}`);
      fs.cpSync(source, own, { recursive: true });
      const config = JSON.parse(fs.readFileSync(path.join(own, 'config.json'), 'utf8'));
      config[key] += 2;
      fs.writeFileSync(path.join(own, 'config.json'), JSON.stringify(config));
      expect(() => openRotary(own)).toThrow(`${key} is`);
    },
  );
});

test("reads the names that the first Nomic-BERTs' settings have, and no further than they were trained", () => {
  const source = path.join(fixtures, 'nomic-bert-tiny');
  const now = readRotaryConfig(source);
  const own = folder.path('older');
  fs.mkdirSync(own);
  const older = {
    ...{ model_type: 'nomic_bert', vocab_size: 60, n_embd: 16, n_head: 2, n_layer: 2, n_inner: 24 },
    ...{ n_positions: 8192, max_trained_positions: 64, layer_norm_epsilon: 1e-12, rotary_emb_base: 1000 },
    ...{ activation_function: 'swiglu', prenorm: false, pad_token_id: 0 },
  };
  const write = (config: object) => fs.writeFileSync(path.join(own, 'config.json'), JSON.stringify(config));
  write(older);
  const { layers, epsilon, max_position_embeddings: positions, hidden_size: width } = readRotaryConfig(own);
  expect({ layers, epsilon, positions, width }).toEqual({
    ...{ layers: now.layers, epsilon: now.epsilon },
    ...{ positions: 64, width: 16 },
  });
  write({ ...older, prenorm: true });
  expect(() => readRotaryConfig(own)).toThrow('this model cannot be opened: prenorm');
});
