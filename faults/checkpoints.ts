import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '@hidden-schema/base';
import { checkpointSteps, loadCheckpoint, Run, verifyCheckpoint } from '@hidden-schema/hsn';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { scope } from '@hidden-schema/torch';
import { traces, trained } from './small-runs.ts';
import type { Fault, Tally } from './tally.ts';

const writer = fileURLToPath(new URL('./writing.ts', import.meta.url));

/** Row 1: a process that writes checkpoints without pause is killed at a random moment. */
async function killed(tally: Tally): Promise<void> {
  const random = new Random(11);
  const kills = tally.count(200, 3);
  let halfway = 0;
  for (let kill = 0; kill < kills; kill++) {
    const elements = [1000, 60_000, 1_500_000][kill % 3]!;
    const directory = tally.path(`run-${kill % 3}`);
    await tally.expect(`kill ${kill}, tensors of ${elements} numbers`, async () => {
      const announced = await writeUntilKilled(directory, elements, 250 * random.next());
      if (fs.readdirSync(`${directory}/checkpoints`).some((name) => name.startsWith('.partial'))) halfway++;
      checkWhole(directory, announced);
    });
  }
  tally.notes.push(`${halfway} of ${kills} kills left a checkpoint half written`);
}

/** Returns the last step that the process said was on disk. */
async function writeUntilKilled(directory: string, elements: number, ms: number): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', writer, directory, String(elements)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HSN_THREADS: '1' },
  });
  let text = '';
  child.stdout.on('data', (data: Buffer) => {
    text += data;
  });
  // Before the first is on disk there is nothing that a kill could cost.
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the writer ended with ${code} before its first checkpoint`);
  });
  ended.catch(() => undefined);
  while (!/saved \d+\n/.test(text)) await Promise.race([once(child.stdout, 'data'), ended]);
  await pause(ms);
  child.kill('SIGKILL');
  await once(child, 'close');
  return Number(
    text
      .match(/saved (\d+)\n/g)!
      .at(-1)!
      .slice(6),
  );
}

function checkWhole(directory: string, announced: number): void {
  const run = Run.open(directory);
  assert.equal(run.state, 'crashed');
  scope(() => {
    const { step, model, optimizer, state, notes } = loadCheckpoint(run, 'last');
    assert.deepEqual(notes, []);
    assert.ok(step >= announced, `step ${announced} was said to be saved, but the last is ${step}`);
    assert.deepEqual(state, { step });
    for (const [tensor, value] of [
      [model.get('weight')!, step],
      [optimizer!.get('moment')!, -step],
    ] as const)
      assert.ok(tensor.toNumbers().every((number) => number === value));
  });
}

const config = tinyConfig({ training: { steps: 12, evaluateEvery: 4 } });

/** A run with three checkpoints, whose last one is damaged. */
async function threeCheckpoints(tally: Tally): Promise<Run> {
  const run = await trained(tally, 'run', config);
  assert.deepEqual(checkpointSteps(run), [4, 8, 12]);
  return run;
}

/** Row 2: each file cut at every hundredth of its length. */
async function cut(tally: Tally): Promise<void> {
  const run = await threeCheckpoints(tally);
  const folder = run.path('checkpoints', 'step-12');
  const stride = Math.max(1, Math.round(1 / tally.share));
  for (const name of fs.readdirSync(folder)) {
    const file = `${folder}/${name}`;
    const whole = fs.readFileSync(file);
    for (let percent = 0; percent < 100; percent += stride) {
      fs.writeFileSync(file, whole.subarray(0, Math.floor((whole.length * percent) / 100)));
      await tally.expect(`${name} cut at ${percent} %`, () => fallsBack(run, file));
    }
    fs.writeFileSync(file, whole);
  }
  await tally.expect('a cut checkpoint, then training to the end', () => continues(tally, run));
}

function fallsBack(run: Run, file: string): void {
  assert.throws(() => verifyCheckpoint(run, 12), { name: 'UserError', message: new RegExp(`^${file} is`) });
  scope(() => {
    const { step, notes } = loadCheckpoint(run, 'last');
    assert.equal(step, 8);
    assert.equal(notes.length, 1);
    assert.ok(notes[0]!.startsWith(file) && notes[0]!.endsWith('step 8 is used in its place'), notes[0]);
  });
}

async function continues(tally: Tally, run: Run): Promise<void> {
  const before = traces(run);
  fs.truncateSync(run.path('checkpoints', 'step-12', 'model.safetensors'), 100);
  const said: string[] = [];
  const again = await trained(tally, 'run', config, { resume: true, said });
  assert.match(said.join(''), /model\.safetensors is damaged: .*step 8 is used in its place/);
  assert.deepEqual(traces(again), before);
}

/** Row 3: one bit of any file turned. */
async function flipped(tally: Tally): Promise<void> {
  const run = await threeCheckpoints(tally);
  const folder = run.path('checkpoints', 'step-12');
  const names = fs.readdirSync(folder);
  const random = new Random(3);
  for (let flip = 0; flip < tally.count(1000, 20); flip++) {
    const file = `${folder}/${names[flip % names.length]!}`;
    const whole = fs.readFileSync(file);
    const at = random.int(whole.length);
    const bit = random.int(8);
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 << bit;
    fs.writeFileSync(file, changed);
    await tally.expect(`bit ${bit} of byte ${at} of ${file}`, () =>
      assert.throws(() => verifyCheckpoint(run, 12), { name: 'UserError' }),
    );
    fs.writeFileSync(file, whole);
  }
  verifyCheckpoint(run, 12);
}

export const faults: readonly Fault[] = [
  { row: 1, fault: 'SIGKILL while a checkpoint is being written', inject: killed },
  { row: 2, fault: 'every checkpoint file cut at every 1 %', inject: cut },
  { row: 3, fault: 'random bit flips in checkpoints', inject: flipped },
];
