import fs from 'node:fs';
import { agreement } from '@hidden-schema/studies/measures/agreement';
import { documentTerms } from '@hidden-schema/studies/measures/document-terms';
import { oneSymbolEach } from '@hidden-schema/studies/measures/symbol-uses';
import { textWords } from '@hidden-schema/studies/measures/text-words';
import { Tensor } from '@hidden-schema/torch/tensor';
import { describe, expect, test } from 'vitest';
import { fitKMeans } from '../src/baselines/k-means.ts';
import { fitLda, ldaTopics } from '../src/baselines/lda.ts';
import { fitNmf, nmfTopics } from '../src/baselines/nmf.ts';
import { tfIdf } from '../src/baselines/tf-idf.ts';
import { symbolWords } from '../src/reproduction/c-tf-idf.ts';

const fixture = JSON.parse(
  fs.readFileSync(new URL('../../fixtures/measures/peers.json', import.meta.url), 'utf8'),
);
const rows: number[][] = fixture.points;
const points = Tensor.fromArray(Float32Array.from(rows.flat()), [rows.length, rows[0]!.length]);
const texts: string[] = fixture.texts;
const matrix = documentTerms(textWords(texts));
const values = tfIdf(matrix);
const counts = [1, 4, 8];

/** The subject most of whose words a text has: what the fixture's texts were drawn by. */
const subjects = [
  'river lake water bridge',
  'album song singer guitar',
  'engine wheel road truck',
  'flower leaf forest plant',
];

function expectSubjects(words: readonly (readonly string[])[]): void {
  for (const subject of subjects) {
    const found = words.filter(
      (topic) => subject.split(' ').filter((word) => topic.includes(word)).length >= 3,
    );
    expect(found, subject).toHaveLength(1);
  }
}

test('TF-IDF is that of scikit-learn', () => {
  const words = JSON.parse(
    fs.readFileSync(new URL('../../fixtures/measures/words.json', import.meta.url), 'utf8'),
  );
  const terms = documentTerms(textWords(words.texts));
  const dense = (found: ArrayLike<number>, text: number) => {
    const row = new Array<number>(words.vocabulary.length).fill(0);
    for (let at = terms.starts[text]!; at < terms.starts[text + 1]!; at++)
      row[words.vocabulary.indexOf(terms.words[terms.terms[at]!])] = found[at]!;
    return row;
  };
  for (const text of [0, 1, 2])
    for (const [at, value] of dense(tfIdf(terms), text).entries())
      expect(value).toBeCloseTo(words.tf_idf.false[text][at], 6);
});

describe('k-means', () => {
  test.each([1, 3, 6, 10])(
    'with %i clusters has the inertia of scikit-learn within a percent',
    (clusters) => {
      const { inertia, centres } = fitKMeans(points, { clusters, seed: 1, restarts: 10 });
      const best = fixture.inertia[clusters];
      expect(inertia).toBeGreaterThan(0.999 * best);
      expect(inertia).toBeLessThan(1.01 * best);
      expect(centres).toHaveLength(clusters * 8);
    },
  );

  test('is the same for a seed, and each point is with its nearest centre', () => {
    const fit = fitKMeans(points, { clusters: 6, seed: 3 });
    expect(fitKMeans(points, { clusters: 6, seed: 3 })).toEqual(fit);
    for (const [at, point] of rows.entries()) {
      const distances = Array.from({ length: 6 }, (_, k) =>
        point.reduce((sum, x, i) => sum + (x - fit.centres[k * 8 + i]!) ** 2, 0),
      );
      expect(distances[fit.clusters[at]!]!).toBeCloseTo(Math.min(...distances), 3);
    }
  });

  test('bears more clusters than different points', () => {
    const few = Tensor.fromArray(Float32Array.of(0, 0, 1, 1, 1, 1, 0, 0), [4, 2]);
    const { clusters, inertia } = fitKMeans(few, { clusters: 7, seed: 0 });
    expect(inertia).toBe(0);
    expect(agreement(clusters, [0, 1, 1, 0]).ari).toBe(1);
  });

  test('has the words of its clusters, and none for a cluster without texts', () => {
    const vectors = Float32Array.from({ length: texts.length }, (_, at) =>
      texts[at]!.includes('song') ? 1 : 0,
    );
    const { clusters } = fitKMeans(Tensor.fromArray(vectors, [texts.length, 1]), { clusters: 3, seed: 0 });
    const words = symbolWords(matrix, oneSymbolEach(clusters), { symbols: 3 });
    expect(words.filter((topic) => topic[0]?.word === 'song')).toHaveLength(1);
    expect(words.filter((topic) => topic.length === 0)).toHaveLength(1);
  });
});

describe('NMF', () => {
  test.each(counts)('of %i topics has the error of scikit-learn within a percent', (topics) => {
    const errors = [0, 1, 2].map((seed) => fitNmf(matrix, values, { topics, seed, tolerance: 1e-7 }).error);
    expect(Math.min(...errors)).toBeGreaterThan(0.999 * fixture.nmf_error[topics]);
    expect(Math.min(...errors)).toBeLessThan(1.01 * fixture.nmf_error[topics]);
  });

  test('its error is that of the factors it returns', () => {
    const { texts: W, words: H, error } = fitNmf(matrix, values, { topics: 4, seed: 2 });
    let sum = 0;
    for (let text = 0; text < texts.length; text++) {
      const row = new Float64Array(matrix.words.length);
      for (let at = matrix.starts[text]!; at < matrix.starts[text + 1]!; at++)
        row[matrix.terms[at]!] = values[at]!;
      for (const [word, value] of row.entries()) {
        let made = 0;
        for (let k = 0; k < 4; k++) made += W[text * 4 + k]! * H[word * 4 + k]!;
        sum += (value - made) ** 2;
      }
    }
    expect(error).toBeCloseTo(Math.sqrt(sum), 9);
  });

  test('finds the subjects, and no topic for a text without words', () => {
    const odd = documentTerms(textWords([...texts, '']));
    const { words, clusters } = nmfTopics(odd, tfIdf(odd), { topics: 5, seed: 0 });
    expectSubjects(words);
    expect(clusters).toHaveLength(texts.length + 1);
    expect(clusters.at(-1)).toBe(-1);
    expect(nmfTopics(odd, tfIdf(odd), { topics: 5, seed: 0 })).toEqual({ words, clusters });
  });
});

describe('LDA', () => {
  test.each(counts)('of %i topics has the perplexity of scikit-learn within three percent', (topics) => {
    const found = [0, 1, 2, 3].map((seed) => fitLda(matrix, { topics, seed, iterations: 60 }).perplexity);
    const best = Math.min(...fixture.lda_perplexity[topics]);
    expect(Math.min(...found)).toBeGreaterThan(0.97 * best);
    expect(Math.min(...found)).toBeLessThan(1.03 * best);
  });

  test('of one topic has exactly that perplexity', () => {
    const { perplexity } = fitLda(matrix, { topics: 1, seed: 0 });
    expect(perplexity).toBeCloseTo(fixture.lda_perplexity[1][0], 6);
  });

  test('finds the subjects, and no topic for a text without words', () => {
    const odd = documentTerms(textWords([...texts, '']));
    const { words, clusters } = ldaTopics(odd, { topics: 4, seed: 0, iterations: 60 });
    expectSubjects(words);
    expect(clusters.at(-1)).toBe(-1);
  });
});
