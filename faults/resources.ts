import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CheckpointWriter, loadCheckpoint, Run, syntheticOptions } from '@hidden-schema/hsn';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { LockingProcess } from '@hidden-schema/testing/locking-process';
import { tinyConfig, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { call, lockHolder, scope, Tensor, zeros } from '@hidden-schema/torch';
import { corpusOf, trained } from './small-runs.ts';
import { type Fault, refusal, type Tally } from './tally.ts';

const info = { directory: 'corpus', fingerprint: 'none' };
const weights = (count: number, value: number) =>
  [['weight', Tensor.fromArray(new Float32Array(count).fill(value), [count])]] as const;

/** Row 8: a disk of 4 MB. */
async function diskFull(tally: Tally): Promise<void> {
  const disk = tally.path('disk');
  fs.mkdirSync(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { encoding: 'utf8' });
  if (mounted.status !== 0) {
    tally.notes.push(
      `not injected: a small disk cannot be mounted here (${mounted.stderr.trim()}); root can`,
    );
    return;
  }
  try {
    await tally.expect('no space before writing', () => refusedAtOnce(disk));
    for (let i = 0; i < tally.count(20); i++)
      await tally.expect(`the disk fills while a checkpoint is written (${i})`, () => fillsUp(disk, i));
    await tally.expect('hsn train on a full disk', () => trainingStops(tally, disk));
  } finally {
    spawnSync('umount', [disk]);
  }
}

async function refusedAtOnce(disk: string): Promise<void> {
  await withRun(`${disk}/a`, async (run, writer) => {
    const said = await refusal(() => writer.save(2, { model: weights(2_000_000, 2), state: 2 }));
    assert.match(said, /^not enough space for checkpoint step-2: it needs \d+\.\d MB, \d\.\d MB are free/);
    onlyFirst(run);
  });
}

/** The space is there when it is asked for, and taken by another while the checkpoint is being written. */
async function fillsUp(disk: string, i: number): Promise<void> {
  await withRun(`${disk}/b`, async (run, writer) => {
    await writer.save(2, { model: weights(400_000, 2), state: 2 });
    fillDisk(`${disk}/filler`, i * 20_000);
    const said = await refusal(() => writer.settle());
    assert.match(said, /cannot write the checkpoint .*ENOSPC.*the checkpoints before it are kept$/);
    onlyFirst(run);
  });
}

/** Takes all space but `left` bytes. */
function fillDisk(file: string, left: number): void {
  const { bavail, bsize } = fs.statfsSync(path.dirname(file));
  const descriptor = fs.openSync(file, 'w');
  try {
    const bytes = Math.max(0, bavail * bsize - left);
    fs.writeSync(descriptor, Buffer.alloc(bytes));
  } catch {
    // Full is what it should be.
  } finally {
    fs.closeSync(descriptor);
  }
}

async function withRun(directory: string, body: (run: Run, writer: CheckpointWriter) => Promise<void>) {
  const run = Run.create(directory, syntheticOptions.parse({}), info);
  try {
    const writer = new CheckpointWriter(run);
    await writer.save(1, { model: weights(1000, 1), state: 1 });
    await writer.settle();
    await body(run, writer);
  } finally {
    run.close();
    const disk = path.dirname(directory);
    for (const name of fs.readdirSync(disk)) fs.rmSync(path.join(disk, name), { recursive: true });
  }
}

function onlyFirst(run: Run): void {
  assert.deepEqual(fs.readdirSync(run.path('checkpoints')), ['step-1']);
  // Tensors are mapped from the file: freed at once, or the disk could not be taken away.
  scope(() => {
    const { step, model } = loadCheckpoint(run, 'last');
    assert.equal(step, 1);
    assert.ok(
      model
        .get('weight')!
        .toNumbers()
        .every((value) => value === 1),
    );
  });
}

async function trainingStops(tally: Tally, disk: string): Promise<void> {
  const out = `${disk}/run`;
  const big = ['encoder.width=128', 'encoder.hidden=512', 'encoder.blocks=2'].flatMap((s) => ['--set', s]);
  const { code, stderr } = await hsn(
    'train',
    '--corpus',
    corpusOf(tally).directory,
    '--out',
    out,
    ...tinyFlags,
    ...big,
  );
  assert.equal(code, 1);
  assert.match(stderr, /\nhsn: not enough space for checkpoint step-\d+: [^\n]+\n$/);
  assert.equal(Run.open(out).state, 'crashed');
}

/** Row 9: more than there is. */
async function outOfMemory(tally: Tally): Promise<void> {
  const huge = 2 ** 46;
  const asks: Record<string, () => unknown> = {
    zeros: () => zeros([huge]),
    'zeros of float64': () => zeros([huge], { dtype: 'float64' }),
    'an outer product': () => zeros([2 ** 24, 1]).matmul(zeros([1, 2 ** 24])),
    'a copy of an expanded tensor': () => call('contiguous', call('expand', zeros([1]), [huge], false)),
    concatenation: () => call('repeat', zeros([2 ** 20]), [2 ** 26]),
  };
  for (const [name, ask] of Object.entries(asks))
    await tally.expect(name, async () => {
      const said = await refusal(() => scope(ask));
      assert.match(said, /allocate \d{10,} bytes/);
      assert.equal(
        scope(() => zeros([3]).add(1).sum().item()),
        3,
      );
    });
  await tally.expect('hsn train with an encoder that no memory holds', async () => {
    const corpus = corpusOf(tally).directory;
    const args = ['train', '--corpus', corpus, '--out', tally.path('run'), '--set', 'encoder.width=4000000'];
    const { code, stderr } = await hsn(...args);
    assert.equal(code, 1);
    assert.match(stderr, /hsn: libtorch: .*allocate \d{10,} bytes/);
    assert.equal(lockHolder(tally.path('run', 'lock')), undefined);
  });
}

/** Row 10: two in one folder, and locks that were left behind. */
async function locked(tally: Tally): Promise<void> {
  const corpus = corpusOf(tally).directory;
  const out = tally.path('busy');
  const args = ['train', '--corpus', corpus, '--out', out, ...tinyFlags];
  const first = new HsnProcess([...args, '--set', 'training.steps=100000']);
  await first.seen('train ');
  for (const more of [
    ['train', '--out', out, '--resume'],
    [...args, '--force'],
  ])
    await tally.expect(`a second process: ${more.at(-1)}`, async () => {
      const { code, stderr } = await hsn(...more);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`is in use by process ${first.child.pid} since`));
    });
  first.child.kill('SIGKILL');
  await first.ended;
  await tally.expect('the lock of a killed process', async () => {
    assert.equal(Run.open(out).state, 'crashed');
    const { code, stderr } = await hsn(
      'train',
      '--out',
      out,
      '--resume',
      '--force',
      '--set',
      'training.steps=3',
    );
    assert.equal(code, 0, stderr);
    assert.match(stderr, new RegExp(`recovered the lock that process ${first.child.pid} left`));
  });
  await staleLocks(tally);
  await tally.expect('the folder is removed during training', () => lostFolder(tally));
}

async function staleLocks(tally: Tally): Promise<void> {
  await trained(tally, 'stale', tinyConfig({ training: { steps: 2 } }));
  const file = tally.path('stale', 'lock');
  const ended = spawn('true');
  await once(ended, 'exit');
  const host = os.hostname();
  const left: Record<string, string> = {
    'a process that ended': JSON.stringify({ pid: ended.pid, host, since: 'then' }),
    'a number that another process has now': JSON.stringify({
      pid: process.pid,
      host,
      start: 'x:1',
      since: 'then',
    }),
    'half a lock': '{"pid": 1',
    'an empty lock': '',
  };
  for (const [what, text] of Object.entries(left))
    await tally.expect(what, () => {
      fs.writeFileSync(file, text);
      Run.open(tally.path('stale'), { write: true }).close();
      assert.equal(lockHolder(file), undefined);
    });
  await tally.expect('a process that lives', async () => {
    const holder = await LockingProcess.start(file);
    const said = await refusal(() => Run.open(tally.path('stale'), { write: true }));
    await holder.kill();
    assert.match(said, new RegExp(`is in use by process ${holder.pid}`));
  });
}

async function lostFolder(tally: Tally): Promise<void> {
  const directory = tally.path('lost');
  const config = tinyConfig({ training: { steps: 12, evaluateEvery: 4 } });
  const said: string[] = [];
  // The session says when it has evaluated: a moment in the middle of training.
  const write = said.push.bind(said);
  said.push = (...texts: string[]) => {
    // Moved first, in one call: a checkpoint's file that comes while folders are being removed would keep them there.
    if (fs.existsSync(`${directory}/checkpoints/step-4`)) {
      fs.renameSync(directory, `${directory}-gone`);
      fs.rmSync(`${directory}-gone`, { recursive: true });
    }
    return write(...texts);
  };
  const fault = await refusal(() => trained(tally, 'lost', config, { said }));
  assert.match(
    fault,
    /was removed or moved during training; the weights of step \d+ are in .*lost-rescued\/step-/,
  );
  const place = /are in (.*?): move/.exec(fault)![1]!;
  assert.ok(fs.existsSync(`${place}/manifest.json`));
}

export const faults: readonly Fault[] = [
  { row: 8, fault: 'disk full', inject: diskFull },
  { row: 9, fault: 'out of memory in an operator', inject: outOfMemory },
  { row: 10, fault: 'two runs in one directory, stale locks, a lost directory', inject: locked },
];
