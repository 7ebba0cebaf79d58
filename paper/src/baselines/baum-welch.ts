import type { CorpusSplit } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import { tokensFrom } from '@hidden-schema/hsn/tasks/synthetic/network';
import { smoothWalks } from '@hidden-schema/hsn/walk/smoothing';
import { noGrad } from '@hidden-schema/torch/autograd';
import { full } from '@hidden-schema/torch/create';
import { scope } from '@hidden-schema/torch/scope';
import { Tensor } from '@hidden-schema/torch/tensor';
import { type LinkScores, linksFromTraversals } from './links.ts';

interface BaumWelchOptions {
  iterations: number;
  /** Sentences used, from the first on. */
  limit: number;
  /** Stops when the mean log-likelihood of a sentence gains less than this. */
  tolerance: number;
  noise: number;
  onIteration?: (iteration: number, logLikelihood: number, result: LinkScores) => void;
}

const chunk = 1000;
/** Expected traversals a sentence below which a step counts as never taken. */
const vanished = 1e-12;

/** Baum-Welch with known emissions: the classical way to find the transitions of a hidden walk. */
export function baumWelch(
  split: CorpusSplit,
  length: number,
  bags: { nodes: number; probabilities: Float64Array },
  options: BaumWelchOptions,
): LinkScores & { logLikelihood: number } {
  const K = bags.nodes;
  const total = Math.min(options.limit, split.count);
  return scope(() =>
    noGrad(() => {
      const table = emissionTable(bags, options.noise);
      let matrix = full([K, K], 1 / K);
      let start = full([K], 1 / K);
      let before = Number.NEGATIVE_INFINITY;
      let result = linksFromTraversals(new Float64Array(K * K), K, 1);
      for (let iteration = 1; iteration <= options.iterations; iteration++) {
        const step = expectation({ ...split, count: total }, length, { table, start, matrix });
        matrix = transitionsOf(step.traversals);
        start = step.start;
        // A link is called where at least half a traversal is expected in the data seen.
        result = linksFromTraversals(step.traversals.toNumbers(), K, 0.5 / total);
        options.onIteration?.(iteration, step.logLikelihood, result);
        const gain = step.logLikelihood - before;
        before = step.logLikelihood;
        if (gain < options.tolerance) break;
      }
      return { ...result, logLikelihood: before };
    }),
  );
}

/** Rows of expected traversals scaled to sum to one; a symbol that no sentence uses goes anywhere. [K, K] */
function transitionsOf(traversals: Tensor): Tensor {
  // What has all but vanished would shrink on to numbers too small for fast arithmetic, and at last to 0/0.
  const seen = traversals.mul(traversals.gt(vanished).to(traversals.dtype));
  const unused = seen.sum(1, true).eq(0).to(traversals.dtype); // [K, 1]
  const rows = seen.add(unused);
  return rows.div(rows.sum(1, true));
}

/** p(x|k) as a table by token, with a share of uniform noise. [V, K] */
function emissionTable(bags: { nodes: number; probabilities: Float64Array }, noise: number): Tensor {
  const V = bags.probabilities.length / bags.nodes;
  const pure = Tensor.fromArray(bags.probabilities, [bags.nodes, V]).to('float32');
  return pure
    .mul(1 - noise)
    .add(noise / V)
    .transpose(0, 1)
    .contiguous();
}

interface Chain {
  /** p(x|k) by token. [V, K] */
  table: Tensor;
  start: Tensor;
  matrix: Tensor;
}

function expectation(split: CorpusSplit, length: number, { table, start, matrix }: Chain) {
  return scope(() => {
    const sums = { traversals: matrix.mul(0), start: start.mul(0), logLikelihood: 0 };
    for (let first = 0; first < split.count; first += chunk) {
      scope(() => {
        const tokens = tokensFrom(split, length, first, chunk);
        const emissions = tokens.unbind(1).map((step) => table.indexSelect(0, step));
        const smoothed = smoothWalks(start, matrix, emissions);
        const share = tokens.dim(0) / split.count;
        sums.traversals.add_(smoothed.traversals, share);
        sums.start.add_(smoothed.start, share);
        sums.logLikelihood += smoothed.logLikelihood.sum().item() / split.count;
      });
    }
    return sums;
  });
}
