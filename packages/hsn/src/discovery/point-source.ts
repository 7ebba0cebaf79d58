import {
  cat,
  type Generator as Draws,
  noGrad,
  randint,
  randperm,
  scope,
  Tensor,
  withoutGrad,
  zeros,
} from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import type { Dictionary } from './dictionary.ts';
import { type Pursued, type PursuitOptions, pursue } from './pursuit.ts';

// Shapes: N points, S their width.

/** Points [N, S] of which each process reads its own part, some at a time. */
export interface PointSource {
  /** N, those of all processes. */
  readonly count: number;
  readonly width: number;
  /** Where this process's own points begin and end among all. */
  readonly first: number;
  readonly end: number;
  /** Some of its own, by their places among all. [to − from, S] */
  rows(from: number, to: number): Tensor;
}

/** Points that are all in this process's memory. [N, S] */
export function sourceOf(points: Tensor): PointSource {
  const [count, width] = points.shape as [number, number];
  return { count, width, first: 0, end: count, rows: (from, to) => points.narrow(0, from, to - from) };
}

/** Points that are summed at a time at the most. */
export const mostAtOnce = 1024;

/**
 * Whether points are few. The parts of many begin where a block does, so that blocks, and what is summed of each, are the
 * same however many processes there are; float32 is then enough within a block. Few are shared evenly, so that all have
 * some, and what is summed of their blocks is float64 throughout: either way processes find what one alone finds.
 */
export const isSmall = (count: number): boolean => count < 4 * mostAtOnce;

/** This process's part of `count` points. */
export function ownPart(
  count: number,
  { rank, size }: Pick<Replicas, 'rank' | 'size'>,
): { first: number; end: number } {
  const grain = isSmall(count) ? 1 : mostAtOnce;
  const grains = Math.ceil(count / grain);
  const start = (of: number) => Math.min(count, grain * Math.floor((of * grains) / size));
  return { first: start(rank), end: start(rank + 1) };
}

/** Above this many, places are drawn one by one: an order of all would take eight bytes a point. */
const mostOrdered = 1 << 20;

/** `some` different places out of `count`. */
export function drawnPlaces(count: number, some: number, generator: Draws): number[] {
  if (count <= mostOrdered || some > count / 2)
    return scope(() => randperm(count, generator).narrow(0, 0, some).toNumbers());
  const places = new Set<number>();
  while (places.size < some)
    for (const place of scope(() => randint(count, [some - places.size], generator).toNumbers()))
      places.add(place);
  return [...places];
}

/** Points by their places among all, whichever process has them. [n, S] */
export function pointsAt(points: PointSource, places: readonly number[], replicas: Replicas): Tensor {
  const order = Array.from(places.keys()).sort((a, b) => places[a]! - places[b]!);
  const inOrder = order.map((at) => places[at]!);
  const found = zeros([places.length, points.width]);
  noGrad(() => {
    let at = inOrder.findIndex((place) => place >= points.first);
    for (let first = points.first; first < points.end && at !== -1; first += mostAtOnce) {
      const end = Math.min(first + mostAtOnce, points.end);
      const own: number[] = [];
      while (at + own.length < inOrder.length && inOrder[at + own.length]! < end)
        own.push(inOrder[at + own.length]! - first);
      if (own.length === 0) continue;
      scope(() => {
        const rows = Tensor.fromArray(Int32Array.from(own), [own.length]);
        found.narrow(0, at, own.length).copy_(points.rows(first, end).indexSelect(0, rows));
      });
      at += own.length;
    }
  });
  replicas.sum([found]);
  const ranks = new Int32Array(places.length);
  for (const [rank, at] of order.entries()) ranks[at] = rank;
  return found.indexSelect(0, Tensor.fromArray(ranks, [places.length]));
}

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
    withoutGrad(() => visit(points.rows(first, end), first));
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

const firstRows = (found: Pursued, count: number): Pursued =>
  Object.fromEntries(
    Object.entries(found).map(([name, all]: [string, Tensor]) => [name, all.narrow(0, 0, count)]),
  ) as unknown as Pursued;
