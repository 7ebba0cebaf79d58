import { UserError } from '@hidden-schema/base/errors';
import type { FittedMixture } from '@hidden-schema/studies';
import { progressOf } from './analysis.ts';
import { print } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

/** Flags of `hsn reason train` that fitting a mixture takes; others belong to training. */
interface MixtureFlags {
  run?: string;
  comet?: string;
  memory?: string;
  encoder?: string;
  encoderPrecision?: string;
  limit?: string;
  out?: string;
  tuples?: string;
  decoder?: string;
  set: readonly string[];
}

/** Fits how much each part counts for an answer: `hsn reason train --part mixture`. */
export async function fitMixture(file: string | undefined, flags: MixtureFlags): Promise<void> {
  const { run, comet, out, tuples, decoder } = flags;
  if (!run) throw new UserError("a mixture is of a network's answers: give --run, its folder");
  const others = {
    '--out': out,
    '--tuples': tuples,
    '--decoder': decoder,
    '--set': flags.set[0],
    'a settings file': file,
  };
  for (const [flag, value] of Object.entries(others))
    if (value !== undefined)
      throw new UserError(`a mixture is fitted to the run as it is: ${flag} is not taken`);
  const limit = wholeNumber('--limit', flags.limit);
  const { memories } = await import('@hidden-schema/studies/reasoning/event-memory');
  const { trainMixture } = await import('@hidden-schema/studies/reasoning/mixture-run');
  const splits = memories.find((one) => one === (flags.memory ?? 'train'));
  if (splits === undefined)
    throw new UserError(`--memory takes ${memories.join(' or ')}, got ${flags.memory}`);
  const { onProgress, done } = await collecting();
  const fitted = await trainMixture(run, {
    ...(comet === undefined ? {} : { comet }),
    ...(limit === undefined ? {} : { limit }),
    memory: { splits, ...(await encoderOf(flags)) },
    onProgress,
  }).finally(done);
  print(mixtureText(fitted));
}

/** Progress of what a mixture collects for its questions. */
export const collecting = () => progressOf('collect answers', 'questions');

async function encoderOf({ encoder, encoderPrecision = 'float32' }: MixtureFlags) {
  const { precisions } = await import('@hidden-schema/studies/reasoning/event-memory');
  const precision = precisions.find((one) => one === encoderPrecision);
  if (precision === undefined)
    throw new UserError(`--encoder-precision takes ${precisions.join(', ')}, got ${encoderPrecision}`);
  return encoder === undefined ? {} : { encoder, precision };
}

function mixtureText({ questions, recall, weights }: FittedMixture): string {
  const lines = Object.entries(weights).map(([kind, { shared }]) => {
    const parts = Object.entries(shared).map(([part, weight]) => `${part} ${weight.toFixed(2)}`);
    return `  ${kind.padEnd(10)}  ${(recall[kind as keyof typeof recall] ?? 0).toFixed(3)}  ${parts.join(', ')}\n`;
  });
  return `mixtures fitted on ${questions} valid questions; recall@10 on these, and the weights of all relations:\n${lines.join('')}`;
}
