import { cat, noGrad, scope, type Tensor, zeros } from '@hidden-schema/torch';
import type { Dictionary } from './dictionary.ts';
import { mostAtOnce, type PointSource } from './point-source.ts';
import { type Pursued, type PursuitOptions, pursue } from './pursuit.ts';

/** Numbers in one [n, b, K] tensor of a block: what bounds memory, whatever K. */
const blockNumbers = 1 << 22;
const fewestRows = 32;

/**
 * Points of a block: always the same for a dictionary and a number of candidates. Products of one shape round alike
 * wherever a point stands, so that a text alone gets the walk that it got among others.
 */
function rowsOfBlock(symbols: number, candidates: number): number {
  const fitting = 2 ** Math.floor(Math.log2(blockNumbers / (symbols * candidates)));
  return Math.max(fewestRows, Math.min(mostAtOnce, fitting));
}

/** A block of points as a walk is looked for in: filled up with zeros to `rows`. */
export function padRows(block: Tensor, rows: number): Tensor {
  const [count, S] = block.shape as [number, number];
  return (count === rows ? block : cat([block, zeros([rows - count, S])], 0)).contiguous();
}

/** This process's points in blocks of `rows`, the last one shorter; `visit` is told each one's place among all. */
export function* visitBlocks(
  points: PointSource,
  rows: number,
  visit: (block: Tensor, first: number) => void,
): Generator<number> {
  for (let first = points.first; first < points.end; first += rows) {
    const end = Math.min(first + rows, points.end);
    noGrad(() => scope(() => visit(points.rows(first, end), first)));
    yield end;
  }
}

type Visit = (found: Pursued, block: Tensor, first: number) => void;

/** Pursues this process's points block by block, all of one shape; `visit` sees each block's own points. */
export function pursuedBlocks(
  points: PointSource,
  dictionary: Dictionary,
  options: PursuitOptions,
  visit: Visit,
): Generator<number> {
  const rows = rowsOfBlock(dictionary.symbols.dim(0), options.candidates);
  return visitBlocks(points, rows, (block, first) => {
    const found = pursue(padRows(block, rows), dictionary, options);
    const count = block.dim(0);
    visit(count === rows ? found : firstRows(found, count), block, first);
  });
}

/** The same in one go. */
export function pursueBlocks(
  points: PointSource,
  dictionary: Dictionary,
  options: PursuitOptions,
  visit: Visit,
): void {
  for (const _ of pursuedBlocks(points, dictionary, options, visit));
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
