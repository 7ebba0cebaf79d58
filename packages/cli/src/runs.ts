import type { RunSummary } from '@hidden-schema/hsn/run/run-summary';
import type { Command } from 'commander';
import { print, terminalWidth } from './terminal.ts';

const examples = `
Examples:
  $ hsn runs                 the runs under runs/
  $ hsn runs experiments --json

States: running (a process holds the run), finished, stopped (continue with hsn train --resume), crashed (ended without
a word, or on a fault: the last checkpoint is there), damaged (its files cannot be read; hsn verify says more).
`;

export function register(program: Command): void {
  program
    .command('runs')
    .summary('list runs: state, last figures, checkpoints')
    .description('List the runs in a folder with their state, last figures and checkpoints.')
    .argument('[folder]', 'folder that holds runs', 'runs')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(list);
}

async function list(folder: string, flags: { json?: boolean }): Promise<void> {
  const { listRuns } = await import('@hidden-schema/hsn/run/run-summary');
  const runs = listRuns(folder);
  if (flags.json) print(`${JSON.stringify(runs, null, 2)}\n`);
  else print(runs.length === 0 ? `no runs in ${folder}\n` : await table(runs));
}

/** Figures that say most, in this order. */
const figures = ['loss', 'validation', 'auc', 'perplexity', 'kl_walk'];

async function table(runs: readonly RunSummary[]): Promise<string> {
  const { formatTable } = await import('@hidden-schema/base/tables');
  const rows = runs.map((run) => [run.run, run.state, stepsOf(run), figuresOf(run), checkpointsOf(run)]);
  const titles = ['run', 'state', 'step', 'last figures', 'checkpoints'];
  const columns = titles.map((title) => ({ title, align: 'left' as const }));
  return formatTable(columns, rows, 'terminal', terminalWidth());
}

const stepsOf = ({ step, steps }: RunSummary): string => (steps === undefined ? '' : `${step ?? 0}/${steps}`);

function figuresOf({ metrics, fault, failure }: RunSummary): string {
  if (fault !== undefined) return fault;
  const shown = figures.flatMap((name) =>
    metrics?.[name] === undefined ? [] : [`${name} ${Number(metrics[name].toPrecision(4))}`],
  );
  return [...(failure ? [`${failure.term} was ${failure.value}`] : []), ...shown].join('  ');
}

function checkpointsOf({ checkpoints = [], best }: RunSummary): string {
  return checkpoints.map((step) => (step === best ? `${step} (best)` : String(step))).join(', ');
}
