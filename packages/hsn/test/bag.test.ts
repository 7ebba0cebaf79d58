import fs from 'node:fs';
import { Generator, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { BagDecoder } from '../src/decoder/bag.ts';

interface Golden {
  walk_sample_hard_code_c1: number[][][];
  reconstruction: {
    V: number;
    symbols: number[][];
    tokens: number[][];
    nll_code: number;
    true_walk: number[][];
    nll_code_of_true_walk: number;
    nll_true_probability_of_true_walk: number;
    floor_barabasi: number;
    floor_erdos: number;
    ceiling_all_wrong_barabasi: number;
  };
}
const golden: Golden = JSON.parse(
  fs.readFileSync(new URL('../../../fixtures/authors-golden.json', import.meta.url), 'utf8'),
);
const { reconstruction } = golden;

const matrix = (rows: number[][]) =>
  Tensor.fromArray(Float64Array.from(rows.flat()), [rows.length, rows[0]!.length]);
const tokensOf = (rows: number[][]) =>
  Tensor.fromArray(Int32Array.from(rows.flat()), [rows.length, rows[0]!.length]);
const oneHot = (walks: number[][], symbols: number): Tensor[] =>
  walks[0]!.map((_, step) =>
    matrix(walks.map((walk) => Array.from({ length: symbols }, (__, k) => (walk[step] === k ? 1 : 0)))),
  );

function decoderOf(bags: number[][], noise: number): BagDecoder {
  const options = { symbols: bags.length, vocabulary: bags[0]!.length, noise, dtype: 'float64' as const };
  return new BagDecoder(options, new Generator(1), matrix(bags));
}

describe("the authors' convention", () => {
  test('gives their numbers for their walks', () => {
    scope(() => {
      const decoder = decoderOf(reconstruction.symbols, 1e-3);
      const tokens = tokensOf(reconstruction.tokens);
      const samples = golden.walk_sample_hard_code_c1;
      const steps = samples[0]!.map((_, i) => matrix(samples.map((walk) => walk[i]!)));
      const nll = (positions: Tensor[]) => -decoder.authorsExpectedLog(tokens, positions, 0).mean().item();
      expect(nll(steps)).toBeCloseTo(reconstruction.nll_code, 10);
      const truth = oneHot(reconstruction.true_walk, 5);
      expect(nll(truth)).toBeCloseTo(reconstruction.nll_code_of_true_walk, 10);
      decoder.free();
    });
  });

  test.each([
    ['Barabási', 11, reconstruction.floor_barabasi],
    ['Erdős', 10, reconstruction.floor_erdos],
  ])('has the floor of %s where every symbol is right', (_, L, floor) => {
    // 100 disjoint bags of two tokens and four special tokens.
    const bags = Array.from({ length: 100 }, (__, k) =>
      Array.from({ length: 200 }, (___, v) => (Math.floor(v / 2) === k ? 0.5 : 0)),
    );
    scope(() => {
      const decoder = decoderOf(bags, 1e-3);
      const walk = Array.from({ length: L }, (__, i) => (7 * i) % 100);
      const tokens = tokensOf([walk.map((k, i) => 2 * k + (i % 2))]);
      const nll = (nodes: number[]) => -decoder.authorsExpectedLog(tokens, oneHot([nodes], 100)).item();
      expect(nll(walk)).toBeCloseTo(floor, 9);
      expect(nll(walk)).toBeCloseTo(L * (Math.log(204 + 2 * (Math.exp(0.5) - 1)) - 0.5), 9);
      expect(nll(walk.map((k) => (k + 1) % 100))).toBeCloseTo(floor + L / 2, 9);
      decoder.free();
    });
  });
});

describe('the true likelihood', () => {
  test('is L·log 2 for the true walk of bags of two, but for the noise', () => {
    scope(() => {
      const tokens = tokensOf(reconstruction.tokens);
      const truth = oneHot(reconstruction.true_walk, 5);
      const nll = (noise: number) => {
        const decoder = decoderOf(reconstruction.symbols, noise);
        const value = -decoder.expectedLog(tokens, truth).mean().item();
        decoder.free();
        return value;
      };
      expect(nll(1e-9)).toBeCloseTo(reconstruction.nll_true_probability_of_true_walk, 7);
      expect(nll(1e-9)).toBeCloseTo(4 * Math.LN2, 7);
      expect(nll(0.3)).toBeCloseTo(-4 * Math.log(0.5 * 0.7 + 0.3 / 12), 10);
    });
  });

  test('mixes log-probabilities by the positions, and emissions are its factors', () => {
    scope(() => {
      const decoder = decoderOf(
        [
          [0.5, 0.5, 0],
          [0, 0.25, 0.75],
        ],
        0.1,
      );
      const tokens = tokensOf([[1, 2]]);
      const emissions = decoder.emissions(tokens).map((step) => step.toNumbers());
      const p = (bag: number) => 0.9 * bag + 0.1 / 3;
      expect(emissions[0]).toEqual([expect.closeTo(p(0.5), 12), expect.closeTo(p(0.25), 12)]);
      expect(emissions[1]).toEqual([expect.closeTo(p(0), 12), expect.closeTo(p(0.75), 12)]);
      const positions = [matrix([[0.3, 0.7]]), matrix([[1, 0]])];
      const byHand = 0.3 * Math.log(p(0.5)) + 0.7 * Math.log(p(0.25)) + Math.log(p(0));
      expect(decoder.expectedLog(tokens, positions).item()).toBeCloseTo(byHand, 12);
      decoder.free();
    });
  });
});

describe('learned bags', () => {
  test('are distributions, whatever the noise, and the only parameters', () => {
    for (const noise of [1e-3, 0.5]) {
      scope(() => {
        const options = { symbols: 4, vocabulary: 9, noise, dtype: 'float64' as const };
        const decoder = new BagDecoder(options, new Generator(3));
        const rows = decoder.probabilities();
        for (const sum of rows.sum(1).toNumbers()) expect(sum).toBeCloseTo(1, 12);
        expect(Math.min(...rows.toNumbers())).toBeGreaterThanOrEqual(noise / 9);
        expect(new Set(rows.toNumbers()).size).toBe(36);
        expect([...decoder.namedParameters()].map(([name]) => name)).toEqual(['logits']);
        decoder.free();
      });
    }
  });

  test('given bags are no parameters, and keep their own copy', () => {
    scope(() => {
      const bags = matrix([
        [1, 0],
        [0, 1],
      ]);
      const options = { symbols: 2, vocabulary: 2, noise: 0.2, dtype: 'float64' as const };
      const decoder = new BagDecoder(options, new Generator(1), bags);
      bags.zero_();
      expect(decoder.probabilities().toNumbers()).toEqual(
        [0.9, 0.1, 0.1, 0.9].map((p) => expect.closeTo(p, 12)),
      );
      expect(decoder.parameters()).toEqual([]);
      decoder.free();
    });
  });
});
