import { tokenizerFromJson } from '@hidden-schema/text/tokenizer/tokenizer';
import type { TensorSource } from '@hidden-schema/torch';
import { checkClaims, importInto, writeModelFolder } from '../model-folder.ts';
import { splitInHalves } from '../rotary.ts';
import { type Architecture, architectureOf, type Placement } from './architectures.ts';
import { dequantised } from './formats.ts';
import { GgufFile, type GgufTensor, rowCount } from './reader.ts';
import { ggufTokenizer } from './tokenizer.ts';

/** Bytes of numbers that are made at a time, unless a single tensor has to be turned. */
const chunkBytes = 8 << 20;
const bytesOf = { float32: 4, float16: 2, bfloat16: 2 } as const;

export interface ImportedGguf {
  architecture: string;
  parameters: number;
  vocabulary: number;
  /** How many tensors are stored in each way. */
  formats: Record<string, number>;
  bytes: number;
}

/**
 * Writes the model in a GGUF file as a folder in Hugging Face's layout, tensor after tensor in bounded memory. Quantised
 * numbers become float32; float16 and bfloat16 stay what they are.
 */
export function importGguf(
  path: string,
  folder: string,
  onTensor: (done: number, total: number) => void = () => {},
): ImportedGguf {
  let file: GgufFile | undefined;
  try {
    return importInto(folder, () => {
      file = GgufFile.open(path);
      return importable(file, onTensor);
    });
  } finally {
    file?.close();
  }
}

/** What a file holds, checked as far as that goes without reading its numbers. */
function importable(file: GgufFile, onTensor: (done: number, total: number) => void) {
  const architecture = architectureOf(file);
  const { config } = architecture;
  const sources = sourcesOf(file, architecture);
  const { json: tokenizer, special } = ggufTokenizer(file);
  const { vocabulary } = tokenizerFromJson(tokenizer, `the tokenizer in ${file.path}`, special);
  const rows = config.vocab_size as number;
  if (vocabulary > rows) file.fail(`its tokenizer has ${vocabulary} tokens, its embedding ${rows} rows`);
  const parameters = sources.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  const formats: Record<string, number> = {};
  for (const { format } of file.tensors.values()) formats[format.name] = (formats[format.name] ?? 0) + 1;
  const tensors = sources.map((source, i) => ({
    ...source,
    read: (put: (bytes: Uint8Array) => void) => {
      source.read(put);
      onTensor(i + 1, sources.length);
    },
  }));
  const write = (partial: string): ImportedGguf => {
    const bytes = writeModelFolder(partial, { config, tensors, tokenizer, special });
    return { architecture: String(config.model_type), parameters, vocabulary, formats, bytes };
  };
  return { needed: 4 * parameters, write };
}

/** Every tensor of the model, by its new name; one too many or too few is refused. */
function sourcesOf(file: GgufFile, architecture: Architecture): TensorSource[] {
  const wanted = new Map(architecture.single);
  for (let layer = 0; layer < architecture.layers && layer <= file.tensors.size; layer++)
    for (const [stored, place] of architecture.each)
      wanted.set(`blk.${layer}.${stored}`, { ...place, name: place.name.replace('#', String(layer)) });
  for (const name of file.tensors.keys())
    if (!wanted.has(name))
      file.fail(`the model has a tensor ${JSON.stringify(name)}, which has no place here`);
  for (const name of wanted.keys()) {
    if (file.tensors.has(name)) continue;
    if (!architecture.optional.includes(name)) file.fail(`it has no ${name}, which the model needs`);
    wanted.delete(name);
  }
  const sources = [...wanted].map(([stored, place]) => sourceOf(file, file.tensors.get(stored)!, place));
  const shapes = new Map(sources.map(({ name, shape }) => [name, shape]));
  checkClaims(shapes, architecture.claims, file.path);
  return sources;
}

function sourceOf(file: GgufFile, tensor: GgufTensor, place: Placement): TensorSource {
  const { name, heads, turned } = place;
  const { format, shape } = tensor;
  if (turned) {
    const read: TensorSource['read'] = (put) => put(bytesView(turnedNumbers(file, tensor)));
    return { name, dtype: 'float32', shape: shape.toReversed(), read };
  }
  if (heads !== undefined && rowCount(tensor) % (2 * heads) !== 0)
    file.fail(`tensor ${JSON.stringify(tensor.name)} has ${rowCount(tensor)} rows for ${heads} heads`);
  const dtype = format.asStored ?? 'float32';
  return { name, dtype, shape, read: (put) => readRows(file, tensor, heads, put) };
}

/** All rows in order, or as their heads want them; as stored where that is a type of its own. */
function readRows(
  file: GgufFile,
  tensor: GgufTensor,
  heads: number | undefined,
  put: (bytes: Uint8Array) => void,
): void {
  const { format, shape } = tensor;
  const rows = rowCount(tensor);
  const rowBytes = shape.at(-1)! * bytesOf[format.asStored ?? 'float32'];
  // Rows that change places are read head by head.
  const headWidth = heads === undefined ? undefined : rows / heads;
  const atOnce = headWidth ?? Math.max(1, Math.floor(chunkBytes / rowBytes));
  for (let first = 0; first < rows; first += atOnce) {
    const stored = file.rows(tensor, first, Math.min(atOnce, rows - first));
    const bytes = format.asStored ? stored : bytesView(dequantised(format, stored));
    put(headWidth === undefined ? bytes : splitInHalves(bytes, rowBytes));
  }
}

function turnedNumbers(file: GgufFile, tensor: GgufTensor): Float32Array {
  const [rows, columns] = tensor.shape as [number, number];
  const numbers = dequantised(tensor.format, file.rows(tensor, 0, rows));
  const turned = new Float32Array(numbers.length);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) turned[j * rows + i] = numbers[i * columns + j]!;
  return turned;
}

/** Numbers as the bytes of a file: little-endian, as every machine that this engine runs on. */
const bytesView = (numbers: Float32Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);
