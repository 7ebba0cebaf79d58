import path from 'node:path';
import type { Config, SyntheticCorpus } from '@hidden-schema/hsn';
import { diagnoseRun } from './diagnose.ts';
import { evaluationText } from './evaluation-text.ts';
import { profiled } from './profiling.ts';
import { assign } from './replicas.ts';
import { stoppable } from './stopping.ts';
import { live, say } from './terminal.ts';
import { type Asked, refuseChanges, report, withRun } from './training-run.ts';

/** Trains on a synthetic language. */
export async function trainSynthetic(config: Config, asked: Asked): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { checkTrainable, readSyntheticCorpus, Run, Session, SyntheticTask } = await import(
    '@hidden-schema/hsn'
  );
  const { flags, out, earlier, replicas } = asked;
  const corpus = readSyntheticCorpus(asked.corpus, { seed: config.seed });
  const info = { directory: path.resolve(asked.corpus), fingerprint: corpus.fingerprint };
  const changes = earlier?.differences(config, info) ?? [];
  if (!flags.force) refuseChanges(changes, out, UserError);
  checkTrainable(config, corpus);
  replicas.part(Math.min(config.training.batch, corpus.splits.train.count));
  if (flags.diagnose && earlier) return diagnoseRun(earlier, new SyntheticTask(config, corpus));
  const run = earlier
    ? Run.open(out, { write: true, config, force: flags.force ?? false })
    : Run.create(out, config, info, { force: flags.force ?? false });
  describe(corpus);
  const result = await withRun(run, () =>
    stoppable(async (signal) => {
      const session = new Session(run, new SyntheticTask(config, corpus, replicas), {
        resume: flags.resume ?? false,
        signal: AbortSignal.any([signal, replicas.stopped]),
        output: live,
        replicas,
      });
      // Only now: settings that the checkpoint does not fit must not replace those it does.
      if (changes.length > 0) run.adopt(info);
      await assign(replicas, { config, corpus: info.directory, fingerprint: info.fingerprint });
      return profiled(session, flags.profile);
    }),
  );
  await report(result, out, result.evaluation ? evaluationText(result.evaluation) : '');
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
