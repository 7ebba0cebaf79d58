import { UserError } from '@hidden-schema/base';
import { LineCounter, parseDocument, stringify } from 'yaml';
import type { z } from 'zod';
import { type LanguageConfig, languageConfigSchema } from './language.ts';
import { type SyntheticConfig, syntheticOptions } from './network.ts';
import {
  isRival,
  ivaeConfigSchema,
  optimusConfigSchema,
  type RivalConfig,
  rivalNames,
  vqConfigSchema,
} from './rivals.ts';
import {
  type Data,
  dotted,
  expectedAt,
  type Fault,
  firstLine,
  isMapping,
  keysAt,
  listed,
  mergeDefaults,
  offsetOf,
  type Path,
  readYaml,
  type SettingsSchema,
  show,
  unknownKey,
} from './settings-schema.ts';
import { type ReasoningConfig, reasoningConfigSchema } from './tuples.ts';

/** The settings of a run, of any kind of model. */
export type RunConfig = SyntheticConfig | LanguageConfig | ReasoningConfig | RivalConfig;
export type ModelKind = RunConfig['model'];

/** The settings of each kind of model. */
export const schemas: Record<ModelKind, SettingsSchema> = {
  synthetic: syntheticOptions,
  language: languageConfigSchema,
  reasoning: reasoningConfigSchema,
  optimus: optimusConfigSchema,
  ivae: ivaeConfigSchema,
  vq: vqConfigSchema,
};

export const modelKinds = Object.keys(schemas).join(', ');
export const isKind = (name: unknown): name is ModelKind =>
  typeof name === 'string' && Object.hasOwn(schemas, name);

/** The schema that `model` names, the last override counting most; also notes a fallback in the data. */
function schemaOf(data: Data, overrides: readonly string[], fallback: ModelKind): SettingsSchema {
  data.model ??= fallback;
  const named = overrides.findLast((override) => override.startsWith('model='))?.slice('model='.length);
  const kind = named ?? data.model;
  return schemas[isKind(kind) ? kind : fallback];
}

/** What each kind of model is trained on, in words. */
const trainedOn: Readonly<Record<ModelKind, string>> = {
  synthetic: 'a synthetic language',
  language: 'texts',
  reasoning: 'tuples',
  optimus: 'texts without walks (Optimus)',
  ivae: 'texts without walks (iVAE)',
  vq: 'texts without walks (VQ-VAE)',
};

/** That a run, or settings, are of another kind than was asked for. */
const wrongKind = (what: string, found: ModelKind, wanted: ModelKind): UserError =>
  new UserError(`${what} is of ${trainedOn[found]}; expected one of ${trainedOn[wanted]}`);

/** Gives settings where they are of a kind, and refuses others. */
const only =
  <K extends ModelKind>(kind: K) =>
  (config: RunConfig, what = 'this model'): Extract<RunConfig, { model: K }> => {
    if (config.model !== kind) throw wrongKind(what, config.model, kind);
    return config as Extract<RunConfig, { model: K }>;
  };

export const syntheticConfig = only('synthetic');
export const languageConfig = only('language');
export const tuplesConfig = only('reasoning');

/** The settings, where they are those of a rival; refused otherwise. */
export function rivalConfig(config: RunConfig, what = 'this model'): RivalConfig {
  if (isRival(config)) return config;
  throw new UserError(
    `${what} is of ${trainedOn[config.model]}; expected one of ${Object.values(rivalNames).join(', ')}`,
  );
}

export interface LoadOptions {
  /** The model where none is named: synthetic unless given. */
  fallback?: ModelKind;
  /** Other defaults than the schema's. */
  beneath?: (data: Readonly<Data>) => Data;
  /** Settings among the overrides that were given by flags of their own name, for messages. */
  flags?: readonly string[];
}

/**
 * Reads a YAML config and `key.path=value` overrides; every fault is reported at once, in one `UserError`. Which
 * settings there are depends on `model`, or on `fallback` where it is not named.
 */
export function loadConfig(
  yamlText: string,
  source: string,
  overrides: readonly string[] = [],
  { fallback = 'synthetic', beneath, flags = [] }: LoadOptions = {},
): RunConfig {
  const lines = new LineCounter();
  const { data, document, faults } = readYaml(yamlText, source, lines);
  const schema = schemaOf(data, overrides, fallback);
  const changed = overrides.flatMap((override) => applyOverride(schema, data, override, faults));
  const parsed = schema.safeParse(beneath ? mergeDefaults(data, beneath(data)) : data);
  if (!parsed.success)
    faults.push(...parsed.error.issues.flatMap((issue) => faultsOf(schema, issue, [], data)));
  if (faults.length === 0 && parsed.success) return parsed.data as RunConfig;
  const place = (path: Path): string => {
    if (changed.some((key) => key.every((part, at) => part === path[at])))
      return ` (${flags.includes(path.join('.')) ? `--${path.join('.')}` : '--set'})`;
    const offset = offsetOf(document, path);
    return offset === undefined ? '' : ` (line ${lines.linePos(offset).line})`;
  };
  const sentences = faults.map((fault) => () => `${fault.text()}${place(fault.path)}`);
  throw new UserError(listed(source, sentences));
}

/** The settings as YAML that `loadConfig` reads back unchanged. */
export const dumpConfig = (config: RunConfig): string => stringify(config);

/** Settings that differ, one line each: `training.rate: 0.001 → 0.01`. */
export const diffConfigs = (a: RunConfig, b: RunConfig): string[] => diffSettings(a, b);

/** The same of any nested values; those longer than `longest` are cut. */
export function diffSettings(a: object, b: object, longest = Number.POSITIVE_INFINITY): string[] {
  const before = leaves(a);
  const after = leaves(b);
  const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest)}…` : text);
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths
    .map((path) => ({ path, was: before.get(path) ?? 'not set', is: after.get(path) ?? 'not set' }))
    .filter(({ was, is }) => was !== is)
    .map(({ path, was, is }) => `${path}: ${cut(was)} → ${cut(is)}`);
}

/** Every setting by its path, as text. */
export const settingValues = (config: RunConfig): Record<string, string> =>
  Object.fromEntries(leaves(config));

function leaves(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) leaves(inner, path ? `${path}.${key}` : key, found);
  } else if (value !== undefined) found.set(path, typeof value === 'string' ? value : JSON.stringify(value));
  return found;
}

/** Sets `key.path=value` in the data; an unknown key becomes a fault and changes nothing. */
function applyOverride(schema: SettingsSchema, data: Data, override: string, faults: Fault[]): Path[] {
  const split = override.indexOf('=');
  if (split < 1) {
    const text = () => `--set ${show(override)}: expected key=value, for example training.rate=0.01`;
    faults.push({ path: [], text });
    return [];
  }
  const path = override.slice(0, split).trim().split('.');
  const known = path.findIndex((part, at) => !keysAt(schema, path.slice(0, at)).includes(part));
  if (known !== -1) {
    faults.push({ path, text: () => unknownKey(schema, path.slice(0, known), path[known]!) });
    return [path];
  }
  let inner = data;
  for (const part of path.slice(0, -1)) {
    const next = inner[part];
    inner[part] = isMapping(next) ? { ...next } : {};
    inner = inner[part] as Data;
  }
  const written = override.slice(split + 1);
  // npm's names begin with what YAML reserves.
  const text = written.startsWith('@') ? JSON.stringify(written) : written;
  const value = parseDocument(text, { prettyErrors: false });
  if (value.errors.length > 0)
    faults.push({ path, text: () => `${dotted(path)}: ${firstLine(value.errors[0]!.message)}` });
  else inner[path.at(-1)!] = value.toJS({ maxAliasCount: 0 });
  return [path];
}

// What the schema says

function faultsOf(schema: SettingsSchema, issue: z.core.$ZodIssue, above: Path, data: unknown): Fault[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], text: () => unknownKey(schema, path, key) }));
  if (issue.code === 'invalid_union') {
    // The branch that accepts this kind of value says best what is wrong inside it.
    const inside = issue.errors.find(
      (branch) => !branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
    );
    if (inside) return inside.flatMap((inner) => faultsOf(schema, inner, path, data));
  }
  const got = path.reduce<unknown>((value, part) => (value as Data | undefined)?.[part as string], data);
  const expected = () => (dotted(path) === 'model' ? `one of ${modelKinds}` : expectedAt(schema, path));
  return [{ path, text: () => `${dotted(path)}: expected ${expected()}, got ${show(got)}` }];
}
