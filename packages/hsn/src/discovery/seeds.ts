import path from 'node:path';
import { readText, reasonOf, UserError } from '@hidden-schema/base';
import { scope, Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import { parse } from 'yaml';
import { Replicas } from '../train/replicas.ts';
import { unitRows } from './dictionary.ts';
import type { PointSource } from './point-source.ts';

// Shapes: N training texts, n seeds, S width of a point.

/** A symbol that is asked for: its name, and words that its texts have. */
export interface Seed {
  name: string;
  words: readonly string[];
}

const expected = 'a line for each seed, name<TAB>word word …, or YAML with name: [word, word]';

/** Reads seeds: TSV, or YAML where the file's name ends so. */
export function readSeeds(file: string): Seed[] {
  const text = readSeedText(file);
  const rows = /\.ya?ml$/i.test(path.extname(file)) ? yamlRows(text, file) : lineRows(text, file);
  const seeds = rows.map(([name, words]) => ({
    name: name.trim().normalize(),
    words: [...new Set(words.flatMap(wordsIn))],
  }));
  if (seeds.length === 0) throw new UserError(`${file} has no seeds: expected ${expected}`);
  for (const [at, { name, words }] of seeds.entries()) {
    if (name === '' || words.length === 0)
      throw new UserError(
        `${file}: seed ${at + 1}${name ? ` (${name})` : ''} has no ${name ? 'words' : 'name'}: expected ${expected}`,
      );
    if (seeds.findIndex((other) => other.name === name) < at)
      throw new UserError(`${file} has the seed ${name} twice; give each a name of its own`);
  }
  return seeds;
}

function readSeedText(file: string): string {
  try {
    return readText(file);
  } catch (error) {
    throw new UserError(`cannot read the seeds ${file}: ${reasonOf(error)}; expected ${expected}`);
  }
}

function lineRows(text: string, file: string): [string, string[]][] {
  return text.split(/\r?\n/).flatMap((line, at): [string, string[]][] => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const [name, ...words] = line.split('\t');
    if (words.length === 0)
      throw new UserError(`${file}, line ${at + 1}: expected name<TAB>word word …, got no tab`);
    return [[name!, words]];
  });
}

function yamlRows(text: string, file: string): [string, string[]][] {
  let data: unknown;
  try {
    data = parse(text);
  } catch (error) {
    throw new UserError(`${file} is not YAML (${reasonOf(error).split('\n')[0]}); expected ${expected}`);
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new UserError(`${file}: expected ${expected}`);
  return Object.entries(data).map(([name, words]) => {
    const list: unknown[] = Array.isArray(words) ? words : [words];
    if (list.some((word) => typeof word !== 'string' && typeof word !== 'number'))
      throw new UserError(`${file}: the words of ${name} are no list of words; expected ${expected}`);
    return [name, list.map(String)];
  });
}

/** Words as they are compared: runs of letters and digits in lower case. */
function wordsIn(text: string): string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/**
 * Texts that have words of seeds, each with its weight: Σ over the seed's words in it, rare words more. A text belongs to
 * the seed of its largest weight.
 */
export class SeedMatches {
  readonly #seeds: readonly Seed[];
  /** Weights by row of the text, a map for each seed. */
  readonly weights: readonly ReadonlyMap<number, number>[];
  /** Texts that have each word. */
  readonly #having = new Map<string, number[]>();

  constructor(seeds: readonly Seed[], texts: Iterable<string>) {
    this.#seeds = seeds;
    for (const word of seeds.flatMap(({ words }) => words)) this.#having.set(word, []);
    let count = 0;
    for (const text of texts) {
      for (const word of new Set(wordsIn(text))) this.#having.get(word)?.push(count);
      count++;
    }
    const weights = seeds.map(({ words }) => this.#weightsOf(words, count));
    const isLargest = (seed: number, at: number, weight: number) =>
      weights.every((other, o) => o === seed || (other.get(at) ?? 0) <= weight);
    this.weights = weights.map(
      (own, seed) => new Map([...own].filter(([at, weight]) => isLargest(seed, at, weight))),
    );
  }

  /** Refuses seeds that no text has a word of, naming them. */
  check(): this {
    const missing = this.#seeds.filter((_, seed) => this.weights[seed]!.size === 0);
    if (missing.length === 0) return this;
    const named = missing.map(({ name, words }) => `${name} (${words.join(' ')})`).join(', ');
    throw new UserError(
      `no training text has a word of ${missing.length === 1 ? 'the seed' : 'the seeds'} ${named}; give other words, or leave ${missing.length === 1 ? 'it' : 'them'} out`,
    );
  }

  /** Σ ln(1 + N/n_w)² over the seed's words that a text has. */
  #weightsOf(words: readonly string[], count: number): Map<number, number> {
    const weights = new Map<number, number>();
    for (const word of words) {
      const having = this.#having.get(word)!;
      const rarity = Math.log(1 + count / Math.max(1, having.length)) ** 2;
      for (const at of having) weights.set(at, (weights.get(at) ?? 0) + rarity);
    }
    return weights;
  }
}

/** Points that are looked at together. */
const atOnce = 1024;

/** Where seeds point: to the training texts, a point each, that have their words, whichever process has their points. [n, S], unit rows */
export function seedDirections(
  { weights: matched }: SeedMatches,
  points: PointSource,
  replicas = Replicas.alone,
): Tensor {
  const seeds = matched.length;
  return withoutGrad(() => {
    const sum = zeros([seeds, points.width], { dtype: 'float64' });
    for (let first = points.first; first < points.end; first += atOnce)
      scope(() => {
        const count = Math.min(atOnce, points.end - first);
        const weights = Float64Array.from({ length: seeds * count }, (_, i) => {
          return matched[Math.floor(i / count)]!.get(first + (i % count)) ?? 0;
        });
        const block = points.rows(first, first + count).to('float64');
        sum.add_(Tensor.fromArray(weights, [seeds, count]).matmul(block));
      });
    replicas.sum([sum]);
    return unitRows(sum.to('float32'));
  });
}
