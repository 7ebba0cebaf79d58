import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Random } from '@hidden-schema/base';
import { Run, readMetrics } from '@hidden-schema/hsn';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { TwoMachines } from '@hidden-schema/testing/network-namespaces';
import { subjects } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { openSafetensors } from '@hidden-schema/torch';
import { freePort } from '@hidden-schema/torch/distributed/place';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-discover-together');
const corpus = folder.path('texts.tsv');
const some = folder.path('some.txt');
const seeds = folder.path('seeds.tsv');

beforeAll(async () => {
  folder.holdCache();
  const random = new Random(4);
  const names = Object.keys(subjects) as (keyof typeof subjects)[];
  const lines = Array.from({ length: 480 }, (_, n) => {
    const own = subjects[names[n % 3]!];
    return `${names[n % 3]}\tthe ${Array.from({ length: 4 }, () => own[random.int(10)]).join(' ')} ${n % 7}`;
  });
  writeTexts(corpus, lines);
  writeTexts(
    some,
    lines.slice(0, 50).map((line) => line.split('\t')[1]!),
  );
  writeTexts(seeds, ['strings\tviolin guitar', 'far away\tgalaxy planet']);
  // In a process of its own, as the others are: with other threads, products round differently.
  const ended = await new HsnProcess(discovering('alone')).ended;
  expect(ended.code, ended.stderr).toBe(0);
});
afterAll(folder.remove);

const small = [
  ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
  ...['training.steps=2', 'training.batch=12', 'training.evaluateEvery=2', 'training.warmup=1'],
].flatMap((setting) => ['--set', setting]);
const discovering = (out: string, ...more: string[]) => [
  ...['train', '--corpus', corpus, '--stage', 'discover', '--out', folder.path(out)],
  ...['--symbols', '40', '--length', '7', '--seeds', seeds, ...small, ...more],
];

/** The tensors of a run that discovery sets. */
function found(out: string): Record<string, number[]> {
  const weights = openSafetensors(folder.path(out, 'checkpoints', 'step-0', 'model.safetensors'));
  const set = ['symbols.vectors', 'graph.logits', 'encoder.vectorMean', 'encoder.words.directions'];
  const names = [...set, ...weights.names.filter((name) => name.startsWith('encoder.steps.'))];
  const tensors = names.map((name) => [name, weights.get(name).toNumbers()] as const);
  weights.close();
  return Object.fromEntries(tensors);
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** The same dictionary, links and walks as one process finds: numbers to rounding, counts exactly. */
async function expectAsAlone(out: string, alone = 'alone'): Promise<void> {
  const [ours, expected] = [found(out), found(alone)];
  for (const [name, numbers] of Object.entries(expected)) {
    // Log-odds of links that are all but certain are rounding: links are compared as probabilities.
    const seen = name === 'graph.logits' ? sigmoid : (x: number) => x;
    const apart = numbers.map((value, at) => Math.abs(seen(value) - seen(ours[name]![at]!)));
    // Probabilities of candidate walks multiply a rounding by their sharpness, 800 nats.
    expect(Math.max(...apart), name).toBeLessThan(name === 'graph.logits' ? 1e-4 : 2e-6);
  }
  expect(await walksOf(out)).toEqual(await walksOf(alone));
}

/** Walks of some of the texts. */
async function walksOf(run: string): Promise<number[][]> {
  const { code, stdout, stderr } = await hsn('encode', folder.path(run), some, '--format', 'jsonl');
  expect(code, stderr).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { walk: number[] }).walk);
}

const sweepsOf = (out: string): number =>
  fs.existsSync(folder.path(out, 'metrics.jsonl'))
    ? readMetrics(folder.path(out, 'metrics.jsonl')).rows.filter(({ sweep }) => sweep !== undefined).length
    : 0;

async function untilSweep(out: string, process: HsnProcess): Promise<void> {
  while (sweepsOf(out) === 0) {
    if (process.child.exitCode !== null) throw new Error((await process.ended).stderr);
    await setTimeout(2);
  }
}

describe('discovery in several processes', () => {
  test('of one machine is that of one process, and the decoder follows', async () => {
    const group = new HsnProcess([...discovering('two'), '--processes', '2']);
    const { code, stdout, stderr } = await group.ended;
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('run discovered');
    expect(stderr.match(/^corpus: /gm)).toHaveLength(1);
    await expectAsAlone('two');
    const written = await new HsnProcess([
      ...['train', '--out', folder.path('two'), '--resume', '--processes', '2'],
    ]).ended;
    expect(written.code, written.stderr).toBe(0);
    expect(written.stdout).toContain('run finished at step 2');
  });

  test('of walks that follow words is that of one process', async () => {
    const following = ['--set', 'discovery.follow=words'];
    for (const [out, ...more] of [['words'], ['two-words', '--processes', '2']] as const) {
      const { code, stderr } = await new HsnProcess(discovering(out, ...following, ...more)).ended;
      expect(code, stderr).toBe(0);
    }
    expect(Object.keys(found('words'))).toEqual(
      expect.arrayContaining(['encoder.steps.directions', 'encoder.steps.telling']),
    );
    await expectAsAlone('two-words', 'words');
  });

  test('stops on a signal, with nothing half done', async () => {
    const group = new HsnProcess([...discovering('stopped'), '--processes', '2']);
    await untilSweep('stopped', group);
    group.child.kill('SIGTERM');
    const { code, stderr } = await group.ended;
    expect(code, stderr).toBe(143);
    expect(stderr).not.toContain('    at ');
    expect(Run.open(folder.path('stopped')).state).toBe('stopped');
  });
});

describe('discovery on two machines', () => {
  const made = TwoMachines.make();
  const reason = typeof made === 'string' ? made : undefined;
  if (reason) process.stderr.write(`discovery on two machines: skipped, ${reason}\n`);
  afterAll(() => {
    if (typeof made !== 'string') made.remove();
  });

  test.skipIf(reason !== undefined)(
    'ends where one is cut off in a sweep, goes on with --resume, and is that of one process',
    async () => {
      const machines = made as TwoMachines;
      const patience = { HSN_PATIENCE: '5' };
      const ranks = machines.start(await freePort(), discovering('cut'), patience);
      await untilSweep('cut', ranks[0]!);
      machines.cutOff();
      const ends = await Promise.all(ranks.map(({ ended }) => ended));
      expect(ends.map(({ code }) => code)).toEqual([1, 1]);
      const lost = (rank: number) =>
        new RegExp(
          `^hsn: rank ${rank} \\(process \\d+ on .+\\) has not answered for [25] s \\(stopped, or cut off\\); this process ended too\\..*$`,
          'm',
        );
      expect(ends[0]!.stderr).toMatch(lost(1));
      expect(ends[1]!.stderr).toMatch(lost(0));
      for (const { stderr } of ends) expect(stderr).not.toContain('    at ');
      expect(Run.open(folder.path('cut')).state).toBe('crashed');
      expect(fs.readdirSync(folder.path('cut', 'checkpoints'))).toEqual([]);
      expect(sweepsOf('cut')).toBeLessThan(16);
      machines.plugIn();
      const again = ['train', '--out', folder.path('cut'), '--resume', '--stage', 'discover'];
      const resumed = machines.start(await freePort(), again);
      const [first, second] = await Promise.all(resumed.map(({ ended }) => ended));
      expect(first!.code, first!.stderr).toBe(0);
      expect(first!.stdout).toContain('run discovered');
      expect(second).toMatchObject({ code: 0, stdout: '', stderr: '' });
      await expectAsAlone('cut');
    },
  );
});
