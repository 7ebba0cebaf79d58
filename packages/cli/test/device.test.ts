import fs from 'node:fs';
import { hsn, runHsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { engineInfo } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-device');
afterAll(folder.remove);
const texts = writeTexts(folder.path('texts.tsv'));
const train = ['train', '--corpus', texts, '--set', 'model=language', ...tinyLanguageFlags];
/** One card more than there are. */
const missing = `cuda:${engineInfo().devices.length - 1}`;

describe('a device', () => {
  test.each([
    ['--device', missing],
    ['--set', `device=${missing}`],
  ])('that is not there is refused in one line: %s %s', async (...flags) => {
    const { code, stderr } = await hsn(...train, '--out', folder.path('none'), ...flags);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^hsn: device ${missing} cannot be used: [^\n]+\n$`));
    expect(fs.existsSync(folder.path('none'))).toBe(false);
  });

  test.each([
    [['--device', 'meta'], 'hsn: device: expected cpu, cuda, cuda:<number> or auto, got meta\n'],
    [
      ['--set', 'device=gpu'],
      'hsn: settings: device: expected one of cpu, cuda, auto or cuda:<number>, got "gpu" (--set)\n',
    ],
  ])('that is none is refused in one line: %s', async (flags, line) => {
    expect(await hsn(...train, '--out', folder.path('none'), ...flags)).toMatchObject({
      code: 1,
      stderr: line,
    });
  });

  test('is noted in the settings, and a run goes on with another one', async () => {
    const out = folder.path('run');
    const steps = (count: number) => ['--set', `training.steps=${count}`];
    expect(await runHsn(...train, ...steps(3), '--out', out, '--device', 'cpu')).toMatchObject({ code: 0 });
    expect(fs.readFileSync(folder.path('run', 'config.yaml'), 'utf8')).toContain('\ndevice: cpu\n');
    const again = await runHsn('train', '--out', out, '--resume', '--set', 'device=auto');
    expect(again).toMatchObject({ code: 0 });
  });
});
