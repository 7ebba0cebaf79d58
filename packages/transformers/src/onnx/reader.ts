import { asUserError, readRegular, UserError } from '@hidden-schema/base';
import { scope, Tensor, type Weights } from '@hidden-schema/torch';
import { type Fail, fieldsOf, numbersOf, textOf } from '../protobuf.ts';

/** Fields of ONNX' messages, by the numbers that its onnx.proto gives them. */
const MODEL_GRAPH = 7;
const GRAPH = { node: 1, initializer: 5 } as const;
const NODE = { input: 1, name: 3, type: 4 } as const;
const TENSOR = { dims: 1, type: 2, name: 8, data: 9, external: 13 } as const;
const FLOAT32 = 1;

/** What protobuf allows a message to have at most. */
const mostBytes = 2 ** 31 - 1;
const mostTensors = 100_000;

interface StoredTensor {
  readonly shape: readonly number[];
  readonly data: Buffer;
  /** A factor of a matrix product is stored [inputs, outputs]; a layer's weight is [outputs, inputs]. */
  readonly transposed: boolean;
}

/**
 * The float32 weights of an ONNX graph by the names that the exported module had for them. Exporters keep the names of
 * most weights, but rename the matrix of a linear layer; there the name of the product that reads it tells the layer.
 */
export function openOnnx(file: string): Weights {
  const fail: Fail = (what) => {
    throw new UserError(`${file} is no ONNX model that can be read: ${what}`);
  };
  const bytes = asUserError(
    () => readRegular(file, mostBytes),
    (reason) => `cannot read ${file}: ${reason}; expected an ONNX model`,
  );
  const graphs: Buffer[] = [];
  for (const field of fieldsOf(bytes, fail))
    if (field.number === MODEL_GRAPH && 'bytes' in field) graphs.push(field.bytes);
  if (graphs.length !== 1) fail(`it has ${graphs.length} graphs, expected one`);
  return new OnnxWeights(file, tensorsOf(graphs[0]!, fail));
}

function tensorsOf(graph: Buffer, fail: Fail): Map<string, StoredTensor> {
  const stored = new Map<string, StoredTensor>();
  const products = new Map<string, string>();
  for (const field of fieldsOf(graph, fail)) {
    if (!('bytes' in field)) continue;
    if (field.number === GRAPH.initializer) {
      const [name, tensor] = readTensor(field.bytes, fail);
      if (stored.has(name)) fail(`two of its tensors are named ${JSON.stringify(name)}`);
      if (tensor) stored.set(name, tensor);
      if (stored.size > mostTensors) fail(`it has more than ${mostTensors} tensors`);
    } else if (field.number === GRAPH.node) {
      const product = readProduct(field.bytes, fail);
      if (product) products.set(product.factor, product.layer);
    }
  }
  for (const [factor, layer] of products) {
    const tensor = stored.get(factor);
    if (tensor?.shape.length !== 2) continue;
    const name = `${layer}.weight`;
    if (stored.has(name)) fail(`two of its tensors are named ${JSON.stringify(name)}`);
    stored.set(name, { ...tensor, shape: tensor.shape.toReversed(), transposed: true });
    stored.delete(factor);
  }
  return stored;
}

/** The layer of a product with a stored matrix: "/encoder/layer.0/output/dense/MatMul" is of encoder.layer.0.output.dense. */
function readProduct(node: Buffer, fail: Fail): { layer: string; factor: string } | undefined {
  const inputs: string[] = [];
  let [name, type] = ['', ''];
  for (const field of fieldsOf(node, fail)) {
    if (!('bytes' in field)) continue;
    if (field.number === NODE.input) inputs.push(textOf(field.bytes, fail));
    if (field.number === NODE.name) name = textOf(field.bytes, fail);
    if (field.number === NODE.type) type = textOf(field.bytes, fail);
  }
  const layer = /^\/(.+)\/MatMul$/.exec(name)?.[1];
  if (type !== 'MatMul' || layer === undefined || inputs[1] === undefined) return undefined;
  return { layer: layer.replaceAll('/', '.'), factor: inputs[1] };
}

/** A tensor's name and numbers; none of what is not float32, as the shapes and places that a graph computes with. */
function readTensor(message: Buffer, fail: Fail): [string, StoredTensor | undefined] {
  const shape: number[] = [];
  let [name, type] = ['', 0];
  let data: Buffer | undefined;
  for (const field of fieldsOf(message, fail)) {
    if (field.number === TENSOR.dims) shape.push(...numbersOf(field, fail));
    else if (field.number === TENSOR.external) fail('its weights lie in another file');
    else if ('bytes' in field) {
      if (field.number === TENSOR.name) name = textOf(field.bytes, fail);
      if (field.number === TENSOR.data) data = field.bytes;
    } else if (field.number === TENSOR.type) type = field.value;
  }
  if (type !== FLOAT32 || data === undefined) return [name, undefined];
  const bytes = shape.reduce((product, n) => product * n, 4);
  if (data.length !== bytes)
    fail(`tensor ${JSON.stringify(name)} is [${shape.join(', ')}] and has ${data.length} bytes`);
  return [name, { shape, data, transposed: false }];
}

class OnnxWeights implements Weights {
  readonly metadata: ReadonlyMap<string, string> = new Map();
  readonly #file: string;
  #tensors: ReadonlyMap<string, StoredTensor>;

  constructor(file: string, tensors: ReadonlyMap<string, StoredTensor>) {
    this.#file = file;
    this.#tensors = tensors;
  }

  get names(): readonly string[] {
    return [...this.#tensors.keys()];
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  info(name: string): ReturnType<Weights['info']> {
    const { shape, data } = this.#tensor(name);
    return { dtype: 'float32', shape, bytes: data.length };
  }

  get(name: string): Tensor {
    const { shape, data, transposed } = this.#tensor(name);
    // Bytes of a file lie at any place, numbers at multiples of four.
    const numbers = new Float32Array(new Uint8Array(data).buffer);
    if (!transposed) return Tensor.fromArray(numbers, shape);
    return scope(() => Tensor.fromArray(numbers, shape.toReversed()).transpose(0, 1).contiguous());
  }

  close(): void {
    this.#tensors = new Map();
  }

  #tensor(name: string): StoredTensor {
    const tensor = this.#tensors.get(name);
    if (tensor) return tensor;
    throw new UserError(
      `${this.#file} has no float32 tensor ${JSON.stringify(name)} among its ${this.#tensors.size}`,
    );
  }
}
