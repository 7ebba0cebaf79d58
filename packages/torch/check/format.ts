// npm run -s check:format    whether the addon's sources are formatted as .clang-format says
// npm run -s format          formats them (--write)
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { here } from '../setup/main.ts';

const folders = [here.native, ...Object.values({ ...here.operators, ...here.plain })];
const sources = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => /\.(cc|h)$/.test(name))
    .map((name) => join(folder, name)),
);
const write = process.argv.includes('--write');
const how = write ? ['-i'] : ['--dry-run', '--Werror'];
const { status, error } = spawnSync('clang-format', [...how, ...sources], { stdio: 'inherit' });
const verb = write ? 'formatted' : 'checked';
if (error) {
  const remedy = 'install clang-format (sudo apt-get install clang-format)';
  process.stdout.write(`the addon's C++ was not ${verb}: ${remedy}\n`);
} else {
  if (status === 0) process.stdout.write(`clang-format: ${sources.length} files ${verb}\n`);
  process.exitCode = status ?? 1;
}
