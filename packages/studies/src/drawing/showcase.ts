import fs from 'node:fs';
import path from 'node:path';
import { formatNumber, formatTable, writeFileAtomic } from '@hidden-schema/base';
import { isLikely, linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import { type Adjacency, edgeList } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';
import type { SyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import type { SyntheticEvaluation } from '@hidden-schema/hsn/tasks/synthetic/evaluation';
import { type SyntheticNetwork, tokensFrom } from '@hidden-schema/hsn/tasks/synthetic/network';
import { noGrad, scope } from '@hidden-schema/torch';
import { layoutGraph } from './force-layout.ts';
import { compareGraphs, drawGraphs } from './graph-figure.ts';
import { toPng } from './png.ts';

/** Links that are more likely there than not. */
export function mostLikelyGraph(model: SyntheticNetwork): Adjacency {
  const data = Uint8Array.from(linkProbabilities(model), (p) => Number(isLikely(p)));
  return { nodes: model.shape.symbols, data };
}

/** Draws the true graph beside the recovered one into a folder, as SVG and PNG; returns the files. */
export function drawRecovery(model: SyntheticNetwork, corpus: SyntheticCorpus, folder: string): string[] {
  if (!corpus.truth) return [];
  const found = mostLikelyGraph(model);
  const positions = layoutGraph(found.nodes, edgeList(corpus.truth));
  const svg = drawGraphs({
    title: 'A hidden graph and what was found of it',
    panels: [
      { title: 'true graph', edges: corpus.truth, positions },
      { title: 'recovered from sentences', edges: compareGraphs(corpus.truth, found), positions },
    ],
  });
  fs.mkdirSync(folder, { recursive: true });
  const files = ['recovery.svg', 'recovery.png'].map((name) => path.join(folder, name));
  writeFileAtomic(files[0]!, svg);
  writeFileAtomic(files[1]!, toPng(svg));
  return files;
}

/** Recovered beside true, as a small table. */
export function recoveryText(evaluation: SyntheticEvaluation): string {
  const show = (value: number | null | undefined, digits: number) =>
    typeof value === 'number' ? formatNumber(value, digits) : '–';
  return formatTable(
    [{ title: '' }, { title: 'recovered', align: 'right' }, { title: 'true', align: 'right' }],
    [
      ['links', show(evaluation.edges_expected, 1), show(evaluation.edges_truth, 0)],
      ['ROC AUC of links', show(evaluation.auc, 4), '1.0000'],
      ['distance to the true graph', show(evaluation.frobenius_truth, 3), '0.000'],
      ['symbols read correctly', show(evaluation.hits, 4), '1.0000'],
    ],
    'terminal',
  );
}

/** Test sentences with their true walks and the walks the encoder reads in them. */
export function walkExamples(model: SyntheticNetwork, corpus: SyntheticCorpus, count: number): string {
  const { test } = corpus.splits;
  const L = corpus.length;
  const read = scope(() =>
    noGrad(() => {
      model.train(false);
      const posterior = model.encode({ tokens: tokensFrom(test, L, 0, count) });
      return posterior.best().flatMap(({ walk }) => walk);
    }),
  );
  const lines = Array.from({ length: count }, (_, n) => {
    const part = (from: ArrayLike<number>) => Array.from({ length: L }, (__, i) => from[n * L + i]!);
    const row = (label: string, values: (string | number)[]) =>
      `  ${label.padEnd(9)} ${values.map((value) => String(value).padStart(4)).join('')}`;
    return [
      row(
        'sentence',
        part(test.tokens).map((token) => corpus.vocabulary[token]!),
      ),
      ...(test.walks ? [row('true walk', part(test.walks))] : []),
      row('read as', part(read)),
      '',
    ].join('\n');
  });
  return lines.join('\n');
}
