import path from 'node:path';
import type { SyntheticConfig, SyntheticCorpus } from '@hidden-schema/hsn';
import { evaluationText } from './evaluation-text.ts';
import { stoppable } from './stopping.ts';
import { say } from './terminal.ts';
import type { TrainAsked } from './train.ts';
import { report, trainPlan } from './training-run.ts';

/** Trains on a synthetic language. */
export async function trainSynthetic(config: SyntheticConfig, asked: TrainAsked): Promise<void> {
  const { checkTrainable } = await import('@hidden-schema/hsn/tasks/synthetic/training');
  const { readSyntheticCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/reader');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { SyntheticTask } = await import('@hidden-schema/hsn/tasks/synthetic/task');
  const { flags, out, replicas } = asked;
  const corpus = readSyntheticCorpus(asked.corpus, { seed: config.seed });
  const info = { directory: path.resolve(asked.corpus), fingerprint: corpus.fingerprint };
  const plan = {
    config,
    info,
    task: () => {
      checkTrainable(config, corpus);
      replicas.part(Math.min(config.training.batch, corpus.splits.train.count));
      return new SyntheticTask(config, corpus, replicas);
    },
    create: () => Run.create(out, config, info, { force: flags.force ?? false }),
    describe: () => describe(corpus),
    assignment: { config, corpus: info.directory, fingerprint: info.fingerprint },
  };
  const result = await stoppable((signal) => trainPlan(plan, asked, signal));
  if (result) await report(result, out, result.evaluation ? evaluationText(result.evaluation) : '');
}

function describe(corpus: SyntheticCorpus): void {
  const { train, valid, test } = corpus.splits;
  const truth = corpus.truth ? 'truth known' : 'no truth given: recovery figures are left out';
  const lines = [
    ...corpus.notes,
    `corpus: ${train.count} + ${valid.count} + ${test.count} sentences of ${corpus.length} tokens, ${truth}`,
  ];
  say(`${lines.join('\n')}\n`);
}
