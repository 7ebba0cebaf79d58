import { describe, expect, it } from 'vitest';
import { Generator, rand, scope } from '../src/index.ts';
import { chromeTrace, operatorTotals, span, startProfile, stopProfile } from '../src/profile.ts';

const generator = new Generator(1);

function recorded() {
  return scope(() => {
    const a = rand([3, 4], generator).requireGrad();
    const b = rand([4, 5], generator);
    startProfile();
    const answer = span('outer', () => {
      const y = a.matmul(b).sum();
      span('inner', () => y.backward());
      return 7;
    });
    expect(answer).toBe(7);
    return stopProfile();
  });
}

describe('profile', () => {
  it('records operators of both directions with shapes, times and memory', () => {
    const { operators, spans } = recorded();
    const product = operators.find(({ name }) => name === 'aten::mm')!;
    expect(product.shapes).toBe('[3, 4] [4, 5]');
    expect(product.nanoseconds).toBeGreaterThan(0);
    expect(product.allocated).toBeGreaterThanOrEqual(3 * 5 * 4);
    expect(operators.some(({ name, backward }) => backward && name === 'MmBackward0')).toBe(true);
    const [inner, outer] = [spans.find((s) => s.name === 'inner')!, spans.find((s) => s.name === 'outer')!];
    expect(inner.start).toBeGreaterThanOrEqual(outer.start);
    expect(inner.nanoseconds).toBeLessThanOrEqual(outer.nanoseconds);
    // The operators run inside the span: both read the same clock.
    expect(product.start).toBeGreaterThanOrEqual(outer.start);
    expect(product.start + product.nanoseconds).toBeLessThanOrEqual(outer.start + outer.nanoseconds);
  });

  it('counts the time of an operator without those it calls', () => {
    const { operators } = recorded();
    const own = operatorTotals({ operators }).reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    const first = Math.min(...operators.map(({ start }) => start));
    const last = Math.max(...operators.map(({ start, nanoseconds }) => start + nanoseconds));
    expect(own).toBeGreaterThan(0);
    expect(own).toBeLessThanOrEqual((last - first) / 1e6 + 1e-6);
    const matmul = operators.find(({ name }) => name === 'aten::matmul')!;
    const total = operatorTotals({ operators }).find(({ name }) => name === 'aten::matmul')!;
    expect(total.milliseconds).toBeLessThan(matmul.nanoseconds / 1e6);
  });

  it('becomes a Chrome trace: complete events, stages and a counter of memory', () => {
    const profile = recorded();
    const { traceEvents } = JSON.parse(JSON.stringify(chromeTrace(profile))) as {
      traceEvents: { name: string; ph: string; ts: number; dur?: number; args?: Record<string, unknown> }[];
    };
    const product = traceEvents.find(({ name, ph }) => name === 'aten::mm' && ph === 'X')!;
    expect(product.args?.shapes).toBe('[3, 4] [4, 5]');
    expect(traceEvents.some(({ name, ph }) => name === 'outer' && ph === 'X')).toBe(true);
    expect(traceEvents.some(({ ph, args }) => ph === 'C' && typeof args?.bytes === 'number')).toBe(true);
    expect(Math.min(...traceEvents.map(({ ts }) => ts))).toBe(0);
  });

  it('takes one recording at a time, and none while it is off', () => {
    expect(() => stopProfile()).toThrow(/no profile is being recorded/);
    startProfile();
    try {
      expect(() => startProfile()).toThrow(/already/);
    } finally {
      stopProfile();
    }
    expect(span('free', () => 3)).toBe(3);
    startProfile();
    expect(stopProfile().spans).toEqual([]);
  });
});
