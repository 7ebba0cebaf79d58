import { type Profile, startProfile, stopProfile } from '@hidden-schema/torch/profile';

/** Floating-point operations of the matrix products that ran, by the shapes of their operands. */
export function productFlops({ operators }: Pick<Profile, 'operators'>): number {
  return operators.reduce((sum, { name, shapes }) => sum + flopsOf(name, shapesOf(shapes)), 0);
}

/** What `body` multiplies. */
export function flopsWithin(body: () => void): number {
  startProfile();
  try {
    body();
  } catch (error) {
    stopProfile();
    throw error;
  }
  return productFlops(stopProfile());
}

function shapesOf(text: string): number[][] {
  return [...text.matchAll(/\[([\d, ]*)\]/g)].map(([, inside]) =>
    inside!.split(',').flatMap((part) => (part.trim() === '' ? [] : [Number(part)])),
  );
}

const product = (values: readonly number[]): number => values.reduce((all, value) => all * value, 1);

/** Only operators at the bottom are counted: `linear` and `matmul` call them in turn. */
function flopsOf(name: string, shapes: readonly number[][]): number {
  const operands = name === 'aten::addmm' || name === 'aten::baddbmm' ? shapes.slice(1) : shapes;
  const [a = [], b = []] = operands;
  if (['aten::mm', 'aten::addmm', 'aten::bmm', 'aten::baddbmm'].includes(name))
    return 2 * product(a) * b.at(-1)!;
  // Queries [B, H, T, d] against keys [B, G, S, d]: scores, and their use. Its gradient is not seen: a lower bound.
  if (name === 'engine::attention') return 4 * product(a) * b[2]!;
  return 0;
}
