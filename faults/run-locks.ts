import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { checkpointSteps, Run } from '@hidden-schema/hsn';
import { symbolNames } from '@hidden-schema/studies';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { renameAtOnce } from '@hidden-schema/testing/renaming';
import { tinyConfig, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { corpusOf, trained } from './small-runs.ts';
import type { Fault, Tally } from './tally.ts';

/** A process as in a container of its own: its number is 1, the host's name is the same. */
const container = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

function containers(tally: Tally): readonly string[] {
  if (spawnSync(container[0]!, [...container.slice(1), 'true']).status === 0) return container;
  tally.notes.push('not injected: PID namespaces, which need root; plain processes were used');
  return [];
}

/** Row 28: whoever comes second is refused, wherever it runs; whoever dies leaves the run free. */
async function twoTrainers(tally: Tally): Promise<void> {
  const within = containers(tally);
  const places = [
    { name: 'both in containers', first: within, second: within },
    { name: 'the second in a container', first: [], second: within },
    { name: 'the first in a container', first: within, second: [] },
  ];
  for (const place of places.slice(0, tally.count(places.length))) await twoIn(tally, place);
  await withoutLocks(tally);
}

interface Places {
  name: string;
  first: readonly string[];
  second: readonly string[];
}

async function twoIn(tally: Tally, { name, first, second }: Places): Promise<void> {
  const out = tally.path(name.replaceAll(' ', '-'));
  const make = ['train', '--corpus', corpusOf(tally).directory, '--out', out, ...tinyFlags];
  const resume = ['train', '--out', out, '--resume'];
  const trainer = new HsnProcess([...make, '--set', 'training.steps=100000'], 'ignore', first);
  await trainer.seen('train ');
  const refused = async (args: string[]) => {
    const { code, stderr } = await new HsnProcess(args, 'ignore', second).ended;
    assert.equal(code, 1, stderr);
    assert.match(stderr, /the run folder .* is in use by process \d+ since/);
    assert.equal(fs.readdirSync(out).filter((file) => file.startsWith('events.')).length, 1);
    assert.equal(Run.open(out).state, 'running');
  };
  await tally.expect(`${name}: a second that continues`, () => refused(resume));
  if (tally.share === 1) {
    await tally.expect(`${name}: a second that replaces`, () => refused([...make, '--force']));
    await tally.expect(`${name}: the first is stopped, not dead`, async () => {
      const pid = first.length > 0 ? childOf(trainer.child.pid!) : trainer.child.pid!;
      process.kill(pid, 'SIGSTOP');
      await refused(resume);
    });
  }
  await tally.expect(`${name}: the first was killed`, async () => {
    trainer.child.kill('SIGKILL');
    await trainer.ended;
    await until(() => Run.open(out).state === 'crashed');
    const steps = (checkpointSteps(Run.open(out)).at(-1) ?? 0) + 1;
    const more = [...resume, '--force', '--set', `training.steps=${steps}`];
    const { code, stderr } = await new HsnProcess(more, 'ignore', second).ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /recovered the lock that process \d+ left/);
  });
  await tally.expect(`${name}: all is whole`, async () => assert.equal((await hsn('verify', out)).code, 0));
}

/** The process that `unshare` forked. */
const childOf = (pid: number): number =>
  Number(fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);

/** The kernel ends the processes of a container a moment after the one that made it. */
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** What file systems without locks answer, by the system's names. */
const answers = ['ENOLCK', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'] as const;

/** A file system without locks: said and refused, unless the user is sure. */
async function withoutLocks(tally: Tally): Promise<void> {
  const shim = tally.path('no-locks.so');
  const source = fileURLToPath(new URL('../fixtures/no-locks.c', import.meta.url));
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-o', shim, source]);
  if (process.platform !== 'linux' || compiled.status !== 0) {
    tally.notes.push('not injected: file systems without locks, which need Linux and a C compiler');
    return;
  }
  await trained(tally, 'unlocked', tinyConfig({ training: { steps: 2 } }));
  const resume = ['train', '--out', tally.path('unlocked'), '--resume'];
  for (const answer of answers.slice(0, tally.count(answers.length))) {
    const no = ['env', `LD_PRELOAD=${shim}`, `NO_LOCKS=${os.constants.errno[answer]}`];
    await tally.expect(`a file system that answers ${answer}`, async () => {
      const { code, stderr } = await new HsnProcess(resume, 'ignore', no).ended;
      assert.equal(code, 1, stderr);
      const name = answer === 'EOPNOTSUPP' ? '(EOPNOTSUPP|ENOTSUP)' : answer;
      assert.match(stderr, new RegExp(`cannot lock .* has no locks \\(${name}\\), .*HSN_NO_LOCK=1`));
    });
    if (answer !== answers[0]) continue;
    await tally.expect('a user who is sure', async () => {
      const { code, stderr } = await new HsnProcess(resume, 'ignore', [...no, 'HSN_NO_LOCK=1']).ended;
      assert.equal(code, 0, stderr);
    });
  }
}

/** Row 41: names that are given at the same time are all kept. */
async function renamed(tally: Tally): Promise<void> {
  const run = await trained(tally, 'named', tinyConfig({ training: { steps: 2 } }));
  const each = tally.count(25, 10);
  const processes = tally.count(8, 3);
  await renameAtOnce(run.directory, processes, each);
  const names = symbolNames(run.directory);
  for (let symbol = 0; symbol < processes * each; symbol++)
    await tally.expect(`symbol ${symbol}`, () => assert.equal(names.get(symbol), `name ${symbol}`));
}

export const faults: readonly Fault[] = [
  { row: 28, fault: 'two trainers on one run, in containers with one host name', inject: twoTrainers },
  { row: 41, fault: 'symbols named by several processes at once', inject: renamed },
];
