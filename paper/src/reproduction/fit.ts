import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readSyntheticCorpus, type SyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import type { SyntheticSettings } from '@hidden-schema/hsn/tasks/synthetic/corpus/synthetic';
import { writeSyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/writer';
import { rocAuc, upperTriangle } from '@hidden-schema/hsn/tasks/synthetic/recovery';
import { baumWelch } from '../baselines/baum-welch.ts';
import { countPairs } from '../baselines/counting.ts';
import type { LinkScores } from '../baselines/links.ts';

/** Draws a corpus into a temporary folder and reads it back as a user's would be. */
export function drawnCorpus(settings: SyntheticSettings): SyntheticCorpus {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-corpus-'));
  try {
    const target = path.join(folder, 'corpus');
    writeSyntheticCorpus(settings, target);
    return readSyntheticCorpus(target);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** What a set of links and their scores says of the truth. */
export interface LinkFigures {
  auc: number;
  edges_sampled: number;
  edges_truth: number;
  frobenius_truth: number;
}

/** Recovery of links that are called rather than given probabilities. */
export function linkFigures({ scores, links }: LinkScores, corpus: SyntheticCorpus): LinkFigures {
  const truth = corpus.truth!;
  const called = upperTriangle(links, truth.nodes);
  const edges = upperTriangle(truth.data, truth.nodes);
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  const wrong = called.reduce((count, link, i) => count + (link === edges[i] ? 0 : 1), 0);
  return {
    auc: rocAuc(upperTriangle(scores, truth.nodes), edges) ?? Number.NaN,
    edges_sampled: sum(called),
    edges_truth: sum(edges),
    frobenius_truth: Math.sqrt(wrong),
  };
}

export function countingFigures(corpus: SyntheticCorpus): LinkFigures {
  return linkFigures(countPairs(corpus.splits.train, corpus.length, corpus.bags!), corpus);
}

export function baumWelchFigures(corpus: SyntheticCorpus): LinkFigures {
  const options = { iterations: 200, limit: 20_000, tolerance: 1e-5, noise: 1e-3 };
  return linkFigures(baumWelch(corpus.splits.train, corpus.length, corpus.bags!, options), corpus);
}
