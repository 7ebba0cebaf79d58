import { UserError } from '@hidden-schema/base/errors';
import { deliver, progressOf } from '@hidden-schema/cli/analysis';
import type { Flags } from '@hidden-schema/cli/analysis-verb';
import { type EvalFlags, openTestCorpus } from '@hidden-schema/cli/eval';
import { languageText } from '@hidden-schema/cli/evaluation-text';
import { print, say } from '@hidden-schema/cli/terminal';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import { analyses } from '@hidden-schema/studies/analyses';
import { checkOptions } from '@hidden-schema/studies/analyses/options';
import { oneLine, writingOf } from '@hidden-schema/studies/analyses/writing';
import { plainJson } from '@hidden-schema/studies/drawing/results';
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
export async function generate(
  directory: string,
  options: Readonly<Record<string, unknown>>,
  flags: Flags,
): Promise<void> {
  if (options.walk !== undefined)
    throw new UserError(`${directory} has no walks; give --like "a sentence" or --prior`);
  if ((options.like === undefined) === !flags.prior)
    throw new UserError('what about? give either --like "a sentence" or --prior');
  const analysis = await analyses.generate();
  const { like, count, ...asked } = checkOptions(analysis, options);
  const write = writingOf(asked, {});
  const { texts, notes } = await openRival(directory, { checkpoint: flags.checkpoint });
  tell(notes);
  const read = like === undefined ? undefined : (await texts.read([like]))[0]!;
  const latents = read ? Array.from({ length: count }, () => read) : texts.fromPrior(count, write.seed);
  const written = { texts: await texts.write(latents, write) };
  if (flags.json) return print(plainJson(written));
  for (const text of written.texts) print(`${oneLine(text)}\n`);
}

/** The straight way between two latents, which no graph bends. */
export async function interpolate(
  directory: string,
  options: Readonly<Record<string, unknown>>,
  flags: Flags,
): Promise<void> {
  const {
    from: first,
    to: second,
    variant,
    steps,
    ...asked
  } = checkOptions(await analyses.interpolate(), options);
  if (variant === 'nodes')
    throw new UserError(`${directory} has no walks, so that --nodewise has no meaning`);
  const { texts, notes, model } = await openRival(directory, { checkpoint: flags.checkpoint });
  tell(notes);
  try {
    const written = await texts.between(first, second, { ...writingOf(asked, {}), steps });
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
