import path from 'node:path';
import { withAnalysed } from '@hidden-schema/cli/analysis';
import type { OpenedRun } from '@hidden-schema/hsn/open';

/** One of the runs that a table or figure is made of. */
interface RunPlace {
  directory: string;
  /** What names of its files end in, where there are several runs. */
  suffix: string;
  signal: AbortSignal;
}

/** What is made of the best checkpoint of each run, one after another. */
export async function ofRuns<Made>(
  runs: readonly string[],
  make: (opened: OpenedRun, place: RunPlace) => Promise<Made>,
): Promise<Made[]> {
  const all: Made[] = [];
  for (const directory of runs) {
    const suffix = runs.length > 1 ? `-${path.basename(directory)}` : '';
    const made = await withAnalysed(directory, { checkpoint: 'best' }, (opened, signal) =>
      make(opened, { directory, suffix, signal }),
    );
    if (made !== undefined) all.push(made);
  }
  return all;
}

/** What differs from the paper whatever is shown. */
export const different =
  "The paper trained BERT and GPT-2 on the whole of each corpus; ours is the run's own encoder, decoder, corpus and size, named in its MODEL.md.";

/** Sentences whose walks a quick look reads. */
export const readAtMost = (quick: boolean | undefined): { limit?: string } => (quick ? { limit: '200' } : {});

export const corpusOf = ({ run }: Pick<OpenedRun, 'run'>): string =>
  path.basename(run.record.corpus.directory);

/** A run in a table: its model and corpus. */
export const titleOf = (run: Pick<OpenedRun, 'run' | 'symbols' | 'length'>): string =>
  `HSN(${run.symbols}, ${run.length}) on ${corpusOf(run)}`;
