// npm run sanitize                    the engine's tests and 100 000 calls of its operators under sanitizers
// npm run sanitize -- --count 1000    fewer calls
// npm run sanitize -- --no-tests      the calls alone
// Builds the addon with AddressSanitizer and UndefinedBehaviorSanitizer beside the ordinary build, which stays as it is.
// Expected last line: {"sanitize":"address,undefined","tests":…,"failed":0,"calls":100000,…,"faults":0,…}
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, showProgress } from '../setup/fault.ts';
import { hostMachine } from '../setup/machine.ts';
import { here, setup } from '../setup/main.ts';
import { runNode, runTests, withoutSetup } from './run-tests.ts';

const flags = [
  '-fsanitize=address,undefined',
  // Types of libtorch's objects are hidden from this check, which then reports what is right.
  '-fno-sanitize=vptr',
  '-fno-sanitize-recover=all',
  '-fno-omit-frame-pointer',
  '-g1',
  '-O1',
];

/** The library that must be there before anything else of a process that loads the addon. */
function sanitizerLibrary(): string {
  const asked = spawnSync('g++', ['-print-file-name=libasan.so'], { encoding: 'utf8' });
  const file = asked.stdout?.trim() ?? '';
  if (!file.startsWith('/'))
    throw new SetupError('no AddressSanitizer', 'g++ with its libasan.so', file === '' ? 'no g++' : 'none', [
      'sudo apt-get install g++, then run npm run sanitize again',
    ]);
  return realpathSync(file);
}

function environment(addon: string): Record<string, string> {
  return {
    LD_PRELOAD: sanitizerLibrary(),
    // Node frees nothing when it ends; memory that cannot be had is an error that tests ask for; and what is freed is
    // kept back only so far that tests of memory hold.
    ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=8',
    UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
    HSN_PLAIN_MALLOC: '1',
    HSN_ADDON: addon,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '100000' },
      tests: { type: 'boolean', default: true },
    },
    allowNegative: true,
  });
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  const build = join(here.build, 'sanitized');
  const env = environment(join(build, 'torch.node'));
  const progress = showProgress(process.stderr);
  const ordinary = await setup(hostMachine(), here, progress);
  progress.say('with sanitizers:');
  await setup(hostMachine(), { ...here, build, variant: { flags, env } }, progress, ordinary);
  progress.say(`${seconds()} s: the engine's tests`);
  // Those of set-up compile programs of their own and never load the addon.
  const tested = values.tests
    ? await runTests(['packages/torch/test', 'packages/hsn/test/kernel'], env, withoutSetup)
    : { passed: 0, failed: 0 };
  progress.say(`${seconds()} s: ${values.count} calls of the operators`);
  const fuzz = ['--import', 'tsx', 'packages/hsn/test/kernel-fuzz.ts', '--count', values.count];
  const [code, out] = await runNode(fuzz, env, true);
  const summary = code === 0 || out !== '' ? (JSON.parse(out) as Record<string, number>) : { faults: 1 };
  const { passed, failed } = tested;
  const line = {
    sanitize: 'address,undefined',
    tests: passed + failed,
    failed,
    ...summary,
    seconds: seconds(),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (failed > 0 || code !== 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`${error.explain()}\n`);
  process.exitCode = 1;
}
