import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  asUserError,
  freeBytes,
  type JsonValue,
  jsonText,
  reasonOf,
  removeStalePartials,
  UserError,
  writeBeside,
  writeSynced,
} from '@hidden-schema/base';
import {
  nn,
  noGrad,
  openWeights,
  scope,
  type Tensor,
  type TensorSource,
  type Weights,
  withWeights,
  writeSafetensors,
} from '@hidden-schema/torch';
import type { z } from 'zod';

/** config.json of a model's folder. */
export function readModelConfig(folder: string): Record<string, unknown> {
  const file = join(folder, 'config.json');
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UserError(`${file}: expected the config.json of a model, got: ${reasonOf(error)}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new UserError(`${file}: expected a JSON object with the model's settings`);
  return parsed as Record<string, unknown>;
}

/** The `model_type` of the folders that `importUniversal` makes. */
export const UNIVERSAL_KIND = 'use-multilingual';

export function hasSafetensors(folder: string): boolean {
  return readdirSync(folder).some((name) => /\.safetensors(\.index\.json)?$/.test(name));
}

/** Where exporters put the graph within a model's folder. */
const onnxPlaces = ['onnx/model.onnx', 'model.onnx'];

/** The ONNX graph of a model's folder, where it has one. */
export function onnxFile(folder: string): string | undefined {
  return onnxPlaces.map((place) => join(folder, place)).find((file) => existsSync(file));
}

/** A model as its folder in Hugging Face's layout holds it. */
export interface ModelFolder {
  config: Record<string, unknown>;
  tensors: Iterable<readonly [string, Tensor] | TensorSource>;
  /** The text of tokenizer.json. */
  tokenizer: string;
  /** What tokenizer_config.json says of special tokens, where their names alone do not tell. */
  special?: Readonly<Record<string, string>> | undefined;
}

/**
 * Makes a folder that must not be there yet; whoever calls gives it its final name when all is written. Returns the bytes
 * of the weights.
 */
export function writeModelFolder(folder: string, model: ModelFolder): number {
  const { config, tensors, tokenizer, special } = model;
  mkdirSync(folder);
  // Fields that were never set are left out.
  const plain = JSON.parse(JSON.stringify(config)) as JsonValue;
  writeSynced(join(folder, 'config.json'), jsonText(plain));
  writeSynced(join(folder, 'tokenizer.json'), tokenizer);
  if (special) writeSynced(join(folder, 'tokenizer_config.json'), jsonText(special));
  return writeSafetensors(join(folder, 'model.safetensors'), tensors, { format: 'pt' });
}

/** Checks settings against a schema; every fault is in the one error. */
export function checkedConfig<T extends z.ZodType>(
  schema: T,
  settings: unknown,
  source: string,
): z.output<T> {
  const result = schema.safeParse(settings);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    (issue) => `${issue.path.join('.') || 'settings'}: ${issue.message}`,
  );
  throw new UserError(`${source}: this model cannot be opened: ${faults.join('; ')}`);
}

export interface LoadRules {
  /** What the settings say of the weights. */
  readonly claims: readonly Claim[];
  /** The module's name of a stored tensor, or undefined for one that holds nothing to learn. */
  readonly rename: (stored: string) => string | undefined;
  /** Parameters that keep their initial values where the file lacks them; none unless given. */
  readonly optional?: (name: string) => boolean;
  /** Opens the weights, where they are not in safetensors. */
  readonly weights?: (() => Weights) | undefined;
}

/** Symbol projections and adapters: what public checkpoints do not have. */
export const isAdded = (name: string): boolean =>
  /\.psa\.|\.map_symbols\.|\.into_embedding\.|\.lora_[AB]\./.test(name);

/** config.json of a model's folder, checked against the schema of its architecture. */
export const folderConfig = <T extends z.ZodType>(schema: T, folder: string): z.output<T> =>
  checkedConfig(schema, readModelConfig(folder), `${folder}/config.json`);

/**
 * A model with the weights of a folder. Settings with other sizes than the weights have are refused before anything is made
 * of them; a model that the weights do not fit is given back.
 */
export function openModel<Model extends nn.Module>(
  folder: string,
  make: () => Model,
  rules: LoadRules,
): Model {
  return withWeights(rules.weights?.() ?? openWeights(folder), (weights) => {
    checkClaims(shapesOf(weights, rules.rename), rules.claims, `${folder}/config.json`);
    const model = make();
    try {
      copyWeights(model, weights, rules, folder);
    } catch (error) {
      model.free();
      throw error;
    }
    return model;
  });
}

/** An encoder whose weights all come from a folder: none is drawn, and its parameters alone outlive its making. */
export const openEncoder = <Encoder extends nn.Module>(
  folder: string,
  make: () => Encoder,
  rules: LoadRules,
): Encoder => openModel(folder, () => scope(() => nn.undrawn(make)), rules);

/** Copies the weights of a file, an index or a folder into a module; names and shapes must fit. */
function copyWeights(module: nn.Module, weights: Weights, rules: LoadRules, path: string): void {
  const own = new Map(module.namedTensors());
  const shapes = new Map(shapesOf(weights, rules.rename));
  for (const [name, { shape }] of own)
    if (!shapes.has(name) && rules.optional?.(name)) shapes.set(name, shape);
  asUserError(
    () => module.checkFit(shapes),
    (reason) => `${path}: ${reason}`,
  );
  // One at a time: beside the model only a single tensor is held.
  const storedAs = new Map(weights.names.map((stored) => [rules.rename(stored), stored]));
  noGrad(() => {
    for (const [name, target] of own) {
      const stored = storedAs.get(name);
      if (stored !== undefined) scope(() => target.copy_(weights.get(stored)));
    }
  });
}

/** A model that is ready to be written: how many bytes it needs at most, and what writes it into a folder. */
interface Importable<T> {
  needed?: number;
  write(partial: string): T;
}

/** Makes a new folder of what `read` gives: it is there whole or not at all. */
export function importInto<T>(folder: string, read: () => Importable<T>): T {
  if (existsSync(folder))
    throw new UserError(`${folder} is there already; give a folder that is still to be made`);
  const { needed = 0, write } = read();
  const target = resolve(folder);
  const parent = dirname(target);
  try {
    mkdirSync(parent, { recursive: true });
    removeStalePartials(target);
    const free = freeBytes(parent);
    if (free < needed)
      throw new UserError(
        `${folder} needs up to ${(needed / 2 ** 20).toFixed(0)} MB, ${parent} has ${(free / 2 ** 20).toFixed(0)} MB left: free some, or take another disk`,
      );
    return writeBeside(target, write);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new UserError(`cannot write ${folder}: ${reasonOf(error)}`);
  }
}

/** A size that settings state, with the tensor that has it: what is built from settings must never exceed the file. */
export interface Claim {
  readonly key: string;
  readonly value: number;
  /** The tensor's name, as the module that is built calls it. */
  readonly tensor: RegExp;
  /** Its dimension of that length; without one, the different numbers that the pattern captures are counted. */
  readonly axis?: number;
}

/** A claim that the tensor of this name has a size along an axis; without an axis, that the pattern finds so many. */
export const claim = (key: string, value: number, tensor: RegExp, axis?: number): Claim =>
  axis === undefined ? { key, value, tensor } : { key, value, tensor, axis };

export type Shapes = ReadonlyMap<string, readonly number[]>;

/** The shapes of weights by the names that a module has for them. */
export function shapesOf(weights: Weights, rename: (stored: string) => string | undefined): Shapes {
  const shapes = new Map<string, readonly number[]>();
  for (const stored of weights.names) {
    const name = rename(stored);
    if (name !== undefined) shapes.set(name, weights.info(stored).shape);
  }
  return shapes;
}

/** Refuses settings whose sizes are not those of the weights, before anything is built from them. */
export function checkClaims(shapes: Shapes, claims: readonly Claim[], source: string): void {
  for (const claim of claims) {
    const { found, where } = held(shapes, claim);
    if (found === claim.value) continue;
    throw new UserError(
      `${source}: ${claim.key} is ${claim.value}, but the weights hold ${found} (${where}); settings and weights do not belong together, take those that were written together`,
    );
  }
}

function held(shapes: Shapes, { tensor, axis }: Claim): { found: number; where: string } {
  const matching = [...shapes].flatMap(([name, shape]) => {
    const match = tensor.exec(name);
    return match ? [{ name, shape, number: match[1] }] : [];
  });
  const [first] = matching;
  if (!first) return { found: 0, where: `no ${readable(tensor)}` };
  if (axis !== undefined)
    return { found: first.shape[axis] ?? 0, where: `${first.name} is [${first.shape.join(', ')}]` };
  const found = new Set(matching.map(({ number }) => number)).size;
  return { found, where: `up to ${matching.at(-1)!.name}` };
}

/** A pattern as a name with gaps. */
function readable({ source }: RegExp): string {
  return source
    .replace('(\\d+)', 'N')
    .replace('.*', '…')
    .replaceAll(/\?:|[\\^$]/g, '');
}
