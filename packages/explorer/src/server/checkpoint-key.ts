import { bestStep, checkpointSteps } from '@hidden-schema/hsn/run/checkpoint';
import { Run } from '@hidden-schema/hsn/run/run';
import { Fault, notFound } from './fault.ts';

/** Milliseconds for which the folder is not looked at again. */
export const FRESH = 1000;

/** Names the checkpoint to show: another one when training has written a better. */
export function checkpointKey(directory: string): string {
  const run = Run.open(directory);
  const steps = checkpointSteps(run);
  if (steps.length === 0 && run.state === 'running')
    throw new Fault(
      409,
      'not_yet',
      'training has not written a checkpoint yet; the graph appears with the first',
    );
  // Once training has ended there is time for more sentences.
  return `${run.identity} ${bestStep(run) ?? steps.at(-1)} ${run.state === 'running'}`;
}

export function checkSymbol(k: number, symbols: number): void {
  if (k >= symbols) throw notFound(`there is no symbol ${k}; symbols are 0 to ${symbols - 1}`);
}
