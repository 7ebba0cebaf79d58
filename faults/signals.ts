import assert from 'node:assert/strict';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { checkpointSteps, Run, readMetrics, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { type Ended, HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { tinyFlags, tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { lockHolder } from '@hidden-schema/torch';
import type { Fault, Tally } from './tally.ts';

const codes = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof codes;

/** What a process does when the signal comes. */
interface Phase {
  during: string;
  args: string[];
  /** Resolves when the phase has been reached. */
  reached(child: HsnProcess, out: string): Promise<void>;
  /** stopped: saved, goes on later. finished: nothing was left to save. unread: there is no run yet. */
  left: 'stopped' | 'finished' | 'unread';
}

const set = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting]);
const said = (text: string) => (child: HsnProcess) => child.seen(text);

async function until(what: string, holds: () => boolean, child: HsnProcess): Promise<void> {
  while (!holds()) {
    if (child.child.exitCode !== null)
      throw new Error(`it ended before ${what}: ${(await child.ended).stderr}`);
    await pause(2);
  }
}

function phases(tally: Tally): Phase[] {
  const draw = (name: string, changes = {}) => {
    writeSyntheticCorpus({ ...tinySettings, ...changes }, tally.path(name));
    return tally.path(name);
  };
  const texts = writeTexts(tally.path('texts.tsv'), tinySentences(200_000));
  const sweeping = draw('sweeping', { tokens: 9, sentences: 8000, split: [90, 5, 5] });
  const testing = draw('testing', { sentences: 20_000, split: [1, 1, 98] });
  return [
    {
      during: 'tokenising',
      args: ['--corpus', texts, ...tinyLanguageFlags],
      reached: said('tokenise '),
      left: 'unread',
    },
    {
      during: 'the graph’s sweeps',
      args: ['--corpus', sweeping, ...tinyFlags],
      reached: said('graph '),
      left: 'stopped',
    },
    ...duringSteps(['--corpus', draw('small'), ...tinyFlags]),
    {
      during: 'evaluation',
      args: ['--corpus', testing, ...tinyFlags, ...set('training.steps=2')],
      reached: said('train: 2 steps'),
      left: 'finished',
    },
  ];
}

/** Between the first step and the last of a training that would go on for long. */
function duringSteps(small: readonly string[]): Phase[] {
  const long = 'training.steps=100000';
  const steps = (count: number) => (child: HsnProcess, out: string) =>
    until(`step ${count}`, () => lastLogged(out) >= count, child);
  const saving = (child: HsnProcess, out: string) => until('a save', () => isSaving(out), child);
  const wide = ['encoder.width=512', 'encoder.hidden=512', 'checkpoints.every=1'];
  return [
    {
      during: 'warm-up',
      args: [...small, ...set(long, 'training.warmup=100000')],
      reached: steps(3),
      left: 'stopped',
    },
    { during: 'training', args: [...small, ...set(long)], reached: steps(5), left: 'stopped' },
    { during: 'saving', args: [...small, ...set(long, ...wide)], reached: saving, left: 'stopped' },
  ];
}

function lastLogged(out: string): number {
  const file = `${out}/metrics.jsonl`;
  return fs.existsSync(file)
    ? (readMetrics(file).rows.findLast((row) => row.loss !== undefined)?.step ?? 0)
    : 0;
}

function isSaving(out: string): boolean {
  const folder = `${out}/checkpoints`;
  return fs.existsSync(folder) && fs.readdirSync(folder).some((name) => name.startsWith('.partial'));
}

/** Row 6: one signal saves within a step; the run goes on afterwards. */
async function signalled(tally: Tally): Promise<void> {
  const all = phases(tally).flatMap((phase) =>
    (['SIGINT', 'SIGTERM'] as const).map((signal) => ({ ...phase, signal })),
  );
  const stride = Math.max(1, Math.floor(1 / Math.max(tally.share, 1 / all.length)));
  for (const phase of all.filter((_, i) => i % stride === 0)) {
    await tally.expect(`${phase.signal} during ${phase.during}`, () => once(tally, phase));
    if (tally.share === 1)
      await tally.expect(`${phase.signal} twice during ${phase.during}`, () => twice(tally, phase));
  }
  await tally.expect('SIGINT while standard input is silent', () => silentInput(tally));
}

type Case = Phase & { signal: Signal };

async function start(tally: Tally, phase: Case, name: string): Promise<{ out: string; child: HsnProcess }> {
  const out = tally.path(`${phase.during}-${phase.signal}-${name}`);
  process.env.HSN_CACHE = `${out}-cache`;
  const child = new HsnProcess(['train', '--out', out, ...phase.args]);
  await phase.reached(child, out);
  return { out, child };
}

async function once(tally: Tally, phase: Case): Promise<void> {
  const { out, child } = await start(tally, phase, 'once');
  child.child.kill(phase.signal);
  const ended = await child.ended;
  assert.match(ended.stderr, /stopping after this step and saving; once more to end at once/);
  assert.equal(ended.code, codes[phase.signal], ended.stderr);
  if (phase.left === 'unread') assert.ok(!fs.existsSync(out), 'a run was made');
  else await checkSaved(out, phase, ended);
}

async function checkSaved(out: string, phase: Case, ended: Ended): Promise<void> {
  const run = Run.open(out);
  assert.equal(run.state, phase.left);
  assert.equal(lockHolder(run.path('lock')), undefined, 'the lock is left');
  // Every step is logged: the checkpoint is of the last one that was done.
  assert.equal(checkpointSteps(run).at(-1), lastLogged(out));
  assert.equal((await hsn('verify', out)).code, 0);
  if (phase.left !== 'stopped') return;
  assert.match(ended.stdout, /continue with: hsn train --out .* --resume/);
  const steps = lastLogged(out) + 1;
  const resumed = await hsn('train', '--out', out, '--resume', '--force', ...set(`training.steps=${steps}`));
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.match(resumed.stdout, new RegExp(`run finished at step ${steps}`));
}

/** The second one need not save, but must end the process at once, and leave what was saved whole. */
async function twice(tally: Tally, phase: Case): Promise<void> {
  const { out, child } = await start(tally, phase, 'twice');
  child.child.kill(phase.signal);
  await child.seen('once more to end at once');
  child.child.kill(phase.signal);
  const ended = await child.ended;
  // It may have come to its end between the two.
  assert.ok(
    ended.signal === phase.signal || ended.code === codes[phase.signal],
    `it ended with ${ended.code}`,
  );
  if (phase.left !== 'unread') assert.equal((await hsn('verify', out)).code, 0);
}

async function silentInput(tally: Tally): Promise<void> {
  const out = tally.path('silent');
  process.env.HSN_CACHE = tally.path('silent-cache');
  const child = new HsnProcess(['train', '--corpus', '-', '--out', out, ...tinyLanguageFlags], 'pipe');
  await until('it reads', () => fs.existsSync(tally.path('silent-cache', 'input')), child);
  child.child.kill('SIGINT');
  const { code, stderr } = await child.ended;
  assert.equal(code, 130, stderr);
  assert.ok(!fs.existsSync(out), 'a run was made');
  assert.deepEqual(fs.readdirSync(tally.path('silent-cache', 'input')), []);
}

export const faults: readonly Fault[] = [
  { row: 6, fault: 'SIGTERM and SIGINT in every phase, once and twice', inject: signalled },
];
