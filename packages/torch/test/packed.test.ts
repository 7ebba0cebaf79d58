import { beforeAll, describe, expect, test } from 'vitest';
import { Generator, noGrad, randn, scope, setThreads, Tensor } from '../src/index.ts';
import { type Activation, type EncoderPrecision, packedLinear, packLinear } from '../src/packed.ts';

beforeAll(() => {
  setThreads(1);
});

/** The product in float64, its activation by the formula. */
function exact(x: Tensor, weight: Tensor, bias: Tensor, then: Activation): Tensor {
  const y = x.to('float64').matmul(weight.to('float64').transpose(0, 1)).add(bias.to('float64'));
  if (then === 'relu') return y.relu();
  return then === 'none' ? y : y.gelu(then === 'gelu' ? 'none' : 'tanh');
}

/** Largest difference, as a share of the products' deviation. */
const error = (got: Tensor, expected: Tensor): number => {
  const deviation = Math.sqrt(expected.mul(expected).mean().item());
  return got.to('float64').sub(expected).abs().amax().item() / deviation;
};

describe('a packed linear layer', () => {
  // At the sizes of MiniLM; rows and columns that fill no tile; the most that each precision may be off.
  const most: Record<EncoderPrecision, number> = { float32: 1e-5, bfloat16: 0.02, int8: 0.1 };
  test.each([
    [97, 384, 1536],
    [6, 1536, 384],
    [5, 77, 70],
    [2, 3, 5],
  ])('of %d rows, %d inputs and %d outputs is the product in float64', (rows, inputs, outputs) => {
    noGrad(() =>
      scope(() => {
        const generator = new Generator(rows);
        const [x, weight, bias] = [
          randn([rows, inputs], generator),
          randn([outputs, inputs], generator),
          randn([outputs], generator),
        ];
        for (const precision of ['float32', 'bfloat16', 'int8'] as const) {
          const layer = packLinear(weight, bias, precision);
          for (const then of ['none', 'gelu', 'gelu_tanh', 'relu'] as const)
            expect(error(packedLinear(x, layer, then), exact(x, weight, bias, then))).toBeLessThan(
              most[precision],
            );
        }
      }),
    );
  });

  test('gives what is no number where its row has one, and nowhere else', () => {
    scope(() => {
      const x = Tensor.fromArray(Float32Array.of(1, Number.NaN, 2, 3, 1, Number.POSITIVE_INFINITY), [3, 2]);
      const weight = Tensor.fromArray(Float32Array.of(1, 1), [1, 2]);
      for (const precision of ['float32', 'bfloat16', 'int8'] as const) {
        const [first, second, third] = packedLinear(x, packLinear(weight, undefined, precision)).toNumbers();
        expect(first).toBeNaN();
        expect(second).toBeCloseTo(5, 1);
        expect(Number.isFinite(third)).toBe(false);
      }
    });
  });

  test('has no gradient, and says so', () => {
    scope(() => {
      const weight = randn([4, 4], new Generator(1));
      const layer = packLinear(weight, undefined, 'float32');
      expect(() => packedLinear(randn([2, 4], new Generator(2)).requireGrad(), layer)).toThrow(
        /expects 'x' without a gradient/,
      );
      expect(() => packedLinear(randn([2, 5], new Generator(2)), layer)).toThrow(
        /expects a packed weight 'weight' of \[4, 5\], got \[4, 4\]/,
      );
      const infinite = weight.mul(Number.POSITIVE_INFINITY);
      expect(() => packLinear(infinite, undefined, 'int8')).toThrow(/finite numbers for int8/);
    });
  });
});
