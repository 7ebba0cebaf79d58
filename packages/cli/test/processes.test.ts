import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Run, readMetrics } from '@hidden-schema/hsn';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { TwoMachines } from '@hidden-schema/testing/network-namespaces';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { freePort } from '@hidden-schema/torch/distributed/place';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ranksOf } from '../../../faults/listeners.ts';
import { withoutProcesses } from '../src/processes.ts';

const folder = temporaryFolder('cli-processes');
afterAll(folder.remove);
const corpus = folder.path('corpus');
beforeAll(() => {
  tinyCorpus(corpus);
});

const settings = (steps: number): string[] => [...tinyFlags, '--set', `training.steps=${steps}`];
const trainArgs = (out: string, steps: number): string[] => [
  ...['train', '--corpus', corpus, '--out', folder.path(out), ...settings(steps)],
  ...['--set', 'training.evaluateEvery=20'],
];
const metrics = (out: string) =>
  fs.existsSync(folder.path(out, 'metrics.jsonl')) ? readMetrics(folder.path(out, 'metrics.jsonl')).rows : [];
const losses = (out: string): number[] => metrics(out).flatMap(({ loss }) => loss ?? []);
const stateOf = (out: string): string => Run.open(folder.path(out)).state;

async function untilCheckpoint(out: string, process: HsnProcess): Promise<void> {
  while (!fs.existsSync(folder.path(out, 'checkpoints', 'step-20'))) {
    if (process.child.exitCode !== null) throw new Error((await process.ended).stderr);
    await setTimeout(20);
  }
}

describe('hsn train --processes', () => {
  test('trains as one process does, stops on a signal, and goes on with another number of processes', async () => {
    const together = new HsnProcess([...trainArgs('together', 300), '--processes', '2']);
    await untilCheckpoint('together', together);
    together.child.kill('SIGTERM');
    const { code, stdout, stderr } = await together.ended;
    expect(stdout).toMatch(/run stopped at step \d+/);
    expect(code).toBe(143);
    expect(stderr.match(/^corpus: /gm)).toHaveLength(1);
    expect(await hsn('train', '--out', folder.path('together'), '--resume')).toMatchObject({ code: 0 });
    expect(await hsn(...trainArgs('alone', 300))).toMatchObject({ code: 0 });
    const [ours, expected] = [losses('together'), losses('alone')];
    expect(ours).toHaveLength(300);
    for (let step = 0; step < 20; step++) expect(ours[step]).toBeCloseTo(expected[step]!, 4);
    const steps = metrics('together').flatMap(({ loss, step }) => (loss === undefined ? [] : [step]));
    expect(steps).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  });

  test('a rank that is killed ends all, with its name, and the run goes on', async () => {
    const group = new HsnProcess([...trainArgs('killed', 100_000), '--processes', '2']);
    await untilCheckpoint('killed', group);
    const pid = ranksOf(group.child.pid!).get(1)!;
    process.kill(pid, 'SIGKILL');
    const { code, stderr } = await group.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`hsn: rank 1 (process ${pid}) was ended by SIGKILL, so all 2 processes ended`);
    expect(stderr).not.toContain('    at ');
    expect(ranksOf(group.child.pid!).size).toBe(0);
    expect(stateOf('killed')).toBe('crashed');
    const last = Math.max(...fs.readdirSync(folder.path('killed', 'checkpoints')).flatMap(stepOf));
    const more = ['--set', `training.steps=${last + 5}`, '--force'];
    const resumed = await hsn('train', '--out', folder.path('killed'), '--resume', ...more);
    expect(resumed.stdout).toContain(`run finished at step ${last + 5}`);
  });

  test('a rank that is stopped is told as that, and ends all', async () => {
    const place = ['env', 'HSN_PATIENCE=20'];
    const group = new HsnProcess([...trainArgs('stopped', 100_000), '--processes', '2'], 'ignore', place);
    await untilCheckpoint('stopped', group);
    const pid = ranksOf(group.child.pid!).get(1)!;
    process.kill(pid, 'SIGSTOP');
    const { code, stderr } = await group.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`hsn: rank 1 (process ${pid}) was stopped (SIGSTOP, or a debugger) and did not`);
    expect(ranksOf(group.child.pid!).size).toBe(0);
  }, 120_000);

  test('faults are told once', async () => {
    const args = ['train', '--corpus', corpus, '--out', folder.path('odd'), '--processes', '3'];
    const { code, stderr } = await new HsnProcess(args).ended;
    expect(code).toBe(1);
    expect(stderr.match(/hsn: .*/g)).toEqual([
      'hsn: 256 sentences a batch cannot be shared by 3 processes: expected training.batch to be a multiple of 3',
    ]);
  });

  test('hands all other arguments on', () => {
    const args = ['train', '--processes', '2', '--out', 'run', '--processes=3', '--set', 'a=b'];
    expect(withoutProcesses(args)).toEqual(['train', '--out', 'run', '--set', 'a=b']);
  });
});

const stepOf = (name: string): number[] => (/^step-\d+$/.test(name) ? [Number(name.slice(5))] : []);

describe('ranks in two network namespaces', () => {
  const made = TwoMachines.make();
  const reason = typeof made === 'string' ? made : undefined;
  if (reason) process.stderr.write(`ranks in two network namespaces: skipped, ${reason}\n`);
  afterAll(() => {
    if (typeof made !== 'string') made.remove();
  });
  const start = (port: number, ...args: string[]) => (made as TwoMachines).start(port, args);

  test.skipIf(reason !== undefined)(
    'train together; one is killed, the other ends cleanly; both resume',
    async () => {
      const [first, second] = start(await freePort(), ...trainArgs('apart', 100_000));
      await untilCheckpoint('apart', first!);
      second!.child.kill('SIGKILL');
      const { code, stderr } = await first!.ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /hsn: rank 1 \(process \d+ on .+\) is gone; this process ended too\. --resume goes on/,
      );
      expect(stderr).not.toContain('    at ');
      expect(stateOf('apart')).toBe('crashed');
      const last = Math.max(...fs.readdirSync(folder.path('apart', 'checkpoints')).flatMap(stepOf));
      const more = ['--resume', '--force', '--set', `training.steps=${last + 20}`];
      const again = start(await freePort(), 'train', '--out', folder.path('apart'), ...more);
      const ends = await Promise.all(again.map(({ ended }) => ended));
      expect(ends.map((end) => end.code)).toEqual([0, 0]);
      expect(ends[0]!.stdout).toContain(`run finished at step ${last + 20}`);
      expect(ends[1]).toMatchObject({ stdout: '', stderr: '' });
    },
  );
});
