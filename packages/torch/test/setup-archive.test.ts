import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  faultOf,
  lend,
  program,
  putHeaders,
  putLibraries,
  root,
  run,
  systemPath,
  useMadeUpMachine,
  wordOfAddon,
} from './made-up-machine.ts';

useMadeUpMachine();

/** A bare machine has no unzip; python3, which makes the archive, then stands behind the name. */
function lendUnzip(): void {
  if (spawnSync('unzip', ['-v']).error === undefined) lend('unzip');
  // As it is called: -q -o FILE -d FOLDER.
  else program('unzip', `PATH='${systemPath}' exec python3 -m zipfile -e "$3" "$5"`);
}

describe('the official archive', () => {
  let server: Server;
  let archive: Buffer;
  let asked: number;

  function serve(listener: RequestListener): Promise<string> {
    server = createServer((request, response) => {
      asked++;
      listener(request, response);
    });
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      );
    });
  }

  beforeEach(() => {
    asked = 0;
    lend('c++');
    lendUnzip();
    putHeaders('pack/libtorch/include', [2, 7, 1]);
    putLibraries('pack/libtorch/lib');
    const script = 'import shutil, sys; shutil.make_archive(sys.argv[1], "zip", sys.argv[2])';
    execFileSync('python3', ['-c', script, join(root, 'archive'), join(root, 'pack')]);
    archive = readFileSync(join(root, 'archive.zip'));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const hash = (): string => createHash('sha256').update(archive).digest('hex');
  const env = (url: string, sha256 = hash()) => ({ HSN_LIBTORCH_URL: url, HSN_LIBTORCH_SHA256: sha256 });

  it('is downloaded, checked, unpacked and built against; a new build needs no second download', async () => {
    let path = '';
    const url = await serve((request, response) => {
      path = request.url ?? '';
      response.end(archive);
    });
    expect(await run({ env: env(url) })).toMatchObject({ origin: 'archive', version: '2.7.1' });
    expect(path).toMatch(/^\/cpu\/libtorch-shared-with-deps-[\d.]+%2Bcpu\.zip$/);
    expect(wordOfAddon()).toBe('one');
    rmSync(join(root, 'build/info.json'));
    expect(await run()).toMatchObject({ origin: 'archive' });
    expect(asked).toBe(1);
    expect(readdirSync(join(root, 'build')).sort()).toEqual(['info.json', 'libtorch', 'torch.node']);
  });

  it('is unpacked with python3 where unzip is missing', async () => {
    rmSync(join(root, 'bin/unzip'));
    program('python3', `case "$*" in *zipfile*) PATH='${systemPath}' exec python3 "$@";; *) exit 1;; esac`);
    const url = await serve((_request, response) => response.end(archive));
    expect(await run({ env: env(`${url}/mine.zip`) })).toMatchObject({ origin: 'archive' });
  });

  it('is refused when its hash is another', async () => {
    const url = await serve((_request, response) => response.end(archive));
    const text = await faultOf(run({ env: env(url, 'a'.repeat(64)) }));
    expect(text).toContain('the archive is not the one you named');
    expect(text).toContain(`expected  sha256 ${'a'.repeat(64)}`);
    expect(text).toContain(`found     sha256 ${hash()}`);
    expect(asked).toBe(1);
    expect(readdirSync(join(root, 'build'))).toEqual([]);
  });

  it('is fetched again when the body was cut, and given up after three times', async () => {
    let cuts = 1;
    const url = await serve((_request, response) => {
      response.setHeader('content-length', archive.length);
      if (cuts-- > 0) response.write(archive.subarray(0, 1000), () => response.destroy());
      else response.end(archive);
    });
    expect(await run({ env: env(url) })).toMatchObject({ origin: 'archive' });
    expect(asked).toBe(2);
    rmSync(join(root, 'build'), { recursive: true });
    cuts = 99;
    const text = await faultOf(run({ env: env(url) }));
    expect(text).toContain('the download broke off');
    expect(text).toContain('3 broken transfers');
    expect(asked).toBe(5);
    expect(readdirSync(join(root, 'build'))).toEqual([]);
  });

  it('is never downloaded without a hash, nor with half of one', async () => {
    const url = await serve((_request, response) => response.end(archive));
    expect(await faultOf(run({ env: { HSN_LIBTORCH_URL: url } }))).toContain(
      'HSN_LIBTORCH_SHA256=<that> npm install',
    );
    const text = await faultOf(run({ env: env(url, 'abc') }));
    expect(text).toContain('HSN_LIBTORCH_SHA256 with 64 hexadecimal digits');
    expect(text).toContain('found     3 characters: abc');
    expect(asked).toBe(0);
  });

  it('names the status of a server that has none, and a server that is not there', async () => {
    const url = await serve((_request, response) => response.writeHead(404).end());
    expect(await faultOf(run({ env: env(url) }))).toContain('found     HTTP 404');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const text = await faultOf(run({ env: env(url) }));
    expect(text).toContain('no network');
    expect(text).toContain('ECONNREFUSED');
  });

  it('is refused when it is no zip, or holds something else', async () => {
    archive = Buffer.from('not a zip');
    const url = await serve((_request, response) => response.end(archive));
    expect(await faultOf(run({ env: env(url) }))).toContain('the archive holds no libtorch');
    expect(readdirSync(join(root, 'build'))).toEqual([]);
  });

  it('does not exist for some machines', async () => {
    const url = await serve((_request, response) => response.end(archive));
    const text = await faultOf(run({ arch: 'riscv64', env: env(url) }));
    expect(text).toContain('linux on riscv64, for which no official archive is made');
  });
});
