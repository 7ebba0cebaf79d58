import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import { publishedTimes } from './published.ts';

/** A run that took time. */
export interface TrainedRun {
  corpus: string;
  model: string;
  /** Of training, preparation included. */
  seconds: number;
  steps: number;
  sentences: number;
  /** Mean words of a text. */
  words: number;
  parameters: number;
}

/** Table 8: what our runs took, above what the paper's did. */
export function timesSheet(runs: readonly TrainedRun[]): Sheet {
  return {
    name: 'table8',
    title: 'Training times, ours beside the paper’s Table 8',
    caption:
      'Hours of the whole run, preparation and evaluations included. The paper’s models have about 252 million parameters and trained on one NVIDIA A100; it prints 877 sentences for ATOMIC, which has about 877 thousand.',
    columns: [
      { title: 'corpus' },
      { title: 'model' },
      { title: 'hours', digits: 3 },
      { title: 'training sentences', align: 'right' },
      { title: 'words a sentence', digits: 1 },
      { title: 'steps' },
      { title: 'million parameters', digits: 1 },
    ],
    rows: [
      ...runs.map((run) => [
        ...[run.corpus, run.model, run.seconds / 3600, run.sentences],
        ...[run.words, run.steps, run.parameters / 1e6],
      ]),
      ...publishedTimes.map(([corpus, hours, sentences, words]) => [
        ...[corpus, 'the paper, mean of all sizes', hours, sentences, words, undefined, 252],
      ]),
    ],
  };
}
