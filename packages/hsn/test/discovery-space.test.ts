import { Random } from '@hidden-schema/base';
import { callMany, Generator, randn, type Tensor, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { fitPointSpace, fitWordSpace } from '../src/discovery/point-space.ts';
import {
  checkSparse,
  type SparseRows,
  sparseProduct,
  toPoints,
  transposed,
  wordVectors,
} from '../src/discovery/points.ts';
import { countsOf } from '../src/discovery/scratch.ts';

/** Word counts of texts that each draw from one of a few topics; the last text has no words. */
function planted(texts: number, words: number): { dense: number[][]; sparse: SparseRows } {
  const random = new Random(7);
  const dense = Array.from({ length: texts }, (_, n) => {
    const row = new Array<number>(words).fill(0);
    if (n === texts - 1) return row;
    for (let i = 0; i < 12; i++) row[(n % 5) * (words / 5) + random.int(words / 5)]!++;
    row[random.int(words)]!++;
    return row;
  });
  return { dense, sparse: sparseOf(dense) };
}

function sparseOf(dense: readonly (readonly number[])[]): SparseRows {
  const indptr = [0];
  const indices: number[] = [];
  const values: number[] = [];
  for (const row of dense) {
    for (const [column, value] of row.entries()) {
      if (value === 0) continue;
      indices.push(column);
      values.push(value);
    }
    indptr.push(indices.length);
  }
  return {
    columns: dense[0]!.length,
    indptr: Int32Array.from(indptr),
    indices: Int32Array.from(indices),
    values: Float32Array.from(values),
  };
}

function expectNear(a: Tensor, b: Tensor, tolerance: number): void {
  expect(a.shape).toEqual(b.shape);
  expect(a.sub(b).abs().amax().item()).toBeLessThan(tolerance);
}

describe('sparse matrices', () => {
  const { dense, sparse } = planted(23, 40);

  test('products are those of the dense matrix, both ways round', () => {
    const right = randn([40, 3], new Generator(1));
    const left = randn([23, 3], new Generator(2));
    expectNear(sparseProduct(sparse, right), tensor(dense).matmul(right), 1e-4);
    expectNear(sparseProduct(transposed(sparse), left), tensor(dense).transpose(0, 1).matmul(left), 1e-4);
  });

  test('numbers that do not fit together are named', () => {
    const wrong = (change: Partial<SparseRows>) => () => checkSparse({ ...sparse, ...change });
    const start = 'a sparse matrix of 40 columns was expected, but ';
    const indices = sparse.indices.slice();
    indices[3] = 40;
    expect(wrong({ indices })).toThrow(`${start}number 3 stands in column 40`);
    const values = sparse.values.slice();
    values[2] = Number.NaN;
    expect(wrong({ values })).toThrow(`${start}number 2 is NaN`);
    expect(wrong({ values: values.slice(1) })).toThrow('numbers were announced');
    expect(wrong({ indptr: Int32Array.of(0, 5, 3) })).toThrow(`${start}row 1 ends before it starts`);
    expect(wrong({ indptr: Int32Array.of(1) })).toThrow(`${start}its rows do not start at 0`);
  });
});

describe('words as vectors', () => {
  const { dense, sparse } = planted(60, 40);

  /** TF-IDF in plain numbers. */
  function tfIdf(): number[][] {
    const N = dense.length;
    const rarity = dense[0]!.map(
      (_, w) => Math.log((1 + N) / (1 + dense.filter((row) => row[w]! > 0).length)) + 1,
    );
    return dense.map((row) => {
      const weighed = row.map((count, w) => (count > 0 ? (1 + Math.log(count)) * rarity[w]! : 0));
      const length = Math.hypot(...weighed);
      return weighed.map((value) => (length > 0 ? value / length : 0));
    });
  }

  test('inner products are those of the exact truncated SVD of TF-IDF', () => {
    const space = fitWordSpace(countsOf(sparse), 5, new Generator(3));
    const found = wordVectors(space, sparse);
    const exact = tensor(tfIdf());
    const right = callMany('linalg_svd', exact, false)[2]!.narrow(0, 0, 5).transpose(0, 1);
    const projected = exact.matmul(right);
    const products = (x: Tensor) => x.matmul(x.transpose(0, 1));
    expectNear(products(found), products(projected), 1e-4);
  });

  test('more dimensions than words or texts are cut to what there is', () => {
    expect(fitWordSpace(countsOf(sparse), 500, new Generator(3)).directions.shape).toEqual([40, 40]);
  });
});

describe('points', () => {
  const { sparse } = planted(60, 40);
  const vectors = randn([60, 8], new Generator(4));
  const space = fitPointSpace(vectors, sparse, { wordDimensions: 5 });
  const points = toPoints(space, vectors, sparse);
  const part = (rows: number): SparseRows => {
    const end = sparse.indptr[rows]!;
    return {
      columns: 40,
      indptr: sparse.indptr.slice(0, rows + 1),
      indices: sparse.indices.slice(0, end),
      values: sparse.values.slice(0, end),
    };
  };

  test('have length one, and a text alone is where it was among others', () => {
    expect(points.shape).toEqual([60, 13]);
    for (const length of points.mul(points).sum(1).toNumbers()) expect(length).toBeCloseTo(1, 5);
    expectNear(toPoints(space, vectors.narrow(0, 0, 1), part(1)), points.narrow(0, 0, 1), 1e-6);
  });

  test('a text without words stands at the words’ mean, vectors that never differ at their own', () => {
    expect(points.select(0, 59).narrow(0, 8, 5).abs().amax().item()).toBe(0);
    const constant = fitPointSpace(vectors.mul(0).add(0.5));
    expect(toPoints(constant, vectors.mul(0).add(0.5)).abs().amax().item()).toBe(0);
  });

  test('mistakes are named', () => {
    expect(() => toPoints(space, vectors)).toThrow(
      'this space was fitted with words; give the texts’ word counts too',
    );
    expect(() => toPoints(space, vectors, part(3))).toThrow(
      '60 texts were given as vectors and 3 as words; give the same texts',
    );
    expect(() => toPoints(space, vectors, { ...sparse, columns: 41 })).toThrow(
      'the space knows 40 words, these counts have 41',
    );
  });
});
