import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-schema');
afterAll(folder.remove);
const root = new URL('../../../', import.meta.url);

describe('hsn schema', () => {
  test('is the one that lies beside the experiments, which all name it', async () => {
    const { code, stdout } = await hsn('schema', '--all');
    expect(code).toBe(0);
    expect(fs.readFileSync(new URL('experiments/settings.schema.json', root), 'utf8')).toBe(stdout);
    for (const kind of ['language', 'reasoning', 'synthetic'])
      for (const file of fs.readdirSync(new URL(`experiments/${kind}`, root)))
        expect(fs.readFileSync(new URL(`experiments/${kind}/${file}`, root), 'utf8')).toMatch(
          /^# yaml-language-server: \$schema=\.\.\/settings\.schema\.json\n/,
        );
  });

  test('of one kind has its settings, and refuses what is no setting', async () => {
    const schema = JSON.parse((await hsn('schema', 'language', '--all')).stdout) as {
      properties: Record<string, { properties?: object }>;
      additionalProperties: boolean;
    };
    expect(Object.keys(schema.properties.encoder!.properties!)).toContain('walks');
    expect(schema.additionalProperties).toBe(false);
    const wrong = await hsn('schema', 'music');
    expect(wrong).toMatchObject({
      code: 1,
      stderr: 'hsn: settings are of synthetic, language, reasoning, optimus, ivae, vq; got music\n',
    });
  });
});

describe('hsn completion', () => {
  /** What bash offers for the words so far. */
  const offered = (script: string, ...words: string[]): string[] => {
    const ask = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_hsn\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', ask], { cwd: folder.path(), encoding: 'utf8' }).trim().split('\n');
  };

  test('completes verbs, options and run folders in bash', async () => {
    const { stdout } = await hsn('completion', 'bash');
    fs.mkdirSync(folder.path('my-run'), { recursive: true });
    fs.writeFileSync(folder.path('my-run', 'run.json'), '{}');
    expect(offered(stdout, 'hsn', 'sy')).toEqual(['symbols', 'synth']);
    expect(offered(stdout, 'hsn', 'train', '--st')).toEqual(['--stage', '--stop-words']);
    expect(offered(stdout, 'hsn', 'eval', 'my')).toContain('my-run');
  });

  test('is written for zsh and fish too, and for no other shell', async () => {
    expect((await hsn('completion', 'zsh')).stdout).toMatch(/^#compdef hsn\n/);
    expect((await hsn('completion', 'fish')).stdout).toContain('complete -c hsn');
    expect(await hsn('completion', 'csh')).toMatchObject({
      code: 1,
      stderr: 'hsn: completion is for bash, zsh and fish, got csh\n',
    });
  });
});
