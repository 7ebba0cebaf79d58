import { Random } from '@hidden-schema/base';
import { TrainedWalks } from '@hidden-schema/hsn';
import { startEngine, Tensor } from '@hidden-schema/torch';
import { beforeAll, describe, expect, test } from 'vitest';
import { EventEvidence } from '../src/reasoning/event-evidence.ts';
import { addShares, commonestFirst } from '../src/reasoning/neighbourhood.ts';

const angles = [0.1, 0.4, 0.9, 1.3];
const tuples: readonly (readonly [event: number, relation: number, object: string])[] = [
  [0, 0, 'to sleep'],
  [0, 0, 'To sleep.'],
  [0, 0, 'to eat soup'],
  [1, 0, 'to sleep'],
  [2, 0, 'to eat'],
  [3, 1, 'to run'],
];
const names = [...new Set(tuples.map(([, , object]) => object))];
const ints = (values: readonly number[]) => Int32Array.from(values);
const asked = 0.2;

let evidence: EventEvidence;
beforeAll(() => {
  startEngine();
  const trained = new TrainedWalks({
    events: angles.map((_, event) => `e${event}`),
    objects: names,
    event: ints(tuples.map(([event]) => event)),
    relation: ints(tuples.map(([, relation]) => relation)),
    object: ints(tuples.map(([, , object]) => names.indexOf(object))),
    walks: ints(tuples.flatMap(() => [0, 0])),
    vectors: Tensor.fromArray(Float32Array.from(angles.flatMap((a) => [Math.cos(a), Math.sin(a)])), [4, 2]),
  });
  evidence = new EventEvidence(
    {
      known: trained,
      vectors: async () => Tensor.fromArray(Float32Array.of(Math.cos(asked), Math.sin(asked)), [1, 2]),
    },
    2,
  );
});

const of = async (head: string) => (await evidence.of([{ head, relation: 0 }]))[0]!;

/** Weights of the events of the first relation, from angles alone. */
const weights = [0.1, 0.4, 0.9].map((angle) =>
  Math.exp((Math.cos(angle - asked) - Math.cos(0.1 - asked)) / 0.1),
);

describe('what training events say of an object', () => {
  test('is the weight of near events that have it, and ten of all events of the relation', async () => {
    const total = weights.reduce((sum, weight) => sum + weight, 0) + 10;
    const { near, objects, scores } = await of('new');
    expect(near.map(({ event }) => event)).toEqual(['e0', 'e1', 'e2']);
    expect(objects).toEqual(['to sleep', 'to eat soup', 'to eat']);
    const both = weights[0]! + weights[1]!;
    expect(Math.exp(scores('To sleep').near)).toBeCloseTo((both + 10 * (2 / 3)) / total, 5);
    expect(Math.exp(scores('to eat').near)).toBeCloseTo((weights[2]! + 10 * (1 / 3)) / total, 5);
    expect(Math.exp(scores('to sleep').common)).toBeCloseTo(2 / 3, 6);
  });

  test('leaves out the event that is asked about, though the relation keeps its objects', async () => {
    const { near, scores } = await of('e0');
    expect(near.map(({ event }) => event)).toEqual(['e1', 'e2']);
    expect(Math.exp(scores('to eat soup').common)).toBeCloseTo(1 / 3, 6);
  });

  test('an object that no event has is rare', async () => {
    const { scores } = await of('new');
    const { near, common, classified } = scores('to sleep soup');
    expect(common).toBeCloseTo(Math.log(1e-4), 6);
    expect(classified).toBe(common);
    expect(near).toBeLessThan(scores('to eat soup').near);
  });
});

describe('what all events of a relation say', () => {
  const random = new Random(3);
  const shares = commonestFirst(
    Array.from({ length: 60 }, (_, i) => [`o${i}`, { text: `o${i}`, share: random.int(12) / 40 }] as const),
  );
  const near = () => {
    const drawn = new Random(4);
    return new Map<string, { text: string; weight: number }>(
      Array.from(
        { length: 25 },
        (_, i) => [`o${3 * i}`, { text: `o${3 * i}`, weight: drawn.int(7) / 2 }] as const,
      ),
    );
  };

  test.each([1, 7, 30, 100])('leaves the %i objects with most weight in their order', (most) => {
    const [found, all] = [near(), near()];
    addShares(found, shares, { pseudoCount: 10, most });
    for (const [key, { text, share }] of shares)
      all.set(key, { text, weight: (all.get(key)?.weight ?? 0) + 10 * share });
    const first = (weights: ReadonlyMap<string, { text: string; weight: number }>) =>
      [...weights.values()].sort((a, b) => b.weight - a.weight).slice(0, most);
    expect(first(found)).toEqual(first(all));
  });
});
