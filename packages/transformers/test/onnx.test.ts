import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, noGrad, scope, Tensor, writeSafetensors } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BertEncoder, bertConfigSchema } from '../src/bert.ts';
import { openOnnx } from '../src/onnx/reader.ts';
import { findPretrained, openPretrainedEncoder } from '../src/pretrained.ts';

const config = bertConfigSchema.parse({
  vocab_size: 300,
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  intermediate_size: 32,
  max_position_embeddings: 16,
});

// A writer of ONNX' messages, as onnx.proto has them: it shares nothing with the reader.
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
const whole = (number: number, value: number): Buffer =>
  Buffer.from([...varint(number * 8), ...varint(value)]);
const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));

interface Written {
  packed?: boolean;
  type?: number;
  more?: Buffer;
}

function tensorMessage(
  name: string,
  shape: readonly number[],
  data: Float32Array,
  how: Written = {},
): Buffer {
  const dims = how.packed ? [field(1, Buffer.from(shape.flatMap(varint)))] : shape.map((n) => whole(1, n));
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Buffer.concat([
    ...dims,
    whole(2, how.type ?? 1),
    text(8, name),
    field(9, bytes),
    how.more ?? Buffer.of(),
  ]);
}

const node = (name: string, type: string, inputs: readonly string[]): Buffer =>
  Buffer.concat([
    ...inputs.map((input) => text(1, input)),
    text(2, `${name}_out`),
    text(3, name),
    text(4, type),
  ]);

/** The graph that PyTorch's exporter writes: a layer's matrix transposed, under a number, named by its product alone. */
function onnxOf(encoder: BertEncoder, how: Written = {}): Buffer {
  const parts: Buffer[] = [];
  for (const [at, [name, tensor]] of [...encoder.namedTensors()].entries()) {
    const data = (t: Tensor) => scope(() => t.contiguous().toArray()) as Float32Array;
    if (!/dense\.weight$|(?:query|key|value)\.weight$/.test(name)) {
      parts.push(field(5, tensorMessage(name, tensor.shape, data(tensor), how)));
      continue;
    }
    const factor = `onnx::MatMul_${at}`;
    const turned = scope(() => data(tensor.transpose(0, 1)));
    parts.push(field(5, tensorMessage(factor, tensor.shape.toReversed(), turned, how)));
    const product = `/${name.replace(/\.weight$/, '').replace(/layer\.(\d+)\./, 'layer.$1/')}`
      .replace('encoder.', 'encoder/')
      .replaceAll(/\.(?=attention|self|output|dense|query|key|value|intermediate)/g, '/');
    parts.push(field(1, node(`${product}/MatMul`, 'MatMul', ['/before', factor])));
  }
  parts.push(field(5, tensorMessage('/Constant_1', [1], Float32Array.of(1), { type: 7 })));
  parts.push(field(1, node('/embeddings/Add', 'Add', ['/a', '/b'])));
  return Buffer.concat([whole(1, 6), text(2, 'pytorch'), field(7, Buffer.concat(parts))]);
}

let root: string;
let encoder: BertEncoder;
beforeAll(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-onnx-'));
  encoder = new BertEncoder(config, new Generator(7));
});
afterAll(() => {
  encoder.free();
  fs.rmSync(root, { recursive: true, force: true });
});

function folderOf(name: string, bytes: Buffer, place = 'onnx/model.onnx'): string {
  const folder = path.join(root, name);
  fs.mkdirSync(path.dirname(path.join(folder, place)), { recursive: true });
  fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  const texts = ['every small word that a small tokenizer could ever want to have, in a small sentence'];
  fs.writeFileSync(path.join(folder, 'tokenizer.json'), trainByteBpe(texts, 290).json);
  fs.writeFileSync(path.join(folder, place), bytes);
  return folder;
}

const hidden = (model: BertEncoder): number[] =>
  noGrad(() =>
    scope(() => {
      model.train(false);
      const ids = Tensor.fromArray(BigInt64Array.from([5, 17, 200, 3, 9, 0], BigInt), [2, 3]);
      return model.hidden(ids, Tensor.fromArray(Float32Array.of(1, 1, 1, 1, 1, 0), [2, 3])).toNumbers();
    }),
  );

describe('a BERT from an ONNX graph', () => {
  test.each([
    ['onnx/model.onnx', { packed: false }],
    ['model.onnx', { packed: true }],
  ])('in %s has the states of the model that was exported', async (place, how) => {
    const folder = folderOf(`whole-${how.packed}`, onnxOf(encoder, how), place);
    const opened = await openPretrainedEncoder(folder);
    expect(hidden(opened.encoder)).toEqual(hidden(encoder));
    opened.encoder.free();
  });

  test('gives way to safetensors beside it', async () => {
    const folder = folderOf('both', Buffer.from('no graph at all'));
    writeSafetensors(path.join(folder, 'model.safetensors'), encoder.namedTensors());
    const opened = await openPretrainedEncoder(folder);
    expect(hidden(opened.encoder)).toEqual(hidden(encoder));
    opened.encoder.free();
  });

  test('lies deeper in an installed package, and is chosen where there are two', async () => {
    const roots = path.join(process.cwd(), 'node_modules', '@hsn-test');
    fs.mkdirSync(roots, { recursive: true });
    const home = fs.mkdtempSync(path.join(roots, 'two-'));
    try {
      fs.writeFileSync(path.join(home, 'package.json'), '{}');
      for (const name of ['first', 'second'])
        fs.cpSync(folderOf('packed', onnxOf(encoder)), path.join(home, 'models', name), { recursive: true });
      const name = `@hsn-test/${path.basename(home)}`;
      await expect(findPretrained(name)).rejects.toThrow(
        `the package ${name} holds 2 models: models/first, models/second; name the folder of one`,
      );
      const found = await findPretrained(`${name}/models/second`);
      expect([found.origin, found.folder]).toEqual(['package', path.join(home, 'models', 'second')]);
      await expect(findPretrained(`${name}/models/third`)).rejects.toThrow('has no folder models/third');
      await expect(findPretrained(`${name}/models/../../x`)).rejects.toThrow('is no model');
    } finally {
      fs.rmSync(roots, { recursive: true, force: true });
    }
  });

  test('is refused in a line where its graph is not what it says', () => {
    const one = (message: Buffer) => field(7, field(5, message));
    const numbers = Float32Array.of(1, 2, 3, 4);
    const cases: [Buffer, RegExp][] = [
      [Buffer.of(), /it has 0 graphs, expected one/],
      [Buffer.from('PK\x03\x04 not this'), /no ONNX model that can be read/],
      [one(tensorMessage('a', [3], numbers)), /tensor "a" is \[3\] and has 16 bytes/],
      [
        one(tensorMessage('a', [2 ** 40, 2 ** 40], numbers)),
        /tensor "a" is \[1099511627776, 1099511627776\]/,
      ],
      [
        one(tensorMessage('a', [4], numbers, { more: field(13, Buffer.of()) })),
        /weights lie in another file/,
      ],
      [
        field(7, Buffer.concat([1, 2].map(() => field(5, tensorMessage('a', [4], numbers))))),
        /two of its tensors are named "a"/,
      ],
      [Buffer.from([0x3a, 0xff, 0xff, 0xff, 0xff, 0x7f]), /bytes are expected where 0 are left/],
    ];
    for (const [bytes, message] of cases) {
      const file = path.join(root, 'odd.onnx');
      fs.writeFileSync(file, bytes);
      expect(() => openOnnx(file)).toThrow(message);
      expect(() => openOnnx(file)).toThrow(UserError);
    }
    expect(() => openOnnx(path.join(root, 'none.onnx'))).toThrow(/cannot read .*none\.onnx/);
  });

  test('is refused with the layer that it lacks', async () => {
    const whole = onnxOf(encoder);
    const at = whole.lastIndexOf('encoder/layer.1/output/dense/MatMul');
    whole.write('encoder/layer.1/output/dense/MatMux', at);
    const folder = folderOf('lacking', whole);
    await expect(openPretrainedEncoder(folder)).rejects.toThrow(/encoder\.layer\.1\.output\.dense\.weight/);
  });

  test('cut anywhere or with a changed byte it opens or is refused, and nothing else', async () => {
    const bytes = onnxOf(encoder);
    const folder = folderOf('damaged', bytes);
    const file = path.join(folder, 'onnx', 'model.onnx');
    let refused = 0;
    const attempt = async (damaged: Buffer) => {
      fs.writeFileSync(file, damaged);
      try {
        (await openPretrainedEncoder(folder)).encoder.free();
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        refused++;
      }
    };
    for (let share = 1; share < 50; share++)
      await attempt(bytes.subarray(0, Math.floor((share * bytes.length) / 50)));
    expect(refused).toBe(49);
    const marks = [...bytes.toString('latin1').matchAll(/MatMul|weight|bias/g)].map(({ index }) => index);
    for (const mark of marks)
      for (const near of [-12, -3, -1, 2]) {
        const damaged = Buffer.from(bytes);
        damaged[Math.max(0, mark + near)]! ^= 0x55;
        await attempt(damaged);
      }
    expect(refused).toBeGreaterThan(100);
  });
});
