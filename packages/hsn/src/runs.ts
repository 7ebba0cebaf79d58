// What lists and names runs need: reading them takes a fraction of the modules that training does.
export { Run } from './run/run.ts';
export { listRuns } from './run/run-summary.ts';
