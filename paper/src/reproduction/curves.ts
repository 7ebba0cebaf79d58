import { setImmediate } from 'node:timers/promises';
import { meanSd } from '@hidden-schema/base/tables';
import { syntheticOptions } from '@hidden-schema/hsn/config/network';
import type { GraphKind } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import type { SyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import {
  SYNTHETIC_DEFAULTS,
  type SyntheticSettings,
} from '@hidden-schema/hsn/tasks/synthetic/corpus/synthetic';
import { linkLogits } from '@hidden-schema/hsn/tasks/synthetic/evaluation';
import { sweepUntilSettled } from '@hidden-schema/hsn/tasks/synthetic/graph-sweeps';
import { SyntheticTask } from '@hidden-schema/hsn/tasks/synthetic/task';
import { baumWelchFigures, countingFigures, drawnCorpus, type LinkFigures, linkFigures } from './fit.ts';

export const curveMethods = ['HSN', 'Baum-Welch', 'counting'] as const;
type CurveMethod = (typeof curveMethods)[number];

/** Recovery of one drawn graph from so many training sentences. */
export interface CurvePoint extends LinkFigures {
  graph: GraphKind;
  nodes: number;
  shared: boolean;
  sentences: number;
  seed: number;
  method: CurveMethod;
  seconds: number;
}

export interface CurveOptions {
  graphs: readonly GraphKind[];
  nodes: readonly number[];
  sentences: readonly number[];
  seeds: number;
  onPoint?: (point: CurvePoint) => void;
}

/** Recovery against data: topologies, sizes and numbers of sentences, with tokens shared and not. */
export async function recoveryCurves(options: CurveOptions): Promise<CurvePoint[]> {
  const points: CurvePoint[] = [];
  for (const { corpus, where } of corpora(options)) {
    for (const method of curveMethods) {
      const began = performance.now();
      const figures = fit(method, corpus());
      const point = { ...where, method, seconds: (performance.now() - began) / 1000, ...figures };
      points.push(point);
      options.onPoint?.(point);
      await setImmediate();
    }
  }
  return points;
}

type Where = Pick<CurvePoint, 'graph' | 'nodes' | 'shared' | 'sentences' | 'seed'>;

function* corpora(options: CurveOptions): Generator<{ where: Where; corpus: () => SyntheticCorpus }> {
  for (const graph of options.graphs)
    for (const nodes of options.nodes)
      for (const shared of [false, true])
        for (const sentences of options.sentences)
          for (let seed = 1; seed <= options.seeds; seed++) {
            const where = { graph, nodes, shared, sentences, seed };
            let drawn: SyntheticCorpus | undefined;
            const corpus = () => {
              drawn ??= drawnCorpus(settingsOf(where));
              return drawn;
            };
            yield { where, corpus };
          }
}

/** `sentences` are those for training; a tenth more each go to validation and test. */
function settingsOf({ graph, nodes, shared, sentences, seed }: Where): SyntheticSettings {
  const tokens = shared ? Math.ceil(1.2 * nodes) : 2 * nodes;
  const all = Math.ceil(sentences / 0.8);
  return {
    ...SYNTHETIC_DEFAULTS,
    graph,
    nodes,
    tokens,
    disjoint: !shared,
    length: 11,
    sentences: all,
    split: [80, 10, 10],
    seed,
  };
}

function fit(method: CurveMethod, corpus: SyntheticCorpus): LinkFigures {
  if (method === 'counting') return countingFigures(corpus);
  return method === 'Baum-Welch' ? baumWelchFigures(corpus) : closedFormFigures(corpus);
}

/** The closed-form graph alone: it needs no encoder, so the encoder here is as small as can be and is not trained. */
function closedFormFigures(corpus: SyntheticCorpus): LinkFigures {
  const config = syntheticOptions.parse({ encoder: { width: 2, heads: 1, blocks: 1, hidden: 2 } });
  const task = new SyntheticTask(config, corpus);
  try {
    sweepUntilSettled(task, config.graph.sweeps);
    const scores = linkLogits(task.model);
    return linkFigures({ scores, links: Uint8Array.from(scores, (logit) => (logit > 0 ? 1 : 0)) }, corpus);
  } finally {
    task.trainer.free();
  }
}

/** Wrong links (too many and missing) against training sentences, one line a method. */
export async function curveFigure(
  points: readonly CurvePoint[],
  graph: GraphKind,
  nodes: number,
  shared: boolean,
): Promise<string> {
  // The chart library is large: loaded only where a chart is drawn.
  const { drawCurves } = await import('@hidden-schema/studies/drawing/curves');
  const here = points.filter((p) => p.graph === graph && p.nodes === nodes && p.shared === shared);
  const sizes = [...new Set(here.map((p) => p.sentences))].sort((a, b) => a - b);
  const wrong = (p: CurvePoint) => p.frobenius_truth ** 2 / p.edges_truth;
  return drawCurves({
    title: `${graph}, ${nodes} symbols, tokens ${shared ? 'shared' : 'not shared'}`,
    xLabel: 'training sentences',
    yLabel: 'wrong links as a share of the true ones',
    logX: true,
    series: curveMethods.map((name) => {
      const at = (size: number) => here.filter((p) => p.method === name && p.sentences === size).map(wrong);
      const stats = sizes.map((size) => [size, meanSd(at(size))] as const);
      return {
        name,
        points: stats.map(([size, { mean }]) => [size, mean] as const),
        band: stats.map(
          ([size, { mean, sd }]) => [size, Math.max(0, mean - (sd ?? 0)), mean + (sd ?? 0)] as const,
        ),
      };
    }),
  });
}
