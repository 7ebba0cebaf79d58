import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, jsonText, reasonOf, UserError, writeSynced } from '@hidden-schema/base';
import {
  type nn,
  noGrad,
  openWeights,
  scope,
  type Tensor,
  type Weights,
  writeSafetensors,
} from '@hidden-schema/torch';
import { z } from 'zod';
import { type Claim, checkClaims, shapesOf } from './claims.ts';
import { openOnnx } from './onnx/reader.ts';
import type { SymbolOptions } from './symbol-attention.ts';

/** What config.json says of the symbols, under a key that Hugging Face's readers pass over. */
export const symbolsSchema = z.strictObject({
  symbols: z.int().positive(),
  vectors: z.boolean().optional(),
  variant: z.enum(['paper', 'authors']).default('paper'),
  positions: z.boolean().optional(),
  positionScale: z.number().nonnegative().optional(),
  steps: z.int().positive().optional(),
  reading: z.enum(['attention', 'embedding', 'both']).optional(),
});

export type SymbolRecord = z.output<typeof symbolsSchema>;

/** The settings of a decoder's symbols as config.json keeps them, defaults written out. */
export function symbolsOf(options: SymbolOptions | undefined): SymbolRecord | undefined {
  if (!options) return undefined;
  const { symbols, variant = 'paper', positions = variant === 'paper' } = options;
  const { positionScale = 1, vectors = false, reading = 'attention', steps } = options;
  return symbolsSchema.parse({
    symbols,
    ...(vectors ? { vectors } : {}),
    variant,
    positions,
    ...(positionScale === 1 ? {} : { positionScale }),
    ...(steps === undefined ? {} : { steps }),
    ...(reading === 'attention' ? {} : { reading }),
  });
}

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

export function hasSafetensors(folder: string): boolean {
  return readdirSync(folder).some((name) => /\.safetensors(\.index\.json)?$/.test(name));
}

/** A model as its folder in Hugging Face's layout holds it. */
export interface ModelFolder {
  config: Record<string, unknown>;
  tensors: Iterable<readonly [string, Tensor]>;
  /** The text of tokenizer.json. */
  tokenizer: string;
  /** What tokenizer_config.json says of special tokens, where their names alone do not tell. */
  special?: Readonly<Record<string, string>> | undefined;
}

/** Makes a folder that must not be there yet; whoever calls gives it its final name when all is written. */
export function writeModelFolder(folder: string, model: ModelFolder): void {
  const { config, tensors, tokenizer, special } = model;
  mkdirSync(folder);
  // Fields that were never set are left out.
  const plain = JSON.parse(JSON.stringify(config)) as JsonValue;
  writeSynced(join(folder, 'config.json'), jsonText(plain));
  writeSynced(join(folder, 'tokenizer.json'), tokenizer);
  if (special) writeSynced(join(folder, 'tokenizer_config.json'), jsonText(special));
  writeSafetensors(join(folder, 'model.safetensors'), [...tensors], { format: 'pt' });
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
  /** The module's name of a stored tensor, or undefined for one that holds nothing to learn. */
  readonly rename: (stored: string) => string | undefined;
  /** Parameters that keep their initial values where the file lacks them. */
  readonly optional: (name: string) => boolean;
  /** An ONNX graph that has the weights, where they are not in safetensors. */
  readonly onnx?: string | undefined;
}

/** Symbol projections and adapters: what public checkpoints do not have. */
export function isAdded(name: string): boolean {
  return /\.psa\.|\.map_symbols\.|\.into_embedding\.|\.lora_[AB]\./.test(name);
}

/** Refuses the settings of a folder that are not those of its weights. */
export function checkFolder(
  folder: string,
  claims: readonly Claim[],
  { rename, onnx }: Pick<LoadRules, 'rename' | 'onnx'>,
): void {
  const weights = onnx === undefined ? openWeights(folder) : openOnnx(onnx);
  try {
    checkClaims(shapesOf(weights, rename), claims, `${folder}/config.json`);
  } finally {
    weights.close();
  }
}

/** Copies the weights at a path (file, index or folder) into a module; names and shapes must fit. */
function loadWeights(module: nn.Module, path: string, rules: LoadRules): void {
  const weights = rules.onnx === undefined ? openWeights(path) : openOnnx(rules.onnx);
  try {
    copyWeights(module, weights, rules, path);
  } finally {
    weights.close();
  }
}

/** A model with the weights of a folder; one that they do not fit is given back. */
export function loaded<Model extends nn.Module>(model: Model, folder: string, rules: LoadRules): Model {
  try {
    loadWeights(model, folder, rules);
  } catch (error) {
    model.free();
    throw error;
  }
  return model;
}

function copyWeights(module: nn.Module, weights: Weights, rules: LoadRules, path: string): void {
  const own = new Map(module.namedTensors());
  const shapes = new Map(shapesOf(weights, rules.rename));
  for (const [name, { shape }] of own) if (!shapes.has(name) && rules.optional(name)) shapes.set(name, shape);
  try {
    module.checkFit(shapes);
  } catch (error) {
    throw new UserError(`${path}: ${reasonOf(error)}`);
  }
  // One at a time: beside the model only a single tensor is held.
  const storedAs = new Map(weights.names.map((stored) => [rules.rename(stored), stored]));
  noGrad(() => {
    for (const [name, target] of own) {
      const stored = storedAs.get(name);
      if (stored !== undefined) scope(() => target.copy_(weights.get(stored)));
    }
  });
}
