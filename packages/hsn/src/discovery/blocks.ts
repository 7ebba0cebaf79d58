import { cat, noGrad, scope, type Tensor, zeros } from '@hidden-schema/torch';
import type { Dictionary } from './dictionary.ts';
import { type Pursued, type PursuitOptions, pursue } from './pursuit.ts';

/** Numbers in one [n, b, K] tensor of a block: what bounds memory, whatever K. */
const blockNumbers = 1 << 22;
const mostRows = 1024;
const fewestRows = 32;

/**
 * Points of a block: always the same for a dictionary and a number of candidates. Products of one shape round alike
 * wherever a point stands, so that a text alone gets the walk that it got among others.
 */
function rowsOfBlock(symbols: number, candidates: number): number {
  const fitting = 2 ** Math.floor(Math.log2(blockNumbers / (symbols * candidates)));
  return Math.max(fewestRows, Math.min(mostRows, fitting));
}

/** Pursues points [N, S] block by block, the last one filled up with zeros; `visit` sees each block's own points. */
export function pursueBlocks(
  points: Tensor,
  dictionary: Dictionary,
  options: PursuitOptions,
  visit: (found: Pursued, block: Tensor) => void,
): void {
  const [N, S] = points.shape as [number, number];
  const rows = rowsOfBlock(dictionary.symbols.dim(0), options.candidates);
  for (let first = 0; first < N; first += rows) {
    const count = Math.min(rows, N - first);
    noGrad(() =>
      scope(() => {
        const block = points.narrow(0, first, count);
        const whole = count === rows ? block : cat([block, zeros([rows - count, S])], 0);
        const found = pursue(whole.contiguous(), dictionary, options);
        visit(count === rows ? found : firstRows(found, count), block);
      }),
    );
  }
}

function firstRows(found: Pursued, count: number): Pursued {
  return {
    walks: found.walks.narrow(0, 0, count),
    coefficients: found.coefficients.narrow(0, 0, count),
    logProbabilities: found.logProbabilities.narrow(0, 0, count),
    squares: found.squares.narrow(0, 0, count),
    left: found.left.narrow(0, 0, count),
  };
}
