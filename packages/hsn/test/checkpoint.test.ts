import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random, UserError } from '@hidden-schema/base';
import { saveCheckpoint } from '@hidden-schema/testing/save-checkpoint';
import { cannotStick, makeStuck } from '@hidden-schema/testing/stuck-file';
import { Tensor } from '@hidden-schema/torch';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { syntheticOptions } from '../src/config/network.ts';
import {
  bestStep,
  checkpointSteps,
  discardCheckpointsAfter,
  loadCheckpoint,
  verifyCheckpoint,
} from '../src/run/checkpoint.ts';
import { CheckpointWriter } from '../src/run/checkpoint-writer.ts';
import { Run } from '../src/run/run.ts';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-checkpoint-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

const weights = (step: number) => [
  ['encoder.weight', Tensor.fromArray(Float32Array.from([step, -0, 1e-40, Number.NaN]), [2, 2])] as const,
  ['steps', Tensor.fromArray(BigInt64Array.from([BigInt(step)]), [])] as const,
  ['empty', Tensor.fromArray(new Float32Array(0), [0, 3])] as const,
];
const save = (step: number, options: { best?: boolean; keep?: number } = {}) =>
  saveCheckpoint(run, step, { model: weights(step), optimizer: weights(-step), state: { step } }, options);
const file = (step: number, name: string) => run.path('checkpoints', `step-${step}`, name);
const damage = (step: number, name = 'model.safetensors') => {
  const bytes = fs.readFileSync(file(step, name));
  bytes[bytes.length - 1]! ^= 1;
  fs.writeFileSync(file(step, name), bytes);
};

let run: Run;
let made = 0;
beforeEach(() => {
  const directory = path.join(root, `run-${made++}`);
  run = Run.create(directory, syntheticOptions.parse({}), { directory: 'corpus', fingerprint: 'abc' });
});

describe('saving and loading', () => {
  test('every bit of tensors and state comes back', async () => {
    const state = {
      epoch: 1 / 3,
      order: [3, 1, 2],
      random: { words: [4294967295, 0] },
      best: null,
      text: 'ü',
    };
    await saveCheckpoint(run, 7, { model: weights(7), optimizer: weights(8), state });
    const loaded = loadCheckpoint(run, 'last');
    expect(loaded).toMatchObject({ step: 7, state, notes: [] });
    for (const [map, step] of [
      [loaded.model, 7],
      [loaded.optimizer!, 8],
    ] as const) {
      expect([...map.keys()]).toEqual(['encoder.weight', 'steps', 'empty']);
      for (const [name, expected] of weights(step)) {
        const got = map.get(name)!;
        expect([got.dtype, got.shape]).toEqual([expected.dtype, expected.shape]);
        expect(Buffer.from(got.toArray().buffer)).toEqual(Buffer.from(expected.toArray().buffer));
      }
    }
    expect(fs.readdirSync(run.path('checkpoints'))).toEqual(['step-7']);
  });

  test('loaded tensors outlive the files, and writing to them does not change those', async () => {
    await save(1);
    const { model } = loadCheckpoint(run, 1);
    model.get('encoder.weight')!.zero_();
    verifyCheckpoint(run, 1);
    const again = loadCheckpoint(run, 1).model.get('encoder.weight')!;
    fs.rmSync(run.path('checkpoints', 'step-1'), { recursive: true });
    expect(again.toNumbers()[0]).toBe(1);
  });

  test('without an optimizer', async () => {
    await saveCheckpoint(run, 1, { model: weights(1), state: null });
    expect(loadCheckpoint(run, 'last').optimizer).toBeUndefined();
  });

  test('the same step again replaces the first', async () => {
    await save(1);
    await saveCheckpoint(run, 1, { model: weights(5), state: 'second' });
    expect(loadCheckpoint(run, 1)).toMatchObject({ state: 'second', optimizer: undefined });
    expect(fs.readdirSync(run.path('checkpoints'))).toEqual(['step-1']);
  });

  test.skipIf(cannotStick() !== undefined).each(['a file of it', 'its folder'])(
    'an old checkpoint that cannot be removed, %s, is told once and ends nothing',
    async (what) => {
      const said: string[] = [];
      const writer = new CheckpointWriter(run, (text) => said.push(text));
      const write = (step: number) =>
        writer.save(step, { model: weights(step), state: { step } }, { keep: 1 });
      await write(1);
      await writer.settle();
      const release = makeStuck(
        what === 'its folder' ? run.path('checkpoints', 'step-1') : file(1, 'state.json'),
      );
      try {
        for (const step of [2, 3, 4]) await write(step);
        await writer.settle();
        expect(said).toEqual([
          expect.stringMatching(/^warning: an old checkpoint cannot be removed, and takes space: E/),
        ]);
        expect(loadCheckpoint(run, 'last').step).toBe(4);
        expect(checkpointSteps(run).slice(-1)).toEqual([4]);
      } finally {
        release();
        const gone = run.path('checkpoints', '.gone-step-1');
        if (fs.existsSync(gone)) spawnSync('chattr', ['-R', '-i', gone]);
      }
    },
  );

  test('the last n and the best are kept', async () => {
    for (let step = 1; step <= 6; step++) await save(step, { best: step === 2, keep: 2 });
    expect(checkpointSteps(run)).toEqual([2, 5, 6]);
    expect(loadCheckpoint(run, 'best').step).toBe(2);
    await save(7, { best: true, keep: 2 });
    expect(checkpointSteps(run)).toEqual([6, 7]);
    expect(bestStep(run)).toBe(7);
  });

  test('steps sort as numbers', async () => {
    for (const step of [9, 10, 100]) await save(step);
    expect(loadCheckpoint(run, 'last').step).toBe(100);
  });

  test('a state that JSON cannot hold is refused before anything is written', async () => {
    const state = { best: Number.POSITIVE_INFINITY };
    await expect(saveCheckpoint(run, 1, { model: [], state })).rejects.toThrow('best is Infinity');
    expect(fs.readdirSync(run.path('checkpoints'))).toEqual([]);
  });

  test('tensors may change as soon as a save has begun, and a second save waits for the first', async () => {
    const writer = new CheckpointWriter(run);
    const tensor = Tensor.fromArray(Float32Array.from([1, 2]), [2]);
    const parts = { model: [['a', tensor]] as const, state: null };
    await writer.save(1, parts);
    tensor.zero_();
    await writer.save(2, parts);
    expect(checkpointSteps(run)).toEqual([1]);
    await writer.settle();
    expect(loadCheckpoint(run, 1).model.get('a')!.toNumbers()).toEqual([1, 2]);
    expect(loadCheckpoint(run, 2).model.get('a')!.toNumbers()).toEqual([0, 0]);
  });

  test('a fault while it is written comes up at the next look, once', async () => {
    await save(1);
    const writer = new CheckpointWriter(run);
    await writer.save(2, { model: weights(2), state: null });
    fs.rmSync(run.path('checkpoints', '.partial-step-2'), { recursive: true });
    await expect(writer.settle()).rejects.toThrow(
      /^cannot write the checkpoint .*step-2: ENOENT.*; the checkpoints before it are kept$/,
    );
    writer.check();
    expect(checkpointSteps(run)).toEqual([1]);
    await writer.save(2, { model: weights(2), state: null });
    await writer.settle();
    expect(fs.readdirSync(run.path('checkpoints')).sort()).toEqual(['step-1', 'step-2']);
  });

  test('what is not there is said', async () => {
    expect(() => loadCheckpoint(run, 'last')).toThrow(`${run.directory} has no checkpoint yet: it has none`);
    expect(() => loadCheckpoint(run, 'best')).toThrow(UserError);
    await save(3);
    expect(() => loadCheckpoint(run, 5)).toThrow('has no checkpoint of step 5: it has steps 3');
    expect(loadCheckpoint(run, 'best').notes).toEqual([
      `${run.path('checkpoints', 'best.json')} names no checkpoint; the last one is used`,
    ]);
    run.close();
    await expect(save(4)).rejects.toThrow('open it with { write: true }');
  });

  test('continuing from an earlier step discards the later ones', async () => {
    for (const step of [10, 20, 30]) await save(step, { best: step === 30 });
    discardCheckpointsAfter(run, 10);
    expect(checkpointSteps(run)).toEqual([10]);
    expect(bestStep(run)).toBeUndefined();
  });
});

describe('damage', () => {
  test('falls back to the previous good one and says so', async () => {
    for (const step of [1, 2, 3]) await save(step, { best: step === 1 });
    damage(3);
    fs.rmSync(file(2, 'state.json'));
    const { step, notes } = loadCheckpoint(run, 'last');
    expect(step).toBe(1);
    expect(notes[0]).toMatch(
      new RegExp(
        `^${file(3, 'model.safetensors')} is damaged: expected sha256 .*…; step 1 is used in its place$`,
      ),
    );
    expect(notes[1]).toMatch(new RegExp(`^cannot read ${file(2, 'state.json')}: ENOENT.*; step 1 is used`));
    expect(loadCheckpoint(run, 3).step).toBe(1);
    damage(1);
    expect(() => loadCheckpoint(run, 'last')).toThrow(
      new RegExp(
        `^no checkpoint of ${run.directory} can be read: .*step-3/model.*step-2/state.*step-1/model`,
      ),
    );
  });

  test('a damaged best one gives way to the last', async () => {
    for (const step of [1, 2, 3]) await save(step, { best: step === 2 });
    damage(2, 'optimizer.safetensors');
    expect(loadCheckpoint(run, 'best')).toMatchObject({
      step: 3,
      notes: [expect.stringContaining('step 3 is used')],
    });
  });

  test('a file cut at every hundredth of its length is named', async () => {
    await save(1);
    for (const name of fs.readdirSync(run.path('checkpoints', 'step-1'))) {
      const whole = fs.readFileSync(file(1, name));
      for (let percent = 0; percent < 100; percent++) {
        fs.writeFileSync(file(1, name), whole.subarray(0, Math.floor((whole.length * percent) / 100)));
        expect(() => verifyCheckpoint(run, 1)).toThrow(`${file(1, name)} is damaged`);
      }
      fs.writeFileSync(file(1, name), whole);
    }
    expect(loadCheckpoint(run, 1).notes).toEqual([]);
  });

  test('of 200 random bit flips in any file, all are detected', async () => {
    await save(1);
    const random = new Random(1);
    const names = fs.readdirSync(run.path('checkpoints', 'step-1'));
    expect(names.length).toBe(4);
    for (let flip = 0; flip < 200; flip++) {
      const name = names[flip % names.length]!;
      const whole = fs.readFileSync(file(1, name));
      const flipped = Buffer.from(whole);
      flipped[random.int(whole.length)]! ^= 1 << random.int(8);
      fs.writeFileSync(file(1, name), flipped);
      expect(() => verifyCheckpoint(run, 1)).toThrow(UserError);
      fs.writeFileSync(file(1, name), whole);
    }
    verifyCheckpoint(run, 1);
  });

  test('a manifest with other names, or of another step, is refused', async () => {
    await save(1);
    await save(2);
    fs.copyFileSync(file(2, 'manifest.json'), file(1, 'manifest.json'));
    expect(() => verifyCheckpoint(run, 1)).toThrow(`${file(1, 'manifest.json')} is damaged`);
    const manifest = JSON.parse(fs.readFileSync(file(2, 'manifest.json'), 'utf8'));
    manifest.files['../../run.json'] = manifest.files['state.json'];
    fs.writeFileSync(file(2, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    expect(() => verifyCheckpoint(run, 2)).toThrow(`${file(2, 'manifest.json')} is damaged`);
  });
});

describe('what a killed process leaves', () => {
  test('half-written and half-removed folders are tidied up, one moved aside comes back', async () => {
    for (const step of [1, 2]) await save(step);
    const folder = run.path('checkpoints');
    fs.mkdirSync(path.join(folder, '.partial-step-3'));
    fs.mkdirSync(path.join(folder, '.gone-step-0'));
    fs.renameSync(path.join(folder, 'step-2'), path.join(folder, '.old-step-2'));
    expect(loadCheckpoint(run, 'last').step).toBe(2);
    await save(3);
    expect(fs.readdirSync(folder).sort()).toEqual(['step-1', 'step-2', 'step-3']);
    expect(loadCheckpoint(run, 2)).toMatchObject({ step: 2, notes: [] });
  });

  const script = fileURLToPath(new URL('./checkpoint-writer.ts', import.meta.url));
  const node = [process.execPath, '--import', 'tsx', script] as const;

  test('killed at random moments, the run always opens with a whole checkpoint', async () => {
    const directory = path.join(root, 'killed');
    const random = new Random(5);
    for (let kill = 0; kill < 3; kill++) {
      const child = spawn(node[0], [...node.slice(1), directory, '0', '200000']);
      await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, 100 + 200 * random.next()));
      child.kill('SIGKILL');
      await once(child, 'exit');
      const opened = Run.open(directory);
      expect(opened.state).toBe('crashed');
      const { step, model, state, notes } = loadCheckpoint(opened, 'last');
      expect({ state, notes }).toEqual({ state: { step }, notes: [] });
      expect(
        model
          .get('weight')!
          .toNumbers()
          .every((value) => value === step),
      ).toBe(true);
    }
  });

  test('disk full: said before writing, and the previous checkpoint stays', (context) => {
    const shell = (command: string) =>
      spawnSync('unshare', ['-rm', 'sh', '-c', command], { encoding: 'utf8' });
    const disk = path.join(root, 'disk');
    fs.mkdirSync(disk);
    const mount = `mount -t tmpfs -o size=3m tmpfs ${disk}`;
    // A small disk needs a mount namespace, which not every machine gives to its users.
    if (shell(mount).status !== 0) return context.skip('no permission to mount a small disk');
    const write = (count: number, elements: number) => `${node.join(' ')} ${disk}/run ${count} ${elements}`;
    const list = `ls -A ${disk}/run/checkpoints`;
    const { stdout } = shell(`${mount} && ${write(1, 1000)}; ${write(9, 300_000)}; ${list}`);
    expect(stdout.split('\n')).toEqual([
      'saved 1',
      expect.stringMatching(
        /^UserError: not enough space for checkpoint step-1: it needs 3\.4 MB, \d\.\d MB are free in .*; the checkpoints before it are kept$/,
      ),
      'step-1',
      '',
    ]);
  });

  test('a write that fails halfway leaves no partial file', async () => {
    const directory = path.join(root, 'limited');
    const write = (elements: number) => `${node.join(' ')} ${directory} 1 ${elements}`;
    const ran = spawnSync('bash', ['-c', `${write(1000)}; ulimit -f 1000; ${write(1_000_000)}`], {
      encoding: 'utf8',
    });
    expect(ran.stdout).toMatch(/^saved 1\nUserError: cannot write the checkpoint .*step-1: EFBIG/);
    expect(ran.stdout).toContain('the checkpoints before it are kept');
    expect(fs.readdirSync(path.join(directory, 'checkpoints'))).toEqual(['step-1']);
    expect(loadCheckpoint(Run.open(directory), 'last').model.get('weight')!.shape).toEqual([1000]);
  });
});
