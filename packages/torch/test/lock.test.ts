import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, it } from 'vitest';
import { Lock, lockHolder } from '../src/lock.ts';

const folder = temporaryFolder('lock');
afterAll(folder.remove);

/** What a process of its own prints; `torch` tells it whether libtorch is among what it has loaded. */
function inProcess(script: string): string {
  const lock = new URL('../src/lock.ts', import.meta.url).href;
  const body = `import fs from 'node:fs';
    import { Lock } from ${JSON.stringify(lock)};
    const torch = () => fs.readFileSync('/proc/self/maps', 'utf8').includes('libtorch');
    ${script}`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', body];
  return execFileSync(process.execPath, args, { encoding: 'utf8', cwd: import.meta.dirname }).trim();
}

describe('a lock', () => {
  const file = () => folder.path('lock');

  it.runIf(process.platform === 'linux')('is taken without libtorch, which takes long to load', () => {
    const said = inProcess(`Lock.acquire(${JSON.stringify(file())}, 'it'); console.log(torch());
      await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}).then((t) => t.startEngine());
      console.log(torch());`);
    expect(said).toBe('false\ntrue');
  });

  it('keeps another process out as long as it is held, and not when its holder ended', () => {
    const lock = Lock.acquire(file(), 'it');
    const attempt = `try { Lock.acquire(${JSON.stringify(file())}, 'it'); console.log('taken'); }
      catch (error) { console.log(error.message); }`;
    expect(inProcess(attempt)).toContain(`it is in use by process ${process.pid}`);
    expect(lockHolder(file())).toMatchObject({ pid: process.pid });
    lock.release();
    expect(lockHolder(file())).toBeUndefined();
    expect(inProcess(attempt)).toBe('taken');
    expect(readFileSync(file(), 'utf8')).toContain('"pid"');
    expect(Lock.acquire(file(), 'it').recoveredFrom).toMatchObject({ host: expect.any(String) });
  });
});
