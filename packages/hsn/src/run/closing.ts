import type { Run } from './run.ts';

/** Trains a run and closes it; a fault marks it as crashed. */
export async function closingRun<T>(run: Run, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    markCrashed(run);
    throw error;
  } finally {
    run.close();
  }
}

function markCrashed(run: Run): void {
  try {
    run.setState('crashed');
  } catch {
    // The folder may be what was lost; the fault that ended training is the one to show.
  }
}
