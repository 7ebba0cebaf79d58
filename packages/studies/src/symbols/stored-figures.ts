import type { OpenedRun } from '@hidden-schema/hsn/open';
import type { Run } from '@hidden-schema/hsn/run/run';
import { storeIfWritable } from '../texts/encoded-writer.ts';

const FILE = 'analysis/symbol-figures.json';
type Figures = Record<string, number | null>;

/** Stores figures of symbols with their run; a run that may only be read goes without. */
export function storeFigures({ run, step }: OpenedRun, figures: Figures): void {
  if (run.state !== 'running') storeIfWritable(run, FILE, { identity: run.identity, step, figures });
}

/** The figures of symbols that were last worked out for a run as it is now; undefined where there are none. */
export function storedSymbolFigures(run: Run): Figures | undefined {
  const stored = run.files.readIfWhole<{ identity?: unknown; figures?: unknown }>(FILE);
  if (stored?.identity !== run.identity || typeof stored.figures !== 'object' || stored.figures === null)
    return undefined;
  const known = Object.entries(stored.figures).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(known) as Figures;
}
