// A language small enough to train on in a second.

import {
  readSyntheticCorpus,
  SYNTHETIC_DEFAULTS,
  type SyntheticConfig,
  type SyntheticCorpus,
  type SyntheticSettings,
  syntheticOptions,
  writeSyntheticCorpus,
} from '@hidden-schema/hsn';
import type { z } from 'zod';
import './one-thread.ts';

/** K = 8 symbols on a Barabási-Albert graph, L = 5, 400 sentences; some tokens are in several bags. */
export const tinySettings: SyntheticSettings = {
  ...SYNTHETIC_DEFAULTS,
  graphOptions: { attach: 2 },
  nodes: 8,
  tokens: 12,
  length: 5,
  sentences: 400,
  seed: 3,
};

export function tinyCorpus(folder: string, changes: Partial<SyntheticSettings> = {}): SyntheticCorpus {
  writeSyntheticCorpus({ ...tinySettings, ...changes }, folder);
  return readSyntheticCorpus(folder);
}

type ConfigInput = z.input<typeof syntheticOptions>;

/** Settings for that language: a small encoder, few steps, an evaluation every 5. */
export function tinyConfig(changes: ConfigInput = {}): SyntheticConfig {
  const { encoder, training, graph, ...rest } = changes;
  return syntheticOptions.parse({
    ...rest,
    graph: { hidden: 8, symbolDimension: 6, ...graph },
    encoder: { width: 16, heads: 2, blocks: 1, hidden: 16, ...encoder },
    training: { steps: 15, batch: 64, warmup: 2, logEvery: 1, evaluateEvery: 5, ...training },
  });
}

/** The same as `--set` arguments. */
export const tinyFlags: readonly string[] = [
  'graph.hidden=8',
  'encoder.width=16',
  'encoder.blocks=1',
  'encoder.hidden=16',
  'training.steps=15',
  'training.batch=64',
  'training.warmup=2',
  'training.logEvery=1',
  'training.evaluateEvery=5',
].flatMap((setting) => ['--set', setting]);
