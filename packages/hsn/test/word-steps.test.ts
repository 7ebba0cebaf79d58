import { Random } from '@hidden-schema/base';
import { digits, f64, sum } from '@hidden-schema/testing/closeness';
import { padded } from '@hidden-schema/text';
import { Generator, Tensor } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { describe, expect, test } from 'vitest';
import { dictionaryOf } from '../src/discovery/dictionary.ts';
import { WalkCounts } from '../src/discovery/encode.ts';
import { pieceCounts } from '../src/discovery/points.ts';
import { PursuitEncoder } from '../src/discovery/pursuit-encoder.ts';
import { WordSums } from '../src/discovery/word-following.ts';
import { freeWalks, WordSteps } from '../src/discovery/word-steps.ts';
import type { GraphPosterior } from '../src/graph/posterior.ts';
import type { Symbols } from '../src/symbols/symbols.ts';
import { Replicas } from '../src/train/replicas.ts';

const tensor = (rows: number[][]) => f64(rows).to('float32');

describe('where words stand among texts', () => {
  /** Piece v of a text is the number v. */
  const counted = (texts: readonly number[][], pieces: number) =>
    pieceCounts(texts, new Map(Array.from({ length: pieces }, (_, v) => [v, v])));

  function fitted(points: number[][], texts: readonly number[][], pieces: number, blocks = 1) {
    const sums = new WordSums({ pieces, width: points[0]!.length });
    const size = Math.ceil(points.length / blocks);
    for (let at = 0; at < points.length; at += size)
      sums.add(tensor(points.slice(at, at + size)), counted(texts.slice(at, at + size), pieces));
    const { directions, telling } = sums.directions(Replicas.alone);
    sums.free();
    return { directions: directions.toNumbers(), telling: telling.toNumbers() };
  }

  test('is the direction of the mean of their texts, and a word that any text may have tells nothing', () => {
    const around = [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ];
    // Piece 0 is in texts to the right, twice in one; 1 in texts all around; 2 above; 3 in one text; 4 in none; 5 in two
    // that have nothing in common, whose mean is half as long.
    const points = [...around, [1, 0], [0, 1], [0, 1]];
    const texts = [[1, 0, 0], [1], [1], [1], [0, 3, 5], [2, 5], [2]];
    const { directions, telling } = fitted(points, texts, 6);
    expect(telling).toEqual([1, 0, 1, 0, 0, 0]);
    expect(directions.slice(0, 2)).toEqual([1, 0]);
    expect(directions.slice(4, 6)).toEqual([0, 1]);
    expect(directions.slice(8, 10)).toEqual([0, 0]);
  });

  test('agreement is the mean cosine of two different texts of a word, counted one by one', () => {
    const random = new Random(5);
    const unit = () => {
      const row = Array.from({ length: 3 }, () => random.next() - 0.4);
      const length = Math.hypot(...row);
      return row.map((x) => x / length);
    };
    const points = Array.from({ length: 60 }, unit);
    const texts = points.map(() => [0, 1, 2, 3, 4, 5].filter((v) => random.next() < 0.15 * (v + 1)));
    const dot = (a: number[], b: number[]) => sum(a.map((x, i) => x * b[i]!));
    const own = (v: number) => points.filter((_, n) => texts[n]!.includes(v));
    const cosines = [0, 1, 2, 3, 4, 5].map((v) => {
      const of = own(v);
      const pairs = of.flatMap((a, i) => of.filter((_, j) => j !== i).map((b) => dot(a, b)));
      return Math.max(0, sum(pairs) / pairs.length);
    });
    const uses = [0, 1, 2, 3, 4, 5].map((v) => own(v).length);
    const mean = sum(cosines.map((rho, v) => rho * uses[v]!)) / sum(uses);
    const wanted = cosines.map((rho) => Number(rho > mean / 2));
    const { directions, telling } = fitted(points, texts, 6, 4);
    expect(telling).toEqual(wanted);
    for (let v = 0; v < 6; v++) {
      const total = [0, 1, 2].map((i) => sum(own(v).map((row) => row[i]!)));
      const length = Math.hypot(...total);
      for (let i = 0; i < 3; i++) expect(directions[3 * v + i]!).toBeCloseTo(total[i]! / length, 5);
    }
  });
});

describe('walks that follow words', () => {
  const K = 4;
  const axes = digits('1000 0100 0010 0001');

  /** Five pieces: 0, 1 and 2 stand at symbols 1, 2 and 3; 3 tells nothing; 4 lies between symbols 2 and 3. */
  function placed(): WordSteps {
    const steps = new WordSteps(5, K);
    const directions = tensor([axes[1]!, axes[2]!, axes[3]!, axes[0]!, [0, 0, 0.8, 0.6]]);
    steps.place({ directions, telling: tensor([[1, 1, 1, 0, 1]]).reshape(5) });
    return steps;
  }

  test('take the telling words in their order, then what the text is as a whole', () => {
    const points = tensor([
      [0.5, 0.1, 0.2, 0.3],
      [0.1, 0.2, -0.3, 0.5],
    ]);
    const columns = [[3, 2, 3, 0, 1], [4]];
    const steps = placed().explained({ columns, points }, dictionaryOf(tensor(axes)), 2);
    expect(steps[0]!.select(0, 0).toNumbers()).toEqual([0, 0, 0, 1]);
    expect(steps[1]!.select(0, 0).toNumbers()).toEqual([0, 1, 0, 0]);
    for (const [i, value] of [0, 0, 0.64, 0.36].entries())
      expect(steps[0]!.select(0, 1).toNumbers()[i]!).toBeCloseTo(value, 5);
    for (const [i, value] of [0.01, 0.04, -0.09, 0.25].entries())
      expect(steps[1]!.select(0, 1).toNumbers()[i]!).toBeCloseTo(value, 5);
  });

  test('name only symbols that stand out for the text, and its first one', () => {
    // Symbol 3 begins the first text, which stands out at 1 alone; the second has its first symbol at 2, and stands out at 0.
    const points = tensor([
      [0.5, 0.6, 0.2, 0.3],
      [0.9, 0.1, 0.2, 0.3],
    ]);
    const starts = tensor([axes[1]!, axes[2]!, axes[0]!, [0, 0.9, 0.1, 0.4]]);
    const cutoffs = tensor([[0.7, 0.55, 0.25, 0.35]]).reshape(K);
    const dictionary = dictionaryOf(tensor(axes), { starts, cutoffs });
    const columns = [
      [0, 1, 2],
      [1, 2],
    ];
    const steps = placed().explained({ columns, points }, dictionary, 3);
    const at = (step: number, text: number) => steps[step]!.select(0, text).toNumbers();
    expect(at(0, 0)).toEqual([-1, 1, -1, 0]); // piece 0 stands at 1
    expect(at(1, 0)).toEqual([-1, 0, -1, 0]); // piece 1 stands at 2, which does not stand out
    expect(at(2, 0)).toEqual([-1, 0, -1, 1]); // piece 2 stands at 3, the first
    expect(at(0, 1)).toEqual([0, -1, 1, -1]); // 2 is the first
    // Words are used up: what the whole text is, of what may be named.
    for (const [i, value] of [0.81, -1, 0.04, -1].entries()) expect(at(2, 1)[i]!).toBeCloseTo(value, 5);
  });

  test('stay where they are only where walks may', () => {
    const steps = [[[5, 1, 0, 0]], [[5, 1, 2, 0]], [[0, 0, 3, 2]], [[9, 0, 0, 0]]].map(tensor);
    expect(freeWalks(steps, false).toNumbers()).toEqual([0, 2, 3, 0]);
    expect(freeWalks(steps, true).toNumbers()).toEqual([0, 0, 2, 0]);
  });

  test('have scores of the text at the first step and of its words at the others', () => {
    const sizes = { vocabulary: 9, width: K, layers: 1, heads: 1, hidden: 8, positions: 8, dropout: 0 };
    const text = new TransformerText(sizes, new Generator(1));
    const read = { length: 3, pieces: 5, dimensions: 0, sharpness: 10, fade: 0.5, follow: 'words' } as const;
    const encoder = new PursuitEncoder(text, read);
    // Tokens 3 to 7 are the five pieces.
    const space = { rarity: new Float32Array(5), directions: Tensor.fromArray(new Float32Array(0), [5, 0]) };
    const mean = Tensor.fromArray(new Float32Array(0), [0]);
    encoder.place(
      { vectors: { mean: encoder.vectorMean, scale: 1 }, words: { mean, scale: 1, space } },
      Int32Array.of(3, 4, 5, 6, 7),
    );
    const { directions, telling } = placed();
    encoder.placeWords({ directions, telling });
    encoder.attach(
      { rows: () => tensor(axes) } as unknown as Symbols,
      { links: () => ({ matrix: () => tensor(digits('0111 1011 1101 1110')) }) } as unknown as GraphPosterior,
    );
    const batch = {
      encoder: padded([Int32Array.of(1, 6, 5, 8, 3, 2), Int32Array.of(1, 2)], { pad: 0 }),
      points: tensor([
        [0.8, 0.6, 0, 0],
        [0, 0.6, 0.8, 0],
      ]),
    };
    const rows = encoder.scores(batch).reshape(6, K).toNumbers();
    const row = (at: number) => rows.slice(at * K, (at + 1) * K);
    const close = (found: number[], wanted: number[]) => {
      for (const [i, value] of wanted.entries())
        expect(found[i]! - found[0]!).toBeCloseTo(value - wanted[0]!, 4);
    };
    close(row(0), [6.4, 3.6, 0, 0]);
    close(row(1), [0, 0, 0, 5]); // piece 2, half as sure
    close(row(2), [0, 2.5, 0, 0]); // piece 0, half as sure again
    close(row(3), [0, 3.6, 6.4, 0]);
    close(row(4), [0, 1.8, 3.2, 0]); // no words: the whole text
    close(row(5), [0, 0.9, 1.6, 0]);
  });
});

test('walks are counted by step, and by moves that leave their place', () => {
  const counts = new WalkCounts({ length: 3, symbols: 3 });
  counts.add([0, 1, 1, 2, 1, 0]);
  counts.add([0, 1, 0]);
  counts.share(Replicas.alone);
  expect(counts.steps.map((step) => [...step])).toEqual([
    [2, 0, 1],
    [0, 3, 0],
    [2, 1, 0],
  ]);
  expect(counts.stays.map((step) => [...step])).toEqual([
    [0, 0, 0],
    [0, 0, 0],
    [0, 1, 0],
  ]);
  const { traversals, certainty } = counts.travelled(4);
  expect(traversals.toNumbers()).toEqual([0, 0.5, 0, 0.5, 0, 0, 0, 0.25, 0]);
  expect(certainty.toNumbers()).toEqual(traversals.toNumbers());
});
