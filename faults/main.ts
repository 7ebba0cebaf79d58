// npm run -s faults                     every row at full count
// npm run -s faults -- 1 6 checkpoints  some rows, or groups
// npm run -s faults -- --share 0.02     a part of each count
// Each row prints {"row":…,"injected":…,"survived":…}; the exit code is 1 unless all survived.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Fault, type FaultGroup, runFault } from './tally.ts';

/** Every group by the name that runs it; a new one is a module with `faults` and a line here. */
export const groups: Readonly<Record<string, () => Promise<FaultGroup>>> = {
  checkpoints: () => import('./checkpoints.ts'),
  resume: () => import('./resume.ts'),
  signals: () => import('./signals.ts'),
  numbers: () => import('./numbers.ts'),
  resources: () => import('./resources.ts'),
  weights: () => import('./weights.ts'),
  corpora: () => import('./corpora.ts'),
  events: () => import('./events.ts'),
  downloads: () => import('./downloads.ts'),
  'hub-cache': () => import('./hub-cache.ts'),
  'untrusted-sizes': () => import('./untrusted-sizes.ts'),
  settings: () => import('./settings.ts'),
  server: () => import('./server.ts'),
  operators: () => import('./operators.ts'),
  group: () => import('./group.ts'),
  install: () => import('./install.ts'),
  'run-locks': () => import('./run-locks.ts'),
  'edited-runs': () => import('./edited-runs.ts'),
  outputs: () => import('./outputs.ts'),
  parquet: () => import('./parquet.ts'),
  'endless-lines': () => import('./endless-lines.ts'),
  names: () => import('./names.ts'),
  'hostile-runs': () => import('./hostile-runs.ts'),
  'changed-corpora': () => import('./changed-corpora.ts'),
  'foreign-corpora': () => import('./foreign-corpora.ts'),
  overwriting: () => import('./overwriting.ts'),
  'hostile-edits': () => import('./hostile-edits.ts'),
  'edits-at-once': () => import('./edits-at-once.ts'),
  flips: () => import('./flips.ts'),
  'explorer-edits': () => import('./explorer-edits.ts'),
  crowds: () => import('./crowds.ts'),
  dependency: () => import('./dependency.ts'),
  'stopped-ranks': () => import('./stopped-ranks.ts'),
};

async function chosen(asked: readonly string[]): Promise<Fault[]> {
  const names = asked.filter((name) => name in groups);
  const rows = asked.filter((name) => !(name in groups)).map(Number);
  const wrong = rows.findIndex((row) => !Number.isInteger(row));
  if (wrong !== -1)
    throw new Error(`expected rows of the fault table or groups (${Object.keys(groups).join(', ')})`);
  const loaded = await Promise.all(
    (rows.length > 0 || asked.length === 0 ? Object.keys(groups) : names).map(async (name) => ({
      name,
      ...(await groups[name]!()),
    })),
  );
  const picked = loaded.flatMap(({ name, faults }) =>
    faults.filter(({ row }) => asked.length === 0 || names.includes(name) || rows.includes(row)),
  );
  const missing = rows.find((row) => !picked.some((fault) => fault.row === row));
  if (missing !== undefined) throw new Error(`no group injects row ${missing}`);
  return picked.sort((a, b) => a.row - b.row);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { share: { type: 'string', default: '1' } },
  });
  const share = Number(values.share);
  if (!(share > 0 && share <= 1))
    throw new Error(`--share takes a number above 0 up to 1, got ${values.share}`);
  for (const fault of await chosen(positionals)) {
    const line = await runFault(fault, share, (text) => process.stderr.write(`${text}\n`));
    process.stdout.write(`${JSON.stringify(line)}\n`);
    if (line.survived !== line.injected) process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
