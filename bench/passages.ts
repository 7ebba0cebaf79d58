import fs from 'node:fs';
import { drawPassages, readSpeeches, speechPassages } from '@hidden-schema/text/speeches';

/** Words of a text, as the goals count them. */
const words = 50;

/** So many texts of 50 words: passages of speeches, or lines of a file; given again from the first where there are too few. */
export function textsOf(count: number, corpus?: string): string[] {
  const found =
    corpus === undefined
      ? drawPassages(speechPassages(readSpeeches()), count, 0).map(({ text }) => text)
      : fs
          .readFileSync(corpus, 'utf8')
          .split('\n')
          .filter((line) => line.trim() !== '');
  return Array.from({ length: count }, (_, at) => shortened(found[at % found.length]!, at));
}

/** The first 50 words, on one line, with nothing that a table of texts would cut at. */
function shortened(text: string, at: number): string {
  const all = text
    .replace(/[\t",]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);
  // Another part of a long text, where texts come round again.
  const from = all.length > 2 * words ? (at * 7) % (all.length - words) : 0;
  return all.slice(from, from + words).join(' ');
}
