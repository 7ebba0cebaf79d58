import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn/open';

/** The checkpoint that tables and figures look at. */
export const checkpoint = { checkpoint: 'best' };

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
