// The uninterrupted run beside a soak. Usage: soak-reference.ts RUN, with lines {"step": N, "last": true|false} on
// standard input: it trains up to the evaluation before N, and with `last` to N itself.
import { createInterface } from 'node:readline';
import {
  Run,
  readSyntheticCorpus,
  Session,
  type SyntheticEvaluation,
  SyntheticTask,
  syntheticConfig,
  type Task,
} from '@hidden-schema/hsn';

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('expected RUN');
const run = Run.open(directory, { write: true });
const config = syntheticConfig(run.config);
const corpus = readSyntheticCorpus(run.record.corpus.directory, { seed: config.seed });

let allowed = 0;
let end = Number.POSITIVE_INFINITY;
let wake = () => {};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { step, last } = JSON.parse(line) as { step: number; last: boolean };
  allowed = step;
  if (last) end = step;
  wake();
});

const inner = new SyntheticTask(config, corpus);
/** Waits at each evaluation until the steps up to the next one are allowed. */
const task: Task<SyntheticEvaluation> = {
  trainer: inner.trainer,
  preparation: inner.preparation,
  inspect: async () => {
    const next = inner.trainer.step + config.training.evaluateEvery;
    while (allowed < next && end === Number.POSITIVE_INFINITY)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return inner.inspect();
  },
  evaluate: () => inner.evaluate(),
  artifacts: () => inner.artifacts(),
};
const { signal } = new AbortController();
Object.defineProperty(signal, 'aborted', { get: () => task.trainer.step >= end });
const result = await new Session(run, task, { signal, output: { write: () => true } }).train();
run.close();
process.stderr.write(`the uninterrupted run is at step ${result.step}\n`);
process.exit(0);
