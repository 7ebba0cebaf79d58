import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkpointSteps, Run, readMetrics } from '@hidden-schema/hsn';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { lockHolder } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { visible } from '../src/terminal.ts';

const folder = temporaryFolder('cli-outputs');
afterAll(folder.remove);
const corpus = folder.path('corpus');
tinyCorpus(corpus);
const program = fileURLToPath(new URL('../bin/hsn.js', import.meta.url));
const longTraining = (out: string) => [
  ...['train', '--corpus', corpus, '--out', folder.path(out), ...tinyFlags],
  ...['--set', 'training.steps=100000', '--set', 'graph.sweeps=0'],
];

function expectSaved(out: string): void {
  const run = Run.open(folder.path(out));
  expect(run.state).toBe('stopped');
  expect(lockHolder(run.path('lock'))).toBeUndefined();
  const rows = readMetrics(run.path('metrics.jsonl')).rows.filter(({ loss }) => loss !== undefined);
  // On a busy machine it may be stopped before its first step.
  expect(checkpointSteps(run).at(-1)).toBe(rows.at(-1)?.step ?? 0);
}

// The log is written every ten seconds, and only then is it seen that nobody reads it.
describe('a training that nobody listens to any more', { timeout: 300_000 }, () => {
  test('is saved when the log is closed, and ends with 141', () => {
    const command = [process.execPath, program, ...longTraining('headed')].map((arg) => `'${arg}'`).join(' ');
    const { stdout } = spawnSync('bash', ['-c', `${command} 2>&1 | head -1; echo "\${PIPESTATUS[0]}"`], {
      encoding: 'utf8',
      env: { ...process.env, HSN_THREADS: '1' },
    });
    expect(stdout).toMatch(/^corpus: .*\n141\n$/);
    expectSaved('headed');
  });

  test('is saved when the terminal is closed, and ends with 129', async () => {
    const child = new HsnProcess(longTraining('hung-up'));
    await child.seen('train ');
    while (!fs.readFileSync(folder.path('hung-up', 'metrics.jsonl'), 'utf8').includes('"step":2'))
      await setTimeout(10);
    child.child.kill('SIGHUP');
    const { code, stderr } = await child.ended;
    expect(stderr).toContain('stopping after this step and saving');
    expect(code).toBe(129);
    expectSaved('hung-up');
  });

  test('is saved when the log’s disk is full', () => {
    const command = [process.execPath, program, ...longTraining('full')].map((arg) => `'${arg}'`).join(' ');
    expect(spawnSync('sh', ['-c', `${command} 2>/dev/full`]).status).toBe(141);
    expectSaved('full');
  });
});

describe('a verb whose output is closed', () => {
  test('ends without a word', async () => {
    const child = new HsnProcess(['synth', '--help']);
    child.child.stdout!.destroy();
    expect(await child.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('says what else keeps it from writing', () => {
    const { status, stderr } = spawnSync('sh', [
      '-c',
      `'${process.execPath}' '${program}' synth --help >/dev/full`,
    ]);
    expect(status).toBe(1);
    expect(stderr.toString()).toMatch(/^hsn: cannot write to standard output: .*ENOSPC[^\n]*\n$/);
  });
});

describe('text that would steer the terminal', () => {
  test('is spelled out, as JSON does it', () => {
    const hostile = 'a\x1b]0;x\x07\u009b2J\r\x7f\u202eb\tc\nd é 漢 👍';
    const shown = visible(hostile);
    expect(shown).toBe('a\\u001b]0;x\\u0007\\u009b2J\\u000d\\u007f\\u202eb\tc\nd é 漢 👍');
    expect(JSON.parse(visible(JSON.stringify(hostile)))).toBe(hostile);
  });

  test('in names of runs and in run.json', async () => {
    const hostile = '\x1b[31m\u009b2J';
    const directory = folder.path('runs', `run${hostile}`);
    const made = await hsn('train', '--corpus', corpus, '--out', directory, ...tinyFlags);
    expect(made.code).toBe(0);
    const file = `${directory}/run.json`;
    const record = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(
      file,
      JSON.stringify({ ...record, failure: { step: 1, term: hostile, value: hostile } }),
    );
    for (const args of [
      ['runs', folder.path('runs')],
      ['runs', folder.path('runs'), '--json'],
      ['verify', directory],
      ['eval', `${directory}-none`],
      [`verb${hostile}`],
    ]) {
      const { stdout, stderr } = await hsn(...args);
      expect(made.stdout + made.stderr + stdout + stderr).not.toMatch(/(?!\n)\p{Cc}/u);
    }
    const [listed] = JSON.parse((await hsn('runs', folder.path('runs'), '--json')).stdout);
    expect(listed).toMatchObject({ run: directory, failure: { term: hostile } });
  });
});
