import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Ended, HsnProcess } from '@hidden-schema/testing/hsn-process';
import { cannotStick, makeStuck } from '@hidden-schema/testing/stuck-file';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { ranksOf } from './listeners.ts';
import { callOperators, program } from './operators.ts';
import type { Fault, Tally } from './tally.ts';

const sanitize = fileURLToPath(new URL('../packages/torch/check/sanitize.ts', import.meta.url));
/** Seconds without an answer after which a rank is told of, and what a busy machine may add. */
const PATIENCE = 20;
const MARGIN = 25;

function train(tally: Tally, out: string, steps: number, more: readonly string[] = []): HsnProcess {
  const where = ['--corpus', tally.path('corpus'), '--out', tally.path(out)];
  const flags = [...tinyFlags, '--set', `training.steps=${steps}`, ...more];
  return new HsnProcess(['train', ...where, ...flags], 'ignore', ['env', `HSN_PATIENCE=${PATIENCE}`]);
}

async function untilThere(place: string, training: HsnProcess): Promise<void> {
  while (!fs.existsSync(place)) {
    if (training.child.exitCode !== null) throw new Error((await training.ended).stderr);
    await pause(20);
  }
}

async function stopRank(tally: Tally, rank: number): Promise<void> {
  const group = train(tally, `stopped-${rank}`, 1_000_000, ['--processes', '2']);
  await untilThere(tally.path(`stopped-${rank}`, 'checkpoints', 'step-5'), group);
  const pid = ranksOf(group.child.pid!).get(rank)!;
  const began = performance.now();
  process.kill(pid, 'SIGSTOP');
  const { code, stderr } = await group.ended;
  const seconds = (performance.now() - began) / 1000;
  assert.equal(code, 1, stderr);
  const expected = `hsn: rank ${rank} (process ${pid}) was stopped (SIGSTOP, or a debugger) and did not answer`;
  assert.ok(stderr.includes(expected), stderr);
  tally.notes.push(`rank ${rank} told of after ${seconds.toFixed(0)} s, of ${PATIENCE} stated`);
  assert.ok(seconds < PATIENCE + MARGIN, `${seconds} s`);
  assert.equal(ranksOf(group.child.pid!).size, 0);
}

/** Trains on while the first checkpoint, or a file of it, cannot be removed. */
async function keepStuck(tally: Tally, part: string): Promise<void> {
  const out = part === '' ? 'folder' : 'file';
  const training = train(tally, out, 60, ['--set', 'checkpoints.best=false']);
  const checkpoints = tally.path(out, 'checkpoints');
  await untilThere(path.join(checkpoints, 'step-5'), training);
  // Held meanwhile: three checkpoints later this one is removed.
  training.child.kill('SIGSTOP');
  const release = makeStuck(path.join(checkpoints, 'step-5', part));
  training.child.kill('SIGCONT');
  let ended: Ended;
  try {
    ended = await training.ended;
  } finally {
    release();
    for (const name of fs.existsSync(checkpoints) ? fs.readdirSync(checkpoints) : [])
      if (name.includes('step-5')) makeStuck(path.join(checkpoints, name, part))();
  }
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stderr, /warning: an old checkpoint cannot be removed, and takes space: E/);
  assert.match(ended.stdout, /run finished at step 60/);
}

/** Row 54 */
async function lesserFaults(tally: Tally): Promise<void> {
  tinyCorpus(tally.path('corpus'));
  const ranks = tally.share < 1 ? [1] : [0, 1];
  for (const rank of ranks) await tally.expect(`rank ${rank} is stopped`, () => stopRank(tally, rank));
  const reason = cannotStick();
  if (reason !== undefined) tally.notes.push(`not injected: ${reason}`);
  else
    for (const part of ['', 'state.json'])
      await tally.expect(`step-5/${part} cannot be removed`, () => keepStuck(tally, part));
  const calls = ['--count', String(tally.count(100_000, 500))];
  // Under sanitizers only at full count: they need a build of their own.
  if (tally.share < 1) await callOperators(tally, 54, [program, ...calls, '--seed', '54']);
  else await callOperators(tally, 54, [sanitize, '--no-tests', ...calls]);
}

export const faults: readonly Fault[] = [
  {
    row: 54,
    fault: 'a stopped rank, an old checkpoint that cannot be removed, calls under sanitizers',
    inject: lesserFaults,
  },
];
