import { Random } from '@hidden-schema/base';
import { Generator, randn, setThreads, Tensor } from '@hidden-schema/torch';

setThreads(1);

export interface Planted {
  /** Unit rows. [K][S] */
  atoms: number[][];
  /** Linked pairs, both ways. [K][K] */
  links: boolean[][];
  walks: number[][];
  /** [N, S] float32, rows of length one */
  points: Tensor;
}

/** Coefficients of a planted walk's steps: the first says most. */
const coefficients = [1, 0.5, 0.35];

/** Texts as sums of the atoms on short walks over a ring whose nodes also know the node after next, plus noise. */
export function plantedPoints(
  texts: number,
  K: number,
  { width = 64, noise = 0.02, seed = 1 } = {},
): Planted {
  const random = new Random(seed);
  const drawn = randn([K, width], new Generator(seed)).toNumbers();
  const atoms = Array.from({ length: K }, (_, k) => unit(drawn.slice(k * width, (k + 1) * width)));
  const near = (j: number, k: number) => [1, 2, K - 1, K - 2].includes((k - j + K) % K);
  const links = atoms.map((_, j) => atoms.map((_, k) => near(j, k)));
  const noises = randn([texts, width], new Generator(seed + 1)).toNumbers();
  const walks: number[][] = [];
  const data = new Float32Array(texts * width);
  for (let n = 0; n < texts; n++) {
    const walk = [random.int(K)];
    while (walk.length < coefficients.length) {
      const open = links[walk.at(-1)!]!.flatMap((linked, k) => (linked && !walk.includes(k) ? [k] : []));
      walk.push(open[random.int(open.length)]!);
    }
    walks.push(walk);
    const point = Array.from({ length: width }, (_, s) =>
      walk.reduce((sum, k, i) => sum + coefficients[i]! * atoms[k]![s]!, noise * noises[n * width + s]!),
    );
    data.set(unit(point), n * width);
  }
  return { atoms, links, walks, points: Tensor.fromArray(data, [texts, width]) };
}

export function unit(row: readonly number[]): number[] {
  const length = Math.sqrt(dot(row, row));
  return row.map((value) => value / length);
}

export function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}
