import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { isRunEntry } from './run-files.ts';

/** What a run whose making was cut short may hold. */
const UNFINISHED_NAMES =
  /^((tokenizer|tokenizer_config|manifest|sums)\.json|names\.lock|corpus\.(txt|tsv|csv|jsonl|parquet)|lock|lock\.stale-\d+|config\.yaml|checkpoints|\..+\.\d+\.tmp)$/;

/** Refuses a folder that a run cannot be made in; also asked before long work. */
export function checkRunFolder(directory: string, force: boolean): void {
  const folder = path.resolve(directory);
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory())
    throw new UserError(`${directory} is a file; expected a folder for the run, choose another name`);
  const names = fs.readdirSync(folder);
  const begun = names.includes('run.json');
  if (begun && !force)
    throw new UserError(
      `${directory} already holds a run; continue it with --resume, replace it with --force, or choose another folder`,
    );
  const own = (name: string) => (begun ? isRunEntry(name) : UNFINISHED_NAMES.test(name));
  const foreign = names.filter((name) => !own(name));
  if (!begun && hasCheckpoints(folder)) foreign.unshift('checkpoints');
  if (foreign.length === 0) return;
  const some = `${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}`;
  throw new UserError(
    begun
      ? `${directory} holds more than a run (${some}), so --force will not replace it; choose another folder`
      : `${directory} is not empty and holds no run (${some}); choose another folder`,
  );
}

function hasCheckpoints(folder: string): boolean {
  const checkpoints = path.join(folder, 'checkpoints');
  return fs.existsSync(checkpoints) && fs.readdirSync(checkpoints).length > 0;
}
