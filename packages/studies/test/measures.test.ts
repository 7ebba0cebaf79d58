import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { symbolWords } from '../../../paper/src/reproduction/c-tf-idf.ts';
import { adjustedMutualInformation, agreement, stability } from '../src/measures/agreement.ts';
import { cvCoherence, embeddingCoherence, gensimEpsilon, npmiCoherence } from '../src/measures/coherence.ts';
import { documentTerms } from '../src/measures/document-terms.ts';
import { linearReaderAccuracy, stratifiedFolds, walkFeatures } from '../src/measures/linear-reader.ts';
import { fitLogisticRegression, predictedClasses } from '../src/measures/logistic-regression.ts';
import { textWords } from '../src/measures/text-words.ts';
import { labelFigures, topicDiversity } from '../src/measures/topic-figures.ts';
import { walkInformation } from '../src/measures/walk-information.ts';

const read = (name: string) =>
  JSON.parse(fs.readFileSync(new URL(`../../../fixtures/measures/${name}.json`, import.meta.url), 'utf8'));

/** Agreement to 1e-6, null being for what is not defined. */
function expectClose(found: ArrayLike<number | null>, expected: ArrayLike<number>): void {
  expect(found.length).toBe(expected.length);
  for (let at = 0; at < expected.length; at++) expect(found[at], `place ${at}`).toBeCloseTo(expected[at]!, 6);
}

describe('coherence, as gensim has it', () => {
  const fixture = read('coherence');
  const texts = textWords(fixture.texts);
  const topics: string[][] = fixture.topics;

  test('NPMI by documents and in a window of ten words', () => {
    const found = npmiCoherence(texts, topics, { epsilon: gensimEpsilon });
    expectClose(found.topics, fixture.npmi_documents);
    const mean = fixture.npmi_documents.reduce((sum: number, x: number) => sum + x, 0) / topics.length;
    expect(found.mean).toBeCloseTo(mean, 9);
    const windowed = npmiCoherence(texts, topics, { window: 10, epsilon: gensimEpsilon });
    expectClose(windowed.topics, fixture.npmi_window_10);
  });

  test('NPMI is that of gensim where all pairs occur together', () => {
    const known = topics.slice(0, 4);
    for (const [at, value] of npmiCoherence(texts, known).topics.entries())
      expect(value).toBeCloseTo(fixture.npmi_documents[at], 6);
  });

  test('C_v in its window of 110 words, and in a short one', () => {
    expectClose(cvCoherence(texts, topics).topics, fixture.c_v);
    expectClose(cvCoherence(texts, topics, { window: 7 }).topics, fixture.c_v_window_7);
  });

  test('mean cosine of word vectors, and diversity', () => {
    expectClose(embeddingCoherence(topics, (word) => fixture.vectors[word]).topics, fixture.embedding);
    expect(topicDiversity(topics)).toBeCloseTo(fixture.diversity, 12);
  });

  test('a topic with fewer than two known words has none, and does not count', () => {
    const odd = [topics[0]!, [], ['zeppelin'], ['river'], ['river', 'zeppelin']];
    for (const found of [npmiCoherence(texts, odd), cvCoherence(texts, odd)]) {
      expect(found.topics.slice(1)).toEqual([null, null, null, null]);
      expect(found.mean).toBe(found.topics[0]);
    }
    expect(npmiCoherence(texts, [])).toEqual({ topics: [], mean: null });
    expect(embeddingCoherence([['a', 'b']], () => undefined).mean).toBeNull();
    expect(topicDiversity([[], []])).toBeNull();
  });

  test('words never together have −1, words always together 1, which gensim softens', () => {
    const few = textWords(['ab cd xy', 'ab cd xy', 'ef xy', 'gh xy']);
    const pairs = [
      ['ab', 'cd'],
      ['ab', 'ef'],
      ['xy', 'xy'],
    ];
    expect(npmiCoherence(few, pairs).topics).toEqual([1, -1, 1]);
    const softened = npmiCoherence(few, pairs, { epsilon: gensimEpsilon }).topics;
    expectClose(softened, [1, Math.log(1e-12 * 8) / -Math.log(1e-12), -1]);
  });

  test('only the first words count', () => {
    const longer = topics.map((topic) => [...topic, 'year', 'people']);
    expect(npmiCoherence(texts, [longer[0]!], { words: 8 }).mean).toBe(
      npmiCoherence(texts, [topics[0]!]).mean,
    );
    expect(
      topicDiversity(
        [
          ['a', 'b'],
          ['a', 'c'],
        ],
        { words: 1 },
      ),
    ).toBe(0.5);
  });

  test('a word is forgotten when its first copy leaves the window', () => {
    const repeated = textWords(['aa bb aa cc dd', 'ee']);
    const forgetful = npmiCoherence(repeated, [['aa', 'cc']], { window: 3 });
    // gensim loses aa when its first copy leaves: it is in the first window alone.
    expect(forgetful.mean).toBe(-1);
  });
});

describe('words of symbols', () => {
  const fixture = read('words');
  const matrix = documentTerms(textWords(fixture.texts));
  const dense = (values: ArrayLike<number>, text: number) => {
    const row = new Array<number>(fixture.vocabulary.length).fill(0);
    for (let at = matrix.starts[text]!; at < matrix.starts[text + 1]!; at++)
      row[fixture.vocabulary.indexOf(matrix.words[matrix.terms[at]!])] = values[at]!;
    return row;
  };

  test('counts, as scikit-learn has them', () => {
    expect(matrix.words.toSorted()).toEqual(fixture.vocabulary);
    for (const text of [0, 1, 2]) {
      expect(dense(matrix.counts, text)).toEqual(fixture.counts[text]);
    }
  });

  test('c-TF-IDF with weighted texts; a symbol that no text uses has no words', () => {
    const uses = { symbols: Int32Array.from(fixture.symbols), length: fixture.L, weights: fixture.weights };
    const found = symbolWords(matrix, uses, { symbols: fixture.K });
    expect(found.map((list) => list.map(({ word }) => word))).toEqual(
      fixture.c_tf_idf.map((list: [string, number][]) => list.map(([word]) => word)),
    );
    for (const [k, list] of found.entries())
      expectClose(
        list.map(({ score }) => score),
        fixture.c_tf_idf[k].map(([, score]: [string, number]) => score),
      );
    expect(found.at(-1)).toEqual([]);
  });
});

describe('agreement with labels, as scikit-learn has it', () => {
  for (const { name, labels, clusters, ...expected } of read('agreement').cases)
    test(name, () => {
      const found = agreement(labels, clusters);
      for (const measure of ['nmi', 'ami', 'ari', 'purity'] as const)
        expect(found[measure], measure).toBeCloseTo(expected[measure], 6);
    });

  test('outliers are wrong in purity', () => {
    const half = agreement([0, 0, 1, 1], [0, 0, -1, -1], { outlier: -1 });
    expect(half.nmi).toBeCloseTo(1, 12);
    expect(half.purity).toBe(0.5);
    expect(agreement(['a', 'b'], [-1, -1], { outlier: -1 }).purity).toBe(0);
  });

  test('labellings of different lengths are refused', () => {
    expect(() => agreement([1], [1, 2])).toThrow(
      'two labellings of the same items are expected, got 1 and 2 labels',
    );
  });
});

describe('linear reader, as scikit-learn has it', () => {
  for (const expected of read('reader').cases)
    test(expected.name, () => {
      const { K, L: length, symbols, weights, labels, classes } = expected;
      const uses = { symbols: Int32Array.from(symbols as number[]), length, ...(weights ? { weights } : {}) };
      const rows = walkFeatures(uses, K);
      const numbers = labels.map((label: number) => classes.indexOf(label));
      const model = fitLogisticRegression(rows, numbers, classes.length, {
        strength: expected.C,
        tolerance: 1e-10,
      });
      expect(model.converged).toBe(true);
      expect(model.objective).toBeCloseTo(expected.objective, 6);
      expectClose(coefficientsOf(model.coefficients, classes.length, K), [
        ...expected.coefficients.flat(),
        ...expected.intercepts,
      ]);
      const right = predictedClasses(model, rows).filter((found, at) => found === numbers[at]).length;
      expect(right).toBe(expected.correct);
      expect([...stratifiedFolds(Uint32Array.from(firstSeen(labels)), classes.length, 3)]).toEqual(
        expected.fold_of,
      );
      const { folds } = linearReaderAccuracy(rows, labels, { strength: expected.C });
      expectClose(folds, expected.fold_accuracies);
    });

  test('one label is always read; a label that one fold alone has is never', () => {
    const rows = walkFeatures({ symbols: Int32Array.of(0, 1, 0, 1, 0, 1), length: 1 }, 2);
    expect(linearReaderAccuracy(rows, ['a', 'a', 'a', 'a', 'a', 'a']).accuracy).toBe(1);
    const { accuracy } = linearReaderAccuracy(rows, ['a', 'a', 'a', 'a', 'a', 'b']);
    expect(accuracy).toBeCloseTo(5 / 6, 9);
    expect(() => linearReaderAccuracy(rows, ['a'])).toThrow('6 labels are expected, one a row, got 1');
    expect(() => linearReaderAccuracy(rows, 'aaaaaa', { folds: 7 })).toThrow('at least 7 rows');
  });

  test('where walks are alike, how much each symbol tells is what gives a label away', () => {
    const texts = Array.from({ length: 40 }, (_, n) => (n % 5 === 4 ? undefined : n % 2 ? 'a' : 'b'));
    const uses = { symbols: Int32Array.from(texts.flatMap(() => [0, 1])), length: 2 };
    const told = texts.flatMap((label) => (label === undefined ? [9, -9] : label === 'a' ? [2, 0] : [0, 2]));
    const plain = labelFigures(texts, uses, 2);
    expect(plain).not.toHaveProperty('reader_weighed');
    expect(plain.reader).toBeCloseTo(0.5, 1);
    expect(labelFigures(texts, uses, 2, told)).toEqual({ ...plain, reader_weighed: 1 });
  });

  test('steps that are missing, and symbols twice in a walk', () => {
    const symbols = Int32Array.of(2, 2, -1, 0, -1, -1);
    const plain = walkFeatures({ symbols, length: 3 }, 3);
    expect([[...plain.indptr], [...plain.indices], [...plain.values]]).toEqual([
      [0, 1, 2],
      [2, 0],
      [1, 1],
    ]);
    const weighted = walkFeatures({ symbols, length: 3, weights: [1, 0.5, 9, 3, 9, 9] }, 3);
    expect([...weighted.values]).toEqual([1.5, 3]);
  });
});

/** In scikit-learn's order: rows of weights, then intercepts; of two classes the difference. */
function coefficientsOf(found: Float64Array, classes: number, K: number): number[] {
  const rows = Array.from({ length: classes }, (_, c) => [...found.subarray(c * (K + 1), (c + 1) * (K + 1))]);
  const shown = classes === 2 ? [rows[1]!.map((value, at) => value - rows[0]![at]!)] : rows;
  return [...shown.flatMap((row) => row.slice(0, -1)), ...shown.map((row) => row.at(-1)!)];
}

function firstSeen(labels: readonly number[]): number[] {
  const order = [...new Set(labels)];
  return labels.map((label) => order.indexOf(label));
}

describe('information of walks', () => {
  test('is the entropy of the walks, at most ln N', () => {
    const found = walkInformation(Int32Array.of(0, 1, 0, 1, 1, 0, 2, 2), 2);
    expect(found.nats).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(4), 12);
    expect(found).toMatchObject({ bound: Math.log(4), differentWalks: 3, toldApart: 0.5 });
    const apart = walkInformation(Int32Array.of(0, 1, 2), 1);
    expect(apart.nats).toBeCloseTo(apart.bound, 12);
    expect(walkInformation(new Int32Array(0), 3)).toEqual({
      nats: 0,
      bound: 0,
      differentWalks: 0,
      toldApart: 0,
    });
  });

  test('texts that are the same are not to be told apart, those that differ are', () => {
    const walks = Int32Array.of(0, 1, 0, 1, 1, 0, 2, 2, 2, 2);
    expect(walkInformation(walks, 2, ['a', 'a', 'b', 'c', 'd']).toldApart).toBeCloseTo(3 / 5, 12);
    expect(walkInformation(walks, 2).toldApart).toBeCloseTo(1 / 5, 12);
    expect(() => walkInformation(walks, 2, ['a'])).toThrow('5 texts are expected, one a walk, got 1');
  });
});

describe('stability', () => {
  test('is the mean AMI of each run with the others, whatever numbers symbols have', () => {
    const one = [0, 0, 1, 1, 2, 2, 2, 0];
    const renamed = one.map((symbol) => 7 - symbol);
    const other = [0, 1, 1, 1, 2, 0, 2, 0];
    const apart = adjustedMutualInformation(one, other);
    expect(stability([one, renamed])).toEqual([1, 1].map((ami) => expect.closeTo(ami, 12)));
    expect(stability([one, renamed, other])).toEqual(
      [(1 + apart) / 2, (1 + apart) / 2, apart].map((ami) => expect.closeTo(ami, 12)),
    );
    expect(apart).toBeLessThan(0.5);
    expect(stability([one])).toEqual([null]);
  });
});
