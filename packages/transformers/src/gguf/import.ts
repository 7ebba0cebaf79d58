import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  freeBytes,
  jsonText,
  reasonOf,
  removeStalePartials,
  UserError,
  writeBeside,
  writeSynced,
} from '@hidden-schema/base';
import { tokenizerFromJson } from '@hidden-schema/text/tokenizer/tokenizer';
import { streamSafetensors, type TensorSource } from '@hidden-schema/torch';
import { checkClaims } from '../claims.ts';
import { pairedRow } from '../rotary.ts';
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
  if (existsSync(folder))
    throw new UserError(`${folder} is there already; give a folder that is still to be made`);
  const file = GgufFile.open(path);
  try {
    const content = contentOf(file);
    const target = resolve(folder);
    prepare(folder, dirname(target), content.sources);
    const bytes = writeBeside(target, (partial) => writeContent(partial, content, onTensor));
    const architecture = String(content.architecture.config.model_type);
    return { ...summary(file, content.sources), architecture, vocabulary: content.vocabulary, bytes };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new UserError(`cannot write ${folder}: ${reasonOf(error)}`);
  } finally {
    file.close();
  }
}

/** What a file holds, checked as far as that goes without reading its numbers. */
function contentOf(file: GgufFile) {
  const architecture = architectureOf(file);
  const sources = sourcesOf(file, architecture);
  const { json, special } = ggufTokenizer(file);
  const { vocabulary } = tokenizerFromJson(json, `the tokenizer in ${file.path}`, special);
  checkVocabulary(file, architecture, vocabulary);
  return { architecture, sources, json, special, vocabulary };
}

/** Returns the bytes of the weights. */
function writeContent(
  folder: string,
  { architecture, sources, json, special }: ReturnType<typeof contentOf>,
  onTensor: (done: number, total: number) => void,
): number {
  mkdirSync(folder);
  writeSynced(join(folder, 'config.json'), jsonText(JSON.parse(JSON.stringify(architecture.config))));
  writeSynced(join(folder, 'tokenizer.json'), json);
  writeSynced(join(folder, 'tokenizer_config.json'), jsonText(special));
  const counted = sources.map((source, i) => ({
    ...source,
    read: (put: (bytes: Uint8Array) => void) => {
      source.read(put);
      onTensor(i + 1, sources.length);
    },
  }));
  return streamSafetensors(join(folder, 'model.safetensors'), counted, { format: 'pt' });
}

function prepare(folder: string, parent: string, sources: readonly TensorSource[]): void {
  mkdirSync(parent, { recursive: true });
  removeStalePartials(resolve(folder));
  const needed = sources.reduce((sum, source) => sum + sizeOf(source.shape) * 4, 0);
  const free = freeBytes(parent);
  if (free !== undefined && free < needed)
    throw new UserError(
      `${folder} needs up to ${(needed / 2 ** 20).toFixed(0)} MB, ${parent} has ${(free / 2 ** 20).toFixed(0)} MB left: free some, or take another disk`,
    );
}

function checkVocabulary(file: GgufFile, { config }: Architecture, tokens: number): void {
  const rows = config.vocab_size as number;
  if (tokens > rows) file.fail(`its tokenizer has ${tokens} tokens, its embedding ${rows} rows`);
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
  if (turned)
    return {
      name,
      dtype: 'float32',
      shape: [...shape].reverse(),
      read: (put) => put(bytesView(turnedNumbers(file, tensor))),
    };
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
    put(headWidth === undefined ? bytes : splitInHalves(bytes, headWidth, rowBytes));
  }
}

function splitInHalves(bytes: Uint8Array, width: number, rowBytes: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let row = 0; row < width; row++) {
    const from = pairedRow(row, width) * rowBytes;
    out.set(bytes.subarray(from, from + rowBytes), row * rowBytes);
  }
  return out;
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

function summary(file: GgufFile, sources: readonly TensorSource[]) {
  const formats: Record<string, number> = {};
  for (const { format } of file.tensors.values()) formats[format.name] = (formats[format.name] ?? 0) + 1;
  return { parameters: sources.reduce((sum, { shape }) => sum + sizeOf(shape), 0), formats };
}
