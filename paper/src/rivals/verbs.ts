import { UserError } from '@hidden-schema/base/errors';
import { deliver, progressOf } from '@hidden-schema/cli/analysis';
import { type EvalFlags, openTestCorpus } from '@hidden-schema/cli/eval';
import { languageText } from '@hidden-schema/cli/evaluation-text';
import { type GenerateFlags, showTexts, writingOptions } from '@hidden-schema/cli/generate';
import type { InterpolateFlags } from '@hidden-schema/cli/interpolate';
import { print, say } from '@hidden-schema/cli/terminal';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { InterpolationOptions } from '@hidden-schema/studies/analysis/interpolate';
import { evaluateRival } from './evaluation.ts';
import { openRival } from './open.ts';

/** The figures of a model without walks. */
export async function evaluate(
  directory: string,
  flags: EvalFlags,
  limit: number | undefined,
): Promise<void> {
  const draws = (await wholeNumber('--walks', flags.walks))!;
  const opened = await openRival(directory, { checkpoint: flags.checkpoint });
  tell(opened.notes);
  const corpus = await openTestCorpus(opened, flags.corpus);
  try {
    const { onProgress, done } = await progressOf('eval', 'sentences');
    const options = { draws, onProgress, ...(limit === undefined ? {} : { limit }) };
    const figures = evaluateRival(opened.model, corpus, opened.texts.frames, options);
    done();
    print(flags.json ? `${JSON.stringify(figures, null, 2)}\n` : languageText(figures));
  } finally {
    corpus.close();
    opened.model.free();
  }
}

/** Sentences of a model without walks: about another sentence's latent, or about latents of the prior. */
export async function generate(directory: string, flags: GenerateFlags): Promise<void> {
  if (flags.walk !== undefined)
    throw new UserError(`${directory} has no walks; give --like "a sentence" or --prior`);
  if ((flags.like === undefined) === !flags.prior)
    throw new UserError('what about? give either --like "a sentence" or --prior');
  const { count = 1, ...options } = await writingOptions(flags);
  const { texts, notes } = await openRival(directory, { checkpoint: flags.checkpoint });
  tell(notes);
  const read = flags.like === undefined ? undefined : (await texts.read([flags.like]))[0]!;
  const latents = read ? Array.from({ length: count }, () => read) : texts.fromPrior(count, options.seed);
  showTexts(await texts.write(latents, options), flags);
}

/** The straight way between two latents, which no graph bends. */
export async function interpolate(
  directory: string,
  [first, second]: readonly [string, string],
  { steps, write }: InterpolationOptions,
  flags: InterpolateFlags,
): Promise<void> {
  if (flags.nodewise) throw new UserError(`${directory} has no walks, so that --nodewise has no meaning`);
  const { texts, notes, model } = await openRival(directory, { checkpoint: flags.checkpoint });
  tell(notes);
  try {
    const written = await texts.between(first, second, { ...write, steps: steps! });
    await deliver(directory, flags, {
      name: 'interpolation',
      data: { first, second, steps: written },
      sheets: [
        {
          name: 'interpolation',
          title: 'Interpolation',
          columns: [{ title: 'step' }, { title: 'text' }],
          rows: [['from', first], ...written.map((text, i) => [i, text]), ['to', second]],
        },
      ],
    });
  } finally {
    model.free();
  }
}

function tell(notes: readonly string[]): void {
  for (const note of notes) say(`${note}\n`);
}
