import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linearScale, logScale } from '../src/drawing/scales.ts';
import { mark, svgOf } from '../src/drawing/svg.ts';

const pixels = { from: 0, to: 100, ticks: 5 };
const labels = ({ ticks }: ReturnType<typeof linearScale>) => ticks.map(({ label }) => label);

describe('scales', () => {
  test('round values are told, with as many digits as their step has', () => {
    expect(labels(linearScale([0, 93], pixels))).toEqual(['0', '20', '40', '60', '80', '100']);
    expect(labels(linearScale([0.01, 0.24], pixels))).toEqual([
      '0.00',
      '0.05',
      '0.10',
      '0.15',
      '0.20',
      '0.25',
    ]);
    expect(labels(linearScale([1000, 5000], { ...pixels, zero: true }))).toContain('2,000');
    expect(labels(logScale([90, 20_000], pixels))).toEqual(['100', '1,000', '10,000']);
    const range = [3, 17] as const;
    expect(labels(linearScale([], { ...pixels, range }))).toEqual(['5', '10', '15']);
  });

  test('every value lies within, in order, and is found again at its place', () => {
    const number = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 20 }), (values) => {
        const scale = linearScale(values, pixels);
        for (const value of values) {
          expect(scale.place(value)).toBeGreaterThanOrEqual(-1e-6);
          expect(scale.place(value)).toBeLessThanOrEqual(100 + 1e-6);
          const room = Math.max(...values.map(Math.abs), 1e-190);
          expect(Math.abs(scale.value(scale.place(value)) - value)).toBeLessThanOrEqual(1e-6 * room);
        }
        expect(scale.ticks.length).toBeLessThan(20);
        expect(scale.ticks.map(({ at }) => at)).toEqual(
          scale.ticks.map(({ at }) => at).toSorted((a, b) => a - b),
        );
      }),
    );
  });

  test('no value, one value and zero alone have an axis', () => {
    for (const values of [[], [7], [1e-300], [3, 3 + 1e-14]])
      for (const scale of [linearScale(values, pixels), logScale(values, pixels)]) {
        expect(scale.place(values[0] ?? 1)).not.toBeNaN();
        for (const { at, label } of scale.ticks) expect(`${at} ${label}`).not.toMatch(/NaN|Infinity/);
      }
  });
});

test('marks: text stays text, numbers are short, what is undefined is left out', () => {
  const drawn = mark('text', { x: 1 / 3, fill: undefined, id: '"<' }, '<b> & \u0000');
  expect(svgOf(drawn)).toBe('<text x="0.33" id="&quot;&lt;">&lt;b&gt; &amp; \ufffd</text>');
});
