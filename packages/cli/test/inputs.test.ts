import fs from 'node:fs';
import { HANGING } from '@hidden-schema/testing/damaged-parquet';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguageFlags } from '@hidden-schema/testing/tiny-texts';
import { opened, peakMegabytes, writeEndless } from '@hidden-schema/testing/watched-process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-inputs');
const run = folder.path('run');
beforeAll(async () => {
  folder.holdCache();
  const { directory } = tinyCorpus(folder.path('corpus'));
  const flags = [...tinyFlags, '--set', 'training.steps=2'];
  expect((await hsn('train', '--corpus', directory, '--out', run, ...flags)).code).toBe(0);
});
afterAll(folder.remove);

describe.runIf(process.platform === 'linux')('while something is read', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    '%s ends a training on a Parquet file that hangs (fault 31)',
    async (signal, code) => {
      const out = folder.path(`out-${signal}`);
      const child = new HsnProcess(['train', '--corpus', HANGING, '--out', out, ...tinyLanguageFlags]);
      await opened(child, HANGING);
      child.child.kill(signal);
      const ended = await child.ended;
      expect(ended.code, ended.stderr).toBe(code);
      expect(ended.stderr).toContain('stopped while the corpus was read; no run was made');
      expect(fs.existsSync(out)).toBe(false);
    },
    60_000,
  );

  test('standard input without a line end is cut at the limit and counted (fault 39)', async () => {
    const child = new HsnProcess(['encode', run], 'pipe');
    const peak = peakMegabytes(child);
    await writeEndless(child, 24);
    const ended = await child.ended;
    expect(ended.stderr).toContain('has 1 tokens; sentences of this language have 5');
    expect(await peak).toBeLessThan(800);
  }, 120_000);

  test('SIGINT ends an encoding that waits for standard input', async () => {
    const child = new HsnProcess(['encode', run, '--format', 'jsonl'], 'pipe');
    const sentence = fs.readFileSync(folder.path('corpus', 'test.txt'), 'utf8').split('\n')[0];
    child.child.stdin!.write(`${sentence}\n`);
    await new Promise((resolve) => child.child.stdout!.once('data', resolve));
    child.child.kill('SIGINT');
    expect((await child.ended).code).toBe(130);
  }, 60_000);
});
