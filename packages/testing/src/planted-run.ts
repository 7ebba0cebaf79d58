// A planted corpus, and networks over it that train in seconds.

import { type ReasoningConfig, reasoningConfigSchema } from '@hidden-schema/hsn';
import type { z } from 'zod';

type Input = Omit<z.input<typeof reasoningConfigSchema>, 'model'>;

/** Encoder and decoder from scratch, walks of two and two steps. */
export function tinyReasoning(changes: Input = {}): ReasoningConfig {
  const { encoder, decoder, training, warmStart, ...rest } = changes;
  return reasoningConfigSchema.parse({
    model: 'reasoning',
    symbols: 16,
    length: 4,
    ...rest,
    encoder: { name: 'transformer', width: 32, layers: 1, heads: 2, longest: 32, dropout: 0, ...encoder },
    decoder: {
      width: 48,
      layers: 1,
      heads: 2,
      vocabularySize: 400,
      dropout: 0,
      wordDropout: 0,
      longest: 32,
      ...decoder,
    },
    warmStart: { steps: 150, rate: 3e-3, choices: 4, ...warmStart },
    training: { steps: 250, batch: 32, rate: 3e-3, warmup: 10, evaluateEvery: 125, ...training },
  });
}

/** A small path model for that network. */
export function tinyPath(kind: 'lstm' | 'transformer'): ReasoningConfig {
  const encoder = { name: 'transformer', width: 32, layers: 1, heads: 2 };
  const path = { kind, hidden: 32, width: 32, layers: 1, heads: 2, dropout: 0, encoder };
  const training = { steps: 450, evaluateEvery: 225 };
  const network = tinyReasoning({ path, training });
  return { ...network, part: 'path' };
}

/** The same as `--set` arguments of a few steps. */
export const tinyReasoningFlags: readonly string[] = [
  'symbols=8',
  'length=4',
  'encoder.name=transformer',
  'encoder.width=16',
  'encoder.layers=1',
  'encoder.heads=2',
  'decoder.width=16',
  'decoder.layers=1',
  'decoder.heads=2',
  'decoder.vocabularySize=300',
  'warmStart.steps=4',
  'training.steps=6',
  'training.batch=16',
  'training.warmup=1',
  'training.evaluateEvery=3',
].flatMap((setting) => ['--set', setting]);

export const tinyPathFlags: readonly string[] = [
  'path.hidden=8',
  'path.width=16',
  'path.layers=1',
  'path.heads=2',
  'path.encoder.name=transformer',
  'path.encoder.width=16',
  'path.encoder.layers=1',
  'path.encoder.heads=2',
  'training.steps=4',
  'training.evaluateEvery=2',
].flatMap((setting) => ['--set', setting]);
