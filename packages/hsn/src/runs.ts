// What lists and names runs need: reading them takes a fraction of the modules that training does.

export { stateBefore } from './run/edits.ts';
export { Run } from './run/run.ts';
export { RunChanged } from './run/run-faults.ts';
export { isRunEntry, RunFiles } from './run/run-files.ts';
export { listRuns } from './run/run-summary.ts';
