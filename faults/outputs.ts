import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkpointSteps, Run, readMetrics } from '@hidden-schema/hsn';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { tinyReasoningFlags } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { lockHolder } from '@hidden-schema/torch';
import { corpusOf } from './small-runs.ts';
import type { Fault, Tally } from './tally.ts';

const program = fileURLToPath(new URL('../packages/cli/bin/hsn.js', import.meta.url));

/** Kinds of training that write a log for long. */
function trainings(tally: Tally): Record<string, (out: string) => string[]> {
  const steps = ['--set', 'training.steps=100000'];
  const corpus = corpusOf(tally).directory;
  const texts = writeTexts(tally.path('texts.tsv'), tinySentences());
  writePlanted(tally.path('tuples'), plantedTuples({ events: 20, relations: 3 }));
  const tuples = ['--tuples', tally.path('tuples'), ...tinyReasoningFlags];
  process.env.HSN_CACHE = tally.path('cache');
  return {
    train: (out) => ['train', '--corpus', corpus, '--out', out, ...tinyFlags, ...steps],
    'train on texts': (out) => ['train', '--corpus', texts, '--out', out, ...tinyLanguageFlags, ...steps],
    'train --processes 2': (out) => [
      ...['train', '--corpus', corpus, '--out', out, ...tinyFlags, ...steps, '--processes', '2'],
    ],
    'reason train': (out) => ['reason', 'train', '--out', out, ...tuples, ...steps],
    demo: (out) => ['demo', '--out', path.dirname(out), '--sentences', '400', '--steps', '100000'],
  };
}

/** How the reader of the log goes away, with the exit code that follows. */
const departures: Record<string, { code: number; leave: (child: HsnProcess) => void }> = {
  'the terminal is closed': { code: 129, leave: ({ child }) => child.kill('SIGHUP') },
  'the log is closed': { code: 141, leave: ({ child }) => child.stderr!.destroy() },
  'both outputs are closed': {
    code: 141,
    leave: ({ child }) => {
      child.stderr!.destroy();
      child.stdout!.destroy();
    },
  },
};

/** Row 30: a training that nobody listens to any more is saved and ends in order. */
async function unread(tally: Tally): Promise<void> {
  const all = Object.entries(trainings(tally)).flatMap(([name, args]) =>
    Object.entries(departures).map(([how, departure]) => ({ name, args, how, ...departure })),
  );
  for (const [i, one] of all.slice(0, tally.count(all.length)).entries())
    await tally.expect(`${one.name}: ${one.how}`, async () => {
      const out = tally.path(`run-${i}`, 'run');
      const child = new HsnProcess(one.args(out));
      while (lastLogged(out) < 3) {
        assert.equal(child.child.exitCode, null, `${one.name} ended`);
        await pause(5);
      }
      one.leave(child);
      const { code, stderr } = await child.ended;
      assert.equal(code, one.code, stderr);
      await checkSaved(out);
    });
  if (tally.share < 1) return;
  await tally.expect('the log’s disk is full', () => fullDisk(tally));
  await tally.expect('serve: the terminal is closed', () => served(tally));
}

const lastLogged = (out: string): number =>
  fs.existsSync(`${out}/metrics.jsonl`)
    ? (readMetrics(`${out}/metrics.jsonl`).rows.findLast((row) => row.loss !== undefined)?.step ?? 0)
    : 0;

async function checkSaved(out: string): Promise<void> {
  const run = Run.open(out);
  assert.equal(run.state, 'stopped');
  assert.equal(lockHolder(run.path('lock')), undefined, 'the lock is left');
  // Where every step is logged, the checkpoint is of the last one that was done.
  const step = checkpointSteps(run).at(-1)!;
  assert.ok(step >= lastLogged(out) && step - lastLogged(out) < run.config.training.logEvery);
  assert.equal((await hsn('verify', out)).code, 0);
}

async function fullDisk(tally: Tally): Promise<void> {
  const out = tally.path('full');
  const args = trainings(tally).train!(out).map((arg) => `'${arg}'`);
  const { status } = spawnSync('sh', [
    '-c',
    `'${process.execPath}' '${program}' ${args.join(' ')} 2>/dev/full`,
  ]);
  assert.equal(status, 141);
  await checkSaved(out);
}

async function served(tally: Tally): Promise<void> {
  const child = new HsnProcess(['serve', tally.path('full')]);
  let said = '';
  for await (const data of child.child.stdout!) {
    said += String(data);
    if (said.includes('Ctrl-C ends')) break;
  }
  child.child.kill('SIGHUP');
  const { code, stderr } = await child.ended;
  assert.equal(code, 0, stderr);
}

/** Row 30: what only prints ends without a word when its reader has enough. */
async function headed(tally: Tally): Promise<void> {
  const run = await hostileRun(tally);
  const all = printing(run).slice(0, showing);
  for (const args of all.slice(0, tally.count(all.length)))
    await tally.expect(`hsn ${args[0]}, and nobody reads`, async () => {
      const child = new HsnProcess(args);
      child.child.stdout!.destroy();
      const { code, stderr } = await child.ended;
      assert.doesNotMatch(stderr, /EPIPE|\n {4}at |unexpected/);
      assert.equal(code, 0, stderr);
    });
}

const hostile = '\x1b]0;owned\x07\x1b[31m\u009b2J\u202e';

/** A run whose labels, words and names steer a terminal. */
async function hostileRun(tally: Tally): Promise<string> {
  process.env.HSN_CACHE = tally.path('cache');
  const lines = tinySentences().map((line) =>
    line.replace('\t', `${hostile}\t`).replace('cat', `c${hostile}at`),
  );
  const run = tally.path(`run${hostile}`.replaceAll('/', ''));
  const flags = [...tinyLanguageFlags, '--set', 'warmStart.steps=0'];
  const { code, stderr } = await hsn(
    'train',
    '--corpus',
    writeTexts(tally.path('hostile.tsv'), lines),
    '--out',
    run,
    ...flags,
  );
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, steering);
  // Names come in by hand only: renaming refuses them.
  fs.writeFileSync(
    path.join(run, 'names.json'),
    JSON.stringify({ format: 1, names: { 0: `a${hostile}`, 1: hostile } }),
  );
  return run;
}

const steering = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** How many of these end well. */
const showing = 13;

/** Every verb that shows what is in a run; then JSON, and faults that name it. */
const printing = (run: string): string[][] => [
  ['runs', path.dirname(run)],
  ['encode', run, path.join(path.dirname(run), 'hostile.tsv'), '--input-format', 'tsv'],
  ['symbols', run],
  ['verify', run],
  ['labels', run],
  ['generate', run, '--like', `the c${hostile}at`, '--count', '2'],
  ['eval', run],
  ['graph', run, '--samples', '3'],
  ['attend', run, '--words', 'is,was', '--limit', '200'],
  ['interpolate', run, `the c${hostile}at is cheap`, 'a dog was terrible', '--threshold', '0.05'],
  ['rename', run, '2', 'plain'],
  ['report', run],
  ['export', run, '--out', path.join(path.dirname(run), 'exported')],
  ...[
    ['runs', path.dirname(run)],
    ['symbols', run],
    ['labels', run],
    ['verify', run],
  ].map((args) => [...args, '--json']),
  ['encode', run, path.join(path.dirname(run), 'hostile.tsv'), '--input-format', 'tsv', '--format', 'jsonl'],
  ['eval', `${run}-none`],
  ['train', '--out', `${run}-none`, '--resume'],
  [`no such verb ${hostile}`],
];

/** Row 41: nothing that is in a run or a corpus steers the terminal. */
async function escapes(tally: Tally): Promise<void> {
  const run = await hostileRun(tally);
  const record = JSON.parse(fs.readFileSync(path.join(run, 'run.json'), 'utf8'));
  fs.writeFileSync(
    path.join(run, 'run.json'),
    JSON.stringify({ ...record, failure: { step: 1, term: hostile, value: hostile } }),
  );
  const all = printing(run);
  for (const args of all.slice(0, tally.count(all.length)))
    await tally.expect(`hsn ${args[0]} ${args.at(-1) === '--json' ? '--json' : ''}`, async () => {
      const { stdout, stderr } = await hsn(...args);
      assert.ok(stdout + stderr !== '', 'it said nothing');
      assert.doesNotMatch(stderr, /not a function|unexpected/);
      assert.doesNotMatch(stdout + stderr, steering);
      if (args.includes('--json')) assert.ok(JSON.parse(stdout));
    });
  await tally.expect('JSON tells the text as it is', async () => {
    const [first] = JSON.parse((await hsn('runs', path.dirname(run), '--json')).stdout);
    assert.equal(first.run, run);
  });
}

export const faults: readonly Fault[] = [
  { row: 30, fault: 'the reader of a training’s log goes away, SIGHUP', inject: unread },
  { row: 30, fault: 'the reader of a verb’s output goes away', inject: headed },
  { row: 41, fault: 'terminal escapes in runs and corpora', inject: escapes },
];
