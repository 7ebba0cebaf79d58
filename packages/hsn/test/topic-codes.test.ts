import { Random } from '@hidden-schema/base';
import { Generator, scope, Tensor } from '@hidden-schema/torch';
import { expect, test } from 'vitest';
import type { CodeOptions } from '../src/encoder/sentence-codes.ts';
import { TopicCodes } from '../src/encoder/topic-codes.ts';

const planted = 6;
const wordsATopic = 5;
const words = planted * wordsATopic;

/** Sentences of ten words from one planted topic or two, and the first topic of each. */
function plantedCounts(sentences: number) {
  const random = new Random(4);
  const data = new Float32Array(sentences * words);
  const topics = Array.from({ length: sentences }, (_, n) => {
    const main = random.int(planted);
    const other = (main + 1) % planted;
    for (let i = 0; i < 10; i++) {
      const topic = i < 7 ? main : other;
      data[n * words + topic * wordsATopic + random.int(wordsATopic)]! += 1;
    }
    return main;
  });
  return { counts: Tensor.fromArray(data, [sentences, words]), topics };
}

function topicCodes(counts: Tensor, given: CodeOptions, seed: number) {
  const fit = new TopicCodes(counts, given, new Generator(seed));
  while (!fit.finished) fit.sweep();
  return fit.codes();
}

const options = { symbols: planted, length: 3, density: 0.5, selfLoops: true };

test('the first step of a walk is the planted topic', () => {
  scope(() => {
    const { counts, topics } = plantedCounts(600);
    const { walks } = topicCodes(counts, options, 1);
    const first = walks.unbind(1)[0]!.toNumbers();
    // Which symbol stands for which topic is free: count the most frequent pairing.
    const table = Array.from({ length: planted }, () => new Array<number>(planted).fill(0));
    for (const [n, symbol] of first.entries()) table[symbol]![topics[n]!]! += 1;
    const right = table.reduce((sum, row) => sum + Math.max(...row), 0);
    expect(right / first.length).toBeGreaterThan(0.9);
  });
});

test('steps follow links, and the same generator gives the same walks', () => {
  scope(() => {
    const codes = () => topicCodes(plantedCounts(300).counts, options, 7);
    const { walks, adjacency } = codes();
    const links = adjacency.toNumbers();
    const flat = walks.toNumbers();
    for (let n = 0; n < 300; n++)
      for (let i = 1; i < options.length; i++)
        expect(links[flat[n * options.length + i - 1]! * planted + flat[n * options.length + i]!]).toBe(1);
    expect(codes().walks.toNumbers()).toEqual(flat);
  });
});

test('a walk of one step needs no graph', () => {
  scope(() => {
    const { counts } = plantedCounts(100);
    const { walks } = topicCodes(counts, { ...options, length: 1 }, 1);
    expect(walks.shape).toEqual([100, 1]);
  });
});
