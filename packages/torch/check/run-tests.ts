import { type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs Node to its end, what it says passed on; gives its exit code and, if asked for, its output. */
export async function runNode(
  args: readonly string[],
  env: Record<string, string>,
  keep: boolean,
): Promise<[number, string]> {
  const stdio: SpawnOptions['stdio'] = ['ignore', keep ? 'pipe' : 2, 'inherit'];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio });
  let out = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 128)));
  return [code, out];
}

export interface Tested {
  readonly passed: number;
  readonly failed: number;
}

/** For vitest: tests of set-up compile programs of their own and never load the addon. */
export const withoutSetup = ['--exclude', '**/setup-*.test.ts', '--testTimeout=600000'];

/** Runs tests on another build of the engine; what they say goes to stderr. */
export async function runTests(
  which: readonly string[],
  env: Record<string, string>,
  options: readonly string[],
): Promise<Tested> {
  const folder = mkdtempSync(join(tmpdir(), 'hsn-tests-'));
  const file = join(folder, 'tests.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reports = ['--reporter=default', '--reporter=json', `--outputFile=${file}`];
  try {
    const [code] = await runNode([vitest, 'run', ...which, ...options, ...reports], env, false);
    if (!existsSync(file)) return { passed: 0, failed: 1 };
    const told = JSON.parse(readFileSync(file, 'utf8')) as { numPassedTests: number; numFailedTests: number };
    // A process that a signal ended takes its tests with it.
    return { passed: told.numPassedTests, failed: Math.max(told.numFailedTests, code === 0 ? 0 : 1) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
