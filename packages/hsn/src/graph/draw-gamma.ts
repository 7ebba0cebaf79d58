import {
  type Generator,
  rand,
  randn,
  scope,
  type Tensor,
  type TensorOptions,
  where,
} from '@hidden-schema/torch';

/** Proposals for each draw, of which the first that is accepted counts: one in 10⁸ draws finds none and takes the last. */
const PROPOSALS = 6;

/**
 * Draws of Gamma(a, 1) for 0 < a < 1, of the given sizes. Gamma(a) is Gamma(a + 1)·U^(1/a), and Gamma(a + 1) comes by
 * Marsaglia and Tsang's rejection, whose proposals are accepted with a probability above 0.95.
 */
export function drawGamma(
  a: number,
  sizes: readonly number[],
  generator: Generator,
  options: TensorOptions = {},
): Tensor {
  if (!(a > 0 && a < 1)) throw new RangeError(`a Gamma distribution of shape 0 to 1 is drawn, got ${a}`);
  const d = a + 1 - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  return scope(() => {
    const draws = Array.from({ length: PROPOSALS }, () => {
      const x = randn(sizes, generator, options);
      const root = x.mul(c).add(1);
      const v = root.mul(root).mul(root);
      const positive = v.clamp(0); // its logarithm of −∞ is never accepted
      const bound = x.mul(x).mul(0.5).add(d).sub(v.mul(d)).add(positive.log().mul(d));
      const accepted = rand(sizes, generator, options).log().lt(bound);
      return { accepted, value: positive.mul(d) };
    });
    const larger = draws.reduceRight(
      (later, { accepted, value }) => where(accepted, value, later),
      draws.at(-1)!.value,
    );
    return larger.mul(rand(sizes, generator, options).pow(1 / a));
  });
}
