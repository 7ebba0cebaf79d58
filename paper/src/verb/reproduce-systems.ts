import path from 'node:path';
import { deliver } from '@hidden-schema/cli/analysis';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { OpenedLanguage } from '@hidden-schema/hsn/tasks/language/open';
import type { TextCorpus } from '@hidden-schema/text/corpus';
import type { System, SystemRow } from '../reproduction/systems.ts';
import { evaluateRival } from '../rivals/evaluation.ts';
import { type OpenedRival, openRival } from '../rivals/open.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { type Look, lookOf, namedPaths } from './reproduce-flags.ts';
import { trainedRun } from './reproduce-run.ts';

const quickLook: Look = { limit: 300, walks: 20, graphs: 5 };

/** Trains the systems of Table 2 that were asked for at equal size and steps; finished runs of --out are kept. */
export async function reproduceSystems(flags: ReproduceFlags): Promise<Reproduced> {
  const { systemsFigure, systemsSheet } = await import('../reproduction/systems.ts');
  const wanted = await systemsOf(flags.systems!);
  const expected = 'expected NAME=FILE or FOLDER (ptb, yahoo and yelp have published figures)';
  const { UserError } = await import('@hidden-schema/base');
  if (!flags.corpus) throw new UserError(`table2 needs texts: give --corpus, ${expected}`);
  const corpora = await namedPaths(flags.corpus, expected);
  const rows: SystemRow[] = [];
  const result = (): Reproduced => {
    const sheet = systemsSheet(rows, caption(flags));
    const names = [...new Set(rows.map(({ corpus }) => corpus))];
    const figures = names.map((corpus) => systemsFigure(rows, corpus));
    return { name: 'table2-systems', title: sheet.title, data: rows, sheets: [sheet], figures, seeds: [1] };
  };
  for (const [name, input] of corpora) {
    for (const system of wanted) {
      rows.push(await rowOf({ corpus: name.toLowerCase(), input, system }, flags));
      await deliver('', { out: flags.out }, result());
    }
  }
  return result();
}

async function systemsOf(list: string): Promise<readonly System[]> {
  const { UserError } = await import('@hidden-schema/base');
  const { systems } = await import('../reproduction/systems.ts');
  if (list === 'all') return systems;
  return list.split(',').map((name) => {
    const found = systems.find((one) => one === name.trim());
    if (found) return found;
    throw new UserError(`--systems takes all, or some of ${systems.join(', ')}; got "${name.trim()}"`);
  });
}

async function rowOf(
  { corpus, input, system }: { corpus: string; input: string; system: System },
  flags: ReproduceFlags,
): Promise<SystemRow> {
  const { systemConfig } = await import('../reproduction/systems.ts');
  const steps = await wholeNumber('--steps', flags.steps);
  const quick = flags.quick ?? false;
  const set = flags.set ?? [];
  const config = systemConfig(system, { quick, set, ...(steps === undefined ? {} : { steps }) });
  const kind = `${quick ? '-quick' : ''}-${config.training.steps}`;
  const out = path.join(flags.out, `systems${kind}-${corpus}-${system}`);
  const spent = await trainedRun(config, input, out);
  const { figures, parameters } = await measured(out, await lookOf(flags, quickLook));
  return { corpus, system, ...spent, parameters, figures };
}

type Measured = Pick<SystemRow, 'figures' | 'parameters'>;

/** The figures of a run's best model by the same estimator, whichever system it is. */
async function measured(directory: string, look: Look): Promise<Measured> {
  const { isRival } = await import('@hidden-schema/hsn/config/rivals');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { openLanguage } = await import('@hidden-schema/hsn/tasks/language/open');
  const { languageFigures } = await import('@hidden-schema/hsn/tasks/language/task');
  if (!isRival(Run.open(directory).config))
    return withCorpus(await openLanguage(directory), ({ model, texts }, corpus) =>
      languageFigures(model, corpus, texts.frames, look),
    );
  // As many draws as walks on all graphs.
  const draws = look.walks * look.graphs;
  return withCorpus(await openRival(directory), ({ model, texts }, corpus) =>
    evaluateRival(model, corpus, texts.frames, { limit: look.limit, draws }),
  );
}

async function withCorpus<Opened extends OpenedLanguage | OpenedRival>(
  opened: Opened,
  figuresOf: (opened: Opened, corpus: TextCorpus) => SystemRow['figures'],
): Promise<Measured> {
  const { openLanguageCorpus } = await import('@hidden-schema/hsn/tasks/language/open');
  const corpus = await openLanguageCorpus(opened);
  try {
    const parameters = opened.model.parameters().reduce((sum, { size }) => sum + size, 0);
    return { figures: figuresOf(opened, corpus), parameters };
  } finally {
    corpus.close();
    opened.model.free();
  }
}

const caption = (flags: ReproduceFlags): string =>
  [
    "The paper's figures of its rivals were copied from other papers, at other sizes and budgets; here all systems have",
    'the same corpus, tokens, decoder size, batch and steps, and one estimator of perplexity with as many draws. Perplexity',
    "is per token of the decoder's vocabulary. MI exact is that of the test sentences against their aggregated posterior,",
    'at most log N; an implicit posterior is stood in for by the Gaussian of 64 draws. Active: dimensions, or symbols.',
    flags.quick ? 'Quick: a small decoder, few test sentences.' : '',
  ]
    .join(' ')
    .trim();
