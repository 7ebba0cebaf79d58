import { TrainedWalks } from '@hidden-schema/hsn';
import { startEngine, Tensor } from '@hidden-schema/torch';
import { beforeAll, describe, expect, test } from 'vitest';
import { ObjectClassifier } from '../src/reasoning/object-classifier.ts';

/** Unit vectors of six events, of which the last has nothing by the first relation. */
const angles = [0.1, 0.4, 0.9, 1.3, 2, 2.8];
const vectors = angles.map((angle) => [Math.cos(angle), Math.sin(angle)] as const);
const tuples: readonly (readonly [event: number, relation: number, object: string])[] = [
  [0, 0, 'to sleep'],
  [0, 0, 'To sleep.'],
  [0, 0, 'to eat'],
  [1, 0, 'to sleep'],
  [2, 0, 'to eat'],
  [3, 0, 'to run'],
  [4, 0, 'to run'],
  [5, 1, 'to run'],
];
const names = [...new Set(tuples.map(([, , object]) => object))];
const ints = (values: readonly number[]) => Int32Array.from(values);

let classifier: ObjectClassifier;
beforeAll(() => {
  startEngine();
  const trained = new TrainedWalks({
    events: angles.map((_, event) => `e${event}`),
    objects: names,
    event: ints(tuples.map(([event]) => event)),
    relation: ints(tuples.map(([, relation]) => relation)),
    object: ints(tuples.map(([, , object]) => names.indexOf(object))),
    walks: ints(tuples.flatMap(() => [0, 0])),
    vectors: Tensor.fromArray(Float32Array.from(vectors.flat()), [angles.length, 2]),
  });
  classifier = new ObjectClassifier(trained);
});

/**
 * The least of Σ (y − a − b·x)² + n · penalty · |b|² over the five events of the first relation, by steps down the slope:
 * what closed form has to agree with.
 */
function descended(having: readonly number[], x: readonly [number, number], penalty: number): number {
  const rows = vectors.slice(0, 5);
  let [a, b, c] = [0, 0, 0];
  for (let step = 0; step < 200_000; step++) {
    let [da, db, dc] = [0, 5 * penalty * b, 5 * penalty * c];
    for (const [i, [u, v]] of rows.entries()) {
      const missed = a + b * u + c * v - (having.includes(i) ? 1 : 0);
      da += missed;
      db += missed * u;
      dc += missed * v;
    }
    a -= 0.05 * da;
    b -= 0.05 * db;
    c -= 0.05 * dc;
  }
  return a + b * x[0] + c * x[1];
}

describe('a linear classifier of objects', () => {
  const asked = (angle: number): [number, number] => [Math.cos(angle), Math.sin(angle)];
  const of = (angle: number, relation: number) =>
    classifier.of(Tensor.fromArray(Float32Array.from(asked(angle)), [1, 2]), [relation])[0]!;

  test.each([
    ['to sleep', [0, 1], 0.3],
    ['to eat', [0, 2], 0.5],
    ['to run', [3, 4], 1.6],
  ] as const)('gives "%s" what least squares with a penalty gives', (object, having, angle) => {
    const expected = descended(having, asked(angle), 1e-3);
    expect(expected).toBeGreaterThan(0.12);
    expect(Math.exp(of(angle, 0)(object)!)).toBeCloseTo(expected, 4);
  });

  test('where a line is below zero, three tenths of the share of events that have the object', () => {
    expect(descended([3, 4], asked(0.1), 1e-3)).toBeLessThan(0.12);
    expect(Math.exp(of(0.1, 0)('to run')!)).toBeCloseTo(0.3 * (2 / 5), 6);
  });

  test('keeps relations and questions apart, and has nothing to say of unknown objects', () => {
    const both = classifier.of(
      Tensor.fromArray(Float32Array.from([...asked(0.3), ...asked(0.3), ...asked(1.6)]), [3, 2]),
      [0, 1, 0],
    );
    expect(both[0]!('to sleep')).toBeCloseTo(of(0.3, 0)('to sleep')!, 6);
    expect(both[2]!('to run')).toBeCloseTo(of(1.6, 0)('to run')!, 6);
    expect(both[1]!('to sleep')).toBeUndefined();
    // The one event of the second relation has it, so that all do.
    expect(Math.exp(both[1]!('to run')!)).toBeCloseTo(1, 6);
    expect(of(0.3, 0)('to fly')).toBeUndefined();
    expect(of(0.3, 7)('to run')).toBeUndefined();
  });
});
