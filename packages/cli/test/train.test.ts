import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Run, type SyntheticSettings, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { HsnProcess, hsn, runHsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyFlags, tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { lockHolder } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-train');
afterAll(folder.remove);
const draw = (name: string, changes: Partial<SyntheticSettings> = {}) => {
  writeSyntheticCorpus({ ...tinySettings, ...changes }, folder.path(name));
  return folder.path(name);
};
const corpus = draw('corpus');

describe('hsn train', () => {
  test('trains, reports, and evaluates to the same figures in another process', async () => {
    const out = folder.path('run');
    const trained = await runHsn('train', '--corpus', corpus, '--out', out, ...tinyFlags);
    expect(trained.stderr).toContain('corpus: 280 + 80 + 40 sentences of 5 tokens, truth known');
    expect(trained.stderr).toMatch(/train: 15 steps in .* loss .* nll .* kl-z .* valid .* auc/);
    expect(trained.code).toBe(0);
    expect(trained.stdout).toContain('on 40 test sentences:');
    expect(trained.stdout).toMatch(/ {2}auc +[01]\.\d{4} {2}ROC AUC of link probabilities/);
    expect(trained.stdout).toMatch(
      /run finished at step 15: .*\nverbs use the checkpoint of step \d+, the best on validation texts.*\nlook again with: hsn eval .*\n$/,
    );
    const evaluated = await runHsn('eval', out, '--json');
    expect(evaluated).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(evaluated.stdout)).toEqual(
      JSON.parse(fs.readFileSync(Run.open(out).path('evaluation.json'), 'utf8')),
    );
  });

  test('reads a settings file, with --set above it', async () => {
    const file = folder.path('settings.yaml');
    fs.writeFileSync(file, 'seed: 4\ntraining:\n  steps: 2\n  rate: 0.002\n');
    const out = folder.path('from-file');
    const small = tinyFlags.filter((flag) => !flag.startsWith('training.steps'));
    const flags = small.filter((flag, i) => flag !== '--set' || small[i + 1]?.includes('='));
    const { code } = await hsn(
      'train',
      file,
      '--corpus',
      corpus,
      '--out',
      out,
      ...flags,
      '--set',
      'training.rate=0.003',
    );
    expect(code).toBe(0);
    expect(Run.open(out).config).toMatchObject({ seed: 4, training: { steps: 2, rate: 0.003, batch: 64 } });
  });

  test('keeps a run that is there; --force replaces it', async () => {
    const out = folder.path('kept');
    const args = ['train', '--corpus', corpus, '--out', out, ...tinyFlags, '--set', 'training.steps=2'];
    expect((await hsn(...args)).code).toBe(0);
    const created = Run.open(out).record.created;
    const refused = await hsn(...args);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'already holds a run; continue it with --resume, replace it with --force',
    );
    expect(Run.open(out).record.created).toBe(created);
    expect((await hsn(...args, '--force')).code).toBe(0);
    expect(Run.open(out).record.created).not.toBe(created);
    // What cannot be trained must not cost the run that is there.
    const before = fs.readdirSync(out);
    expect((await hsn(...args, '--force', '--set', 'symbols=3')).code).toBe(1);
    expect(fs.readdirSync(out)).toEqual(before);
    expect(Run.open(out).state).toBe('finished');
  });
});

describe('hsn train --resume', () => {
  const out = folder.path('changed');
  const resume = (...args: string[]) => hsn('train', '--out', out, '--resume', ...args);

  test('refuses other settings with their difference, and takes them with --force', async () => {
    const first = await hsn(
      'train',
      '--corpus',
      corpus,
      '--out',
      out,
      ...tinyFlags,
      '--set',
      'training.steps=4',
    );
    expect(first.code).toBe(0);
    const refused = await resume('--set', 'training.steps=6', '--set', 'training.rate=0.01');
    expect(refused.code).toBe(1);
    expect(refused.stderr.trimEnd().split('\n')).toEqual([
      `hsn: ${out} was trained with other settings:`,
      '  training.steps: 4 → 6',
      '  training.rate: 0.001 → 0.01',
      '  resume without them, or add --force to go on with them',
    ]);
    expect(Run.open(out).config.training.steps).toBe(4);
    const forced = await resume('--set', 'training.steps=6', '--set', 'training.rate=0.01', '--force');
    expect(forced.code).toBe(0);
    expect(forced.stdout).toContain('run finished at step 6');
    expect(Run.open(out).config).toMatchObject({
      encoder: { width: 16 },
      training: { steps: 6, rate: 0.01 },
    });
    expect((await resume()).code).toBe(0);
  });

  test('refuses another corpus, by what is in it and not by its name', async () => {
    fs.cpSync(corpus, folder.path('same'), { recursive: true });
    expect((await resume('--corpus', folder.path('same'))).code).toBe(0);
    const refused = await resume('--corpus', draw('other', { seed: 12 }));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/ {2}corpus: .*corpus \(\w{12}\) → .*other \(\w{12}\)\n/);
  });

  test('with settings that the weights do not fit changes nothing, even with --force', async () => {
    const before = Run.open(out).config;
    const { code, stderr } = await resume('--set', 'encoder.width=32', '--force');
    expect(code).toBe(1);
    expect(stderr).toMatch(/hsn: the checkpoint of step 6 needs the settings it was made with: .*encoder/);
    expect(Run.open(out).config).toEqual(before);
    expect((await resume()).code).toBe(0);
  });
});

describe('a run that another process trains', () => {
  test('is left alone, and taken over when that process was killed', async () => {
    const out = folder.path('busy');
    const flags = [...tinyFlags, '--set', 'training.steps=60'];
    const other = new HsnProcess([
      'train',
      '--corpus',
      corpus,
      '--out',
      out,
      ...flags,
      '--set',
      'training.steps=100000',
    ]);
    await other.seen('train ');
    for (const args of [['--resume'], ['--corpus', corpus, '--force']]) {
      const { code, stderr } = await hsn('train', '--out', out, ...args);
      expect(code).toBe(1);
      expect(stderr).toContain(`is in use by process ${other.child.pid} since`);
    }
    other.child.kill('SIGKILL');
    expect((await other.ended).signal).toBe('SIGKILL');
    expect(Run.open(out).state).toBe('crashed');
    const taken = await hsn('train', '--out', out, '--resume', '--set', 'training.steps=5', '--force');
    expect(taken.stderr).toContain(`recovered the lock that process ${other.child.pid} left`);
    expect(taken.code).toBe(0);
    expect(Run.open(out).state).toBe('finished');
  });
});

describe('a signal', () => {
  // Sentences enough that sweeps, or the last evaluation, take a while.
  const sweeping = draw('sweeping', { tokens: 9, sentences: 8000, split: [90, 5, 5] });
  const testing = draw('testing', { sentences: 20_000, split: [1, 1, 98] });
  const phases = [
    { during: 'sweeps', on: sweeping, steps: 4, after: 'graph ' },
    { during: 'training', on: corpus, steps: 120, after: 'train ' },
    { during: 'evaluation', on: testing, steps: 2, after: 'train: 2 steps' },
  ];
  const signals = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const;
  const matrix = phases.flatMap((phase) => signals.map(([signal, code]) => ({ ...phase, signal, code })));

  test.each(matrix)('$signal during $during saves, exits with $code, and the run goes on', async (it) => {
    const out = folder.path(`${it.during}-${it.signal}`);
    const flags = [...tinyFlags, '--set', `training.steps=${it.steps}`, '--set', 'training.evaluateEvery=60'];
    const process = new HsnProcess(['train', '--corpus', it.on, '--out', out, ...flags]);
    await process.seen(it.after);
    process.child.kill(it.signal);
    const { code, stdout, stderr } = await process.ended;
    expect(stderr).toContain('stopping after this step and saving; once more to end at once');
    expect(code).toBe(it.code);
    expect(Run.open(out).state).toBe(it.during === 'evaluation' ? 'finished' : 'stopped');
    if (it.during !== 'evaluation')
      expect(stdout).toContain(`continue with: hsn train --out ${out} --resume`);
    expect(lockHolder(Run.open(out).path('lock'))).toBeUndefined();
    const half = await hsn('eval', out, '--json', '--limit', '20', '--checkpoint', 'last');
    expect(half.code).toBe(0);
    const resumed = await hsn('train', '--out', out, '--resume');
    expect(resumed.code).toBe(0);
    expect(resumed.stdout).toContain(`run finished at step ${it.steps}`);
  });

  test.each(signals)('%s a second time ends the process at once, whatever it does', async (signal) => {
    const stopping = fileURLToPath(new URL('../src/stopping.ts', import.meta.url));
    const body = `import { stoppable } from ${JSON.stringify(stopping)};
      const wait = setInterval(() => {}, 1000);
      await stoppable(async (signal) => {
        const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
        process.stderr.write('ready\\n');
        await stopped;
        for (;;);
      });`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', body], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'exit');
    let text = '';
    child.stderr.on('data', (data: Buffer) => {
      const before = text;
      text += data;
      for (const word of ['ready', 'once more'])
        if (text.includes(word) && !before.includes(word)) child.kill(signal);
    });
    expect(await ended).toEqual([null, signal]);
    expect(text).toContain('stopping after this step');
  });
});
