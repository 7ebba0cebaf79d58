// npm run test:fast: tests that start no process, server, browser or training, and neither do the helpers they import.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const ROOT = path.dirname(fileURLToPath(import.meta.url));

/** Words that make a test slow: it starts something, trains, or takes a helper that does. */
const SLOW = new RegExp(
  [
    'node:child_process',
    'node:worker_threads',
    'createServer',
    'startExplorer',
    'chromium',
    'playwright',
    'small-run',
    '/packaging/',
    '/faults/',
    'operator-fuzz',
    'testing/(hsn-process|processes|locking-process|watched-process|network-namespaces|hub-server|renamer)',
    'testing/(planted-|tiny-|text-corpus|damaged-parquet|hostile-tokenizers)',
    'startTraining',
    '\\btrain\\(',
    '\\bTrainer\\b',
  ].join('|'),
);

/** A test file and the helpers beside it that it imports. */
function withHelpers(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name] of fs.readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)) {
    const helper = path.resolve(path.dirname(file), name!);
    if (helper.includes(`${path.sep}test${path.sep}`)) withHelpers(helper, seen);
  }
  return seen;
}

const isFast = (file: string): boolean =>
  [...withHelpers(file)].every((part) => !SLOW.test(fs.readFileSync(part, 'utf8')));

const tests = fs
  .readdirSync(path.join(ROOT, 'packages'))
  .map((name) => path.join(ROOT, 'packages', name, 'test'))
  .filter((folder) => fs.existsSync(folder))
  .flatMap((folder) => fs.readdirSync(folder).map((name) => path.join(folder, name)))
  .filter((file) => file.endsWith('.test.ts') && isFast(file));

export default defineConfig({
  test: {
    include: tests.map((file) => path.relative(ROOT, file)),
    pool: 'forks',
    maxWorkers: 2,
    // One process for many files: loading the engine and the packages anew takes longer than most tests.
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
