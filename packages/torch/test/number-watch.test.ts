import { describe, expect, it } from 'vitest';
import { scope, Tensor } from '../src/index.ts';
import { watchNumbers } from '../src/number-watch.ts';

const tensor = (...values: number[]) => Tensor.fromArray(Float32Array.from(values), [values.length]);

describe('watching numbers', () => {
  it('names the operator that made the first NaN, not those that passed it on', () => {
    const { nan, calls } = watchNumbers(() => scope(() => tensor(1, -1).mul(2).log().add(1).sum().item()));
    expect(calls).toBe(4);
    expect(nan).toMatchObject({
      phase: 'forward',
      operator: 'log',
      call: 2,
      inputs: [{ shape: [2], nan: 0, infinite: 0, range: [-2, 2] }],
      output: { shape: [2], dtype: 'float32', nan: 1, infinite: 0 },
    });
    expect(nan!.stack[0]).toContain('number-watch.test.ts');
  });

  it('knows infinities that a healthy run has too', () => {
    const masked = (value: number) => () => scope(() => tensor(0, 1).log().exp().div(value).sum().item());
    const healthy = watchNumbers(masked(1));
    expect([...healthy.infinities]).toEqual(['1 log']);
    expect(healthy.infinite?.operator).toBe('log');
    const { infinite } = watchNumbers(masked(0), { usual: healthy.infinities });
    expect(infinite).toMatchObject({ operator: 'div.Scalar', call: 3 });
  });

  it('finds the operator whose gradient is not finite while all values are', () => {
    const report = watchNumbers(() =>
      scope(() => {
        const weight = tensor(0, 1).requireGrad();
        weight.mul(3).sqrt().sum().backward();
      }),
    );
    expect(report.nan ?? report.infinite).toBeUndefined();
    expect(report.gradient).toMatchObject({ phase: 'backward', operator: 'sqrt', output: { infinite: 1 } });
  });

  it('gives back what the body gave, or threw, and watches nothing afterwards', () => {
    expect(watchNumbers(() => 7).outcome).toEqual({ value: 7 });
    const error = new Error('x');
    const report = watchNumbers(() => {
      throw error;
    });
    expect(report.outcome).toEqual({ error });
    tensor(-1).log();
    expect(report.calls).toBe(0);
  });
});
