import { UserError } from '@hidden-schema/base';
import { openSafetensors, scope, Tensor, type Weights, writeSafetensors } from '@hidden-schema/torch';
import { z } from 'zod';
import type { Discovered } from './encode.ts';
import { discoveryDefaults, discoveryOptions } from './options.ts';
import type { PointSpace } from './point-space.ts';

// Shapes: K symbols, S width of a point, D width of vectors, V words, d dimensions of words.

const format = 1;
/** Where the file's metadata has the settings as JSON. */
const settingsKey = 'discovery';

/** Symbols, graph and the space of their points: all that a new text needs. */
export interface SavedDiscovery {
  discovered: Discovered;
  space: PointSpace;
}

const numbers = Object.fromEntries(
  Object.entries(discoveryDefaults)
    .filter(([, value]) => typeof value === 'number')
    .map(([name]) => [name, z.number()]),
);
const settingsSchema = z.strictObject({
  format: z.literal(format),
  options: z.strictObject({ ...numbers, densityPrior: z.tuple([z.number(), z.number()]) }),
  vectorScale: z.number().nonnegative(),
  wordScale: z.number().nonnegative().optional(),
});

/** Writes one safetensors file, whole or not at all; the settings are JSON in its metadata. */
export function saveDiscovery(file: string, { discovered, space }: SavedDiscovery): void {
  const settings = {
    format,
    options: discovered.options,
    vectorScale: space.vectors.scale,
    ...(space.words ? { wordScale: space.words.scale } : {}),
  };
  scope(() => {
    const tensors: [string, Tensor][] = [
      ['symbols', discovered.symbols],
      ['links', discovered.linkProbabilities],
      ['vector_mean', space.vectors.mean],
    ];
    if (space.words) {
      const { mean, space: words } = space.words;
      tensors.push(
        ['word_mean', mean],
        ['word_directions', words.directions],
        ['word_rarity', Tensor.fromArray(words.rarity, [words.rarity.length])],
      );
    }
    writeSafetensors(file, tensors, { [settingsKey]: JSON.stringify(settings) });
  });
}

/** Reads what `saveDiscovery` wrote; whatever else stands in the file is refused by name. */
export function loadDiscovery(file: string): SavedDiscovery {
  const weights = openSafetensors(file);
  try {
    const { options: chosen, vectorScale, wordScale } = readSettings(weights, file);
    const options = discoveryOptions(chosen);
    const K = options.symbols;
    const symbols = read(weights, 'symbols', [K, undefined], file);
    const links = read(weights, 'links', [K, K], file);
    checkLinks(links, file);
    const mean = read(weights, 'vector_mean', [undefined], file);
    const words = wordScale === undefined ? undefined : readWords(weights, wordScale, file);
    const width = mean.dim(0) + (words?.mean.dim(0) ?? 0);
    if (symbols.dim(1) !== width)
      throw new UserError(
        `${file}: symbols of width ${width} were expected, got ${symbols.dim(1)}; fit the symbols again`,
      );
    return {
      discovered: { symbols, linkProbabilities: links, options },
      space: { vectors: { mean, scale: vectorScale }, ...(words ? { words } : {}) },
    };
  } finally {
    weights.close();
  }
}

function readSettings(weights: Weights, file: string): z.infer<typeof settingsSchema> {
  const text = weights.metadata.get(settingsKey);
  if (text === undefined)
    throw new UserError(`${file} holds no discovered symbols: its metadata has no "${settingsKey}"`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UserError(
      `${file}: the settings are not JSON (${(error as Error).message}); fit the symbols again`,
    );
  }
  const parsed = settingsSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { path: where, message } = parsed.error.issues[0]!;
  throw new UserError(`${file}: ${where.join('.') || 'the settings'}: ${message}; fit the symbols again`);
}

function readWords(weights: Weights, scale: number, file: string): NonNullable<PointSpace['words']> {
  const directions = read(weights, 'word_directions', [undefined, undefined], file);
  const mean = read(weights, 'word_mean', [directions.dim(1)], file);
  const rarity = read(weights, 'word_rarity', [directions.dim(0)], file);
  const space = { directions, rarity: rarity.toArray() as Float32Array };
  rarity.free();
  return { mean, scale, space };
}

/** A float32 tensor of finite numbers in memory of its own, of the shape asked for. */
function read(weights: Weights, name: string, shape: readonly (number | undefined)[], file: string): Tensor {
  const fail = (got: string): never => {
    const wanted = shape.map((length) => length ?? 'any').join(', ');
    throw new UserError(`${file}: ${name} of shape [${wanted}] was expected, ${got}; fit the symbols again`);
  };
  if (!weights.has(name)) fail('it is missing');
  const info = weights.info(name);
  const fits =
    info.shape.length === shape.length &&
    shape.every((length, at) => info.shape[at]! > 0 && (length ?? info.shape[at]) === info.shape[at]);
  if (!fits) fail(`got [${info.shape.join(', ')}]`);
  return scope(() => {
    const mapped = weights.get(name);
    if (mapped.dtype !== 'float32') fail(`got ${mapped.dtype}`);
    if (mapped.isFinite().all().to('float32').item() !== 1) fail('it holds NaN or infinite numbers');
    return mapped.clone();
  });
}

/** Walks rely on links that are probabilities and lead both ways. */
function checkLinks(links: Tensor, file: string): void {
  const good = scope(() => {
    const inside = links.clamp(0, 1).eq(links).all();
    const both = links.eq(links.transpose(0, 1)).all();
    return inside.to('float32').item() === 1 && both.to('float32').item() === 1;
  });
  if (!good)
    throw new UserError(
      `${file}: links are probabilities from 0 to 1, the same both ways; these are not, fit the symbols again`,
    );
}
