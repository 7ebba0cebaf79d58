import { BERT, cyclicalObjective, GPT2, inhomogeneousWalk, pairsGraph, plainTraining } from './language.ts';
import { type PresetSettings, stepsOf } from './preset.ts';

/** Appendix H.1. */
const TUPLES = 710_000;

/**
 * Section 6 and appendix H: the network over tuples, and the model of second halves that reads (s, r) by a BERT of its
 * own. Neither says how either is trained, so that appendix F.1's batch, rate, schedule and epochs stand here. The
 * section has 100 symbols, Table 3 has HSN(50, 20).
 */
export function tuplesPreset(symbols: number): PresetSettings {
  const steps = stepsOf(TUPLES, 32, 100).all;
  return {
    ...{ model: 'reasoning', symbols, length: 20 },
    tuples: { none: 'keep' },
    graph: { ...pairsGraph, klWeight: 'one' },
    walk: { ...inhomogeneousWalk, hard: false },
    encoder: { name: BERT, frozen: false, walks: 'queries', sharpness: 1 },
    decoder: {
      ...{ name: GPT2, wordDropout: 0, symbolAttention: 'paper', symbolPositions: 1, symbolDeviation: 0.02 },
    },
    objective: cyclicalObjective(steps),
    warmStart: { steps: 0, hold: 0 },
    path: {
      ...{ kind: 'lstm', hidden: 512, onGraph: false, targets: 'samples', reading: 'drawn' },
      encoder: { name: BERT, frozen: false },
    },
    training: plainTraining(steps),
  };
}
