import { UserError } from '@hidden-schema/base/errors';
import type { SubsampleStability } from '@hidden-schema/studies/measures/subsample-stability';
import type { Judge } from '@hidden-schema/studies/symbols/judge';
import type { JudgedFigures, MeasuredRun } from '@hidden-schema/studies/symbols/judged-figures';
import { progressOf } from './analysis.ts';
import type { RunSymbolFigures } from './evaluation-text.ts';
import { say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

/** What of eval's flags says how symbols are measured. */
export interface SymbolFlags {
  checkpoint: string;
  corpus?: string;
  stages?: boolean;
  stability?: boolean;
  judge?: string;
  referenceCorpus?: string;
  subsamples?: string;
}

/** All that is measured of symbols: what is asked for beside their own figures is missing without it. */
interface Symbols {
  figures: RunSymbolFigures;
  judged: JudgedFigures | undefined;
  subsamples: SubsampleStability | undefined;
}

/** The flags among those of symbols' measures that are given. */
export function measuresOf({ judge, referenceCorpus, subsamples }: SymbolFlags): string[] {
  const given = { '--judge': judge, '--reference-corpus': referenceCorpus, '--subsamples': subsamples };
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** Refuses flags of symbols' measures where no symbols are measured, before anything is opened. */
export function checkMeasures(flags: SymbolFlags): void {
  const [first] = measuresOf(flags);
  if (first === undefined) return;
  const other = flags.stages ? '--stages' : flags.corpus === undefined ? undefined : '--corpus';
  if (other) throw new UserError(`${first} measures the symbols of the run's own texts; leave out ${other}`);
}

export async function symbolsText({ figures, judged, subsamples }: Symbols): Promise<string> {
  const { judgedText, subsampleText, symbolText } = await import('./evaluation-text.ts');
  return `${judged ? judgedText(judged) : ''}${subsamples ? subsampleText(subsamples) : ''}${symbolText(figures)}`;
}

export const symbolsJson = (symbols: Symbols | undefined) => {
  const { figures, ...more } = symbols ?? {};
  return figures ? { symbols: { ...figures, ...more } } : {};
};

/** How good symbols are for a reader of texts; another corpus has no walks that are stored with the run. */
export async function evaluateSymbols(
  directory: string,
  flags: Omit<SymbolFlags, 'stages'>,
): Promise<Symbols | undefined> {
  if (flags.corpus !== undefined) return undefined;
  const { Judge } = await import('@hidden-schema/studies/symbols/judge');
  const { readReference } = await import('@hidden-schema/studies/measures/reference-texts');
  const { openRun } = await import('@hidden-schema/studies/runs/opened');
  const { encodedCorpus } = await import('@hidden-schema/studies/texts/encoded');
  const { storedMeanings } = await import('@hidden-schema/studies/symbols/stored-meanings');
  const { subsampleFigures, referenceNpmi } = await import('@hidden-schema/studies/symbols/judged-figures');
  const { symbolFigures } = await import('@hidden-schema/studies/symbols/symbol-figures');
  const subsamples = wholeNumber('--subsamples', flags.subsamples, 2);
  const { referenceCorpus, stability = true } = flags;
  const judge = flags.judge === undefined ? undefined : await Judge.open(flags.judge);
  const reference = referenceCorpus === undefined ? undefined : await readReference(referenceCorpus);
  const run = await openRun(directory, { checkpoint: flags.checkpoint });
  const { onProgress, done } = await progressOf('read', 'texts');
  const encoded = await encodedCorpus(run, { onProgress });
  try {
    const meanings = await storedMeanings(run, { encoded });
    done();
    const judged = judge && (await judgedBy(judge, { run, encoded, meanings }));
    const stable = subsamples === undefined ? undefined : await subsampleFigures(run, subsamples);
    if (subsamples !== undefined && !stable)
      say(
        '--subsamples: the walks of this run are learned and not found, so there is nothing to find again\n',
      );
    const { figures, note } = await symbolFigures(run, encoded, meanings, { stability });
    if (note) say(`${note}\n`);
    const elsewhere = reference ? { npmi_reference: referenceNpmi(meanings, reference) } : {};
    return { figures: { ...figures, ...elsewhere }, judged, subsamples: stable };
  } finally {
    judge?.free();
    encoded.close();
    run.model.free();
  }
}

async function judgedBy(judge: Judge, measured: MeasuredRun): Promise<JudgedFigures> {
  const { judgedFigures } = await import('@hidden-schema/studies/symbols/judged-figures');
  const { onProgress, done } = await progressOf('judge', 'texts');
  try {
    return await judgedFigures(measured, judge, { onProgress });
  } finally {
    done();
  }
}
