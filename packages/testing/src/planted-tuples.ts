import fs from 'node:fs';
import path from 'node:path';
import { Random, UserError } from '@hidden-schema/base';
import type { Tuple } from '@hidden-schema/hsn';

/** A corpus whose objects follow from their events by known rules. */
export interface PlantedOptions {
  /** Kinds of event, each with its own words. */
  kinds?: number;
  relations?: number;
  /** Events of each kind. */
  events?: number;
  seed?: number;
}

export interface PlantedCorpus {
  train: Tuple[];
  valid: Tuple[];
  test: Tuple[];
  /** The object that a kind and a relation lead to. */
  objectOf: (head: string, relation: string) => string;
}

const syllables = [
  'ba',
  'do',
  'fi',
  'gu',
  'ka',
  'le',
  'mo',
  'nu',
  'pi',
  'ra',
  'so',
  'tu',
  've',
  'wi',
  'zo',
  'hy',
];

/** Words that differ, by counting through pairs of syllables. */
function words(count: number, ending: string): string[] {
  const most = syllables.length ** 2;
  if (count > most) throw new UserError(`a planted corpus has words for ${most} of each kind, got ${count}`);
  return Array.from(
    { length: count },
    (_, i) => `${syllables[i % syllables.length]}${syllables[Math.floor(i / syllables.length)]}${ending}`,
  );
}

/** Words that fill an event and tell nothing. */
const fillerWords = 12;

/**
 * Events "someone KIND FILLER FILLER" whose kind alone decides the object: a kind leads to a state by a table, and the
 * relation turns the state into another, so that the path is kind → state → object. Events of valid and test have
 * pairs of fillers of their own.
 */
export function plantedTuples(options: PlantedOptions = {}): PlantedCorpus {
  const { kinds = 5, relations = 2, events = 60, seed = 1 } = options;
  if (events > fillerWords ** 2)
    throw new UserError(
      `a planted corpus has at most ${fillerWords ** 2} events of each kind, got ${events}`,
    );
  const random = new Random(seed);
  const kindWords = words(kinds, 'k');
  const states = words(kinds, 't');
  const shuffled = (count: number) => random.shuffle(Array.from({ length: count }, (_, i) => i));
  const state = shuffled(kinds);
  const names = Array.from({ length: relations }, (_, r) => `r${String.fromCharCode(65 + r)}`);
  const turns = names.map(() => shuffled(kinds));
  const objectOf = (head: string, relation: string): string => {
    const kind = kindWords.findIndex((word) => head.split(' ').includes(word));
    return `so ${states[turns[names.indexOf(relation)]![state[kind]!]!]}`;
  };
  const fill = words(fillerWords, 'n');
  const pairs = shuffled(fillerWords ** 2).map(
    (n) => `${fill[n % fillerWords]} ${fill[Math.floor(n / fillerWords)]}`,
  );
  const tuplesOf = (first: number, end: number): Tuple[] =>
    pairs.slice(first, end).flatMap((pair) =>
      kindWords.flatMap((kind) => {
        const head = `someone ${kind} ${pair}`;
        return names.map((relation) => ({ head, relation, object: objectOf(head, relation) }));
      }),
    );
  const [valid, test] = [Math.ceil(events * 0.8), Math.ceil(events * 0.9)];
  return {
    train: tuplesOf(0, valid),
    valid: tuplesOf(valid, test),
    test: tuplesOf(test, events),
    objectOf,
  };
}

/** Writes a planted corpus as train.tsv, valid.tsv and test.tsv. */
export function writePlanted(folder: string, corpus: PlantedCorpus): void {
  fs.mkdirSync(folder, { recursive: true });
  for (const split of ['train', 'valid', 'test'] as const) {
    const lines = corpus[split].map(({ head, relation, object }) => `${head}\t${relation}\t${object}\n`);
    fs.writeFileSync(path.join(folder, `${split}.tsv`), lines.join(''));
  }
}
