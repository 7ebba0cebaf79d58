import { UserError } from '@hidden-schema/base';
import type { PreparedReasoning, ReasoningFigures, Replicas } from '@hidden-schema/hsn';
import { tuplesConfig } from '@hidden-schema/hsn/config/settings';
import { corpusPlaces } from '@hidden-schema/hsn/run/corpus-places';
import { Run, refuseEdits } from '@hidden-schema/hsn/run/run';
import { checkRunFolder } from '@hidden-schema/hsn/run/run-target';
import { createReasoningRun, prepareReasoning, tupleRecord } from '@hidden-schema/hsn/tasks/tuples/prepare';
import { ReasoningTask } from '@hidden-schema/hsn/tasks/tuples/task';
import { type ReasonTrainFlags, reasonSettings, report } from './reason-train-settings.ts';
import { stoppable } from './stopping.ts';
import { say } from './terminal.ts';
import { trainPlan } from './training-run.ts';

/** Trains a network of tuples, or COMET. */
export async function trainNetwork(
  file: string | undefined,
  flags: ReasonTrainFlags,
  replicas: Replicas,
): Promise<void> {
  const { out } = flags;
  if (!out) throw new UserError('where to? give --out, the folder of the run');
  const earlier = flags.resume || flags.diagnose ? Run.open(out) : undefined;
  if (earlier && !flags.force) refuseEdits(earlier.edits(), out);
  const own = earlier && tuplesConfig(earlier.config);
  const comet = flags.part === 'comet' ? ['baseline=true'] : [];
  const decoder = flags.decoder === undefined ? [] : [`decoder.name=${flags.decoder}`];
  const config = await reasonSettings(file, own, [...comet, ...decoder, ...flags.set]);
  const tuples = flags.tuples ?? (earlier && corpusPlaces(earlier)[0]);
  if (tuples === undefined) throw new UserError('which tuples? give --tuples <file or folder>');
  if (!earlier) checkRunFolder(out, flags.force ?? false);
  const known = earlier ? { tokenizer: tupleRecord(earlier).tokenizer } : {};
  const prepared = await prepareReasoning(config, tuples, known);
  const { info, tokenizers } = prepared;
  const plan = {
    config,
    info,
    task: () => new ReasoningTask(prepared, replicas),
    create: () => createReasoningRun(out, prepared, { force: flags.force ?? false }),
    describe: () => describe(prepared),
    assignment: {
      config,
      fingerprint: info.fingerprint,
      tuples: { input: info.directory, tokenizer: tokenizers.decoder.json },
    },
  };
  const asked = { flags, out, earlier, replicas };
  const result = await stoppable((signal) => trainPlan(plan, asked, signal));
  if (result) report(result, out, result.evaluation ? networkText(result.evaluation) : '');
}

function describe({ config, tokenizers, model, notes }: PreparedReasoning): void {
  // COMET has no walks to read.
  const trained = config.baseline ? model.decoder : model;
  const parameters = trained.parameters().reduce((sum, { size }) => sum + size, 0);
  const what = config.baseline
    ? 'COMET: the decoder without walks'
    : `${config.symbols} symbols, walks of ${config.length / 2} + ${config.length / 2} steps, encoder ${config.encoder.name}${model.encoder.frozen ? ' (frozen)' : ''}`;
  const size = `${tokenizers.decoder.vocabulary} tokens, ${(parameters / 1e6).toFixed(1)} million parameters to train`;
  say(`${[...notes, `model: ${what}, ${size}`].join('\n')}\n`);
}

function networkText({
  tuples,
  perplexity,
  reconstruction,
  information,
  symbols_used,
}: ReasoningFigures): string {
  const lines = [
    `  perplexity of objects  ${perplexity.toFixed(2)}  per token, given s, r${information === undefined ? '' : ' and the walk'}\n`,
    `  reconstruction         ${reconstruction.toFixed(3)}  nats an object\n`,
    ...(information === undefined
      ? []
      : [`  information            ${information.toFixed(2)}  nats in walks\n`]),
    ...(symbols_used === undefined ? [] : [`  symbols used           ${symbols_used}\n`]),
  ];
  return `on ${tuples} test tuples, events unseen:\n${lines.join('')}`;
}
