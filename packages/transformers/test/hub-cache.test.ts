import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { Fetcher, LocalHub, weights } from '@hidden-schema/testing/hub-server';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { Lock } from '@hidden-schema/torch';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchFromHub, type HubOptions } from '../src/hub.ts';
import { hubFolder } from '../src/hub-cache.ts';
import { findPretrained } from '../src/pretrained.ts';

const root = temporaryFolder('hub-cache');
afterAll(root.remove);

let hub: LocalHub;
let options: HubOptions & { endpoint: string; cache: string };
let made = 0;
beforeEach(async () => {
  hub = new LocalHub();
  options = { endpoint: await hub.start(), cache: root.path(`cache-${made++}`) };
});
afterEach(() => hub.stop());

const fetch = (name = 'tiny/bert', more: HubOptions = {}) => fetchFromHub(name, { ...options, ...more });

const message = async (body: Promise<unknown>): Promise<string> => {
  const error = await body.then(
    () => new Error('expected a fault'),
    (reason: unknown) => reason as Error,
  );
  expect(error).toBeInstanceOf(UserError);
  expect(error.message).not.toContain('\n');
  return error.message.replaceAll(options.cache, 'CACHE');
};

describe('several processes (fault 33)', () => {
  test('three at once into an empty cache: one downloads, the others say for whom they wait', async () => {
    const go = hub.hold();
    const all = [1, 2, 3].map(() => new Fetcher(options.endpoint, options.cache));
    for (const one of all) await one.says(/downloading|waiting: |Error/);
    go();
    for (const { ended } of all) expect(await ended).toEqual([0, null]);
    const folder = path.join(options.cache, 'hub/tiny--bert/main');
    expect(all.map(({ said }) => said.trim().split('\n').at(-1))).toEqual([folder, folder, folder]);
    for (const file of Object.keys(hub.files)) expect(hub.downloads(file)).toEqual([`GET ${file}`]);
    const downloader = all.find(({ said }) => said.includes('downloading'))!;
    const waiting = new RegExp(
      `^waiting: the download of tiny/bert is in use by process ${downloader.process.pid}\\b`,
      'm',
    );
    expect(all.map((one) => one === downloader || waiting.test(one.said))).toEqual([true, true, true]);
    expect(fs.readFileSync(path.join(folder, 'model.safetensors'))).toEqual(weights);
  }, 60_000);

  test('a downloader that is killed frees the others, of which one goes on where it stopped', async () => {
    const go = hub.hold();
    const first = new Fetcher(options.endpoint, options.cache);
    await first.says(/downloading/);
    const others = [1, 2].map(() => new Fetcher(options.endpoint, options.cache));
    for (const one of others) await one.says(/waiting: |Error/);
    const folder = path.join(options.cache, 'hub/tiny--bert/main');
    while (!fs.readdirSync(folder).some((name) => /^model.*\.incomplete$/.test(name)))
      await new Promise((resolve) => setTimeout(resolve, 10));
    first.process.kill('SIGKILL');
    expect(await first.ended).toEqual([null, 'SIGKILL']);
    go();
    for (const { ended } of others) expect(await ended).toEqual([0, null]);
    const asked = hub.downloads('model.safetensors');
    expect(asked).toEqual(['GET model.safetensors', expect.stringMatching(/bytes=[1-9]\d*-$/)]);
    expect(fs.readFileSync(path.join(await fetch(), 'model.safetensors'))).toEqual(weights);
  }, 60_000);

  test('patience ends where the one that downloads makes no progress', async () => {
    const lock = path.join(options.cache, 'hub/tiny--bert/main.lock');
    fs.mkdirSync(path.dirname(lock), { recursive: true });
    const held = Lock.acquire(lock, 'the download of tiny/bert');
    const told: string[] = [];
    const onWait = (line: string) => told.push(line);
    expect(await message(fetch('tiny/bert', { patienceMs: 150, onWait }))).toMatch(
      /^gave up waiting after 0 s without progress: the download of tiny\/bert is in use by process \d+/,
    );
    expect(told).toEqual([
      expect.stringContaining(`waiting: the download of tiny/bert is in use by process ${process.pid}`),
    ]);
    const stop = AbortSignal.timeout(100);
    await expect(fetch('tiny/bert', { signal: stop, onWait })).rejects.toThrow(/abort|timeout/i);
    held.release();
    expect(await fetch()).toContain('tiny--bert');
    expect(fs.existsSync(path.join(path.dirname(lock), 'main', 'complete.json'))).toBe(true);
  });
});

describe('cached weights (fault 34)', () => {
  const change = (file: string, at = 1000) => {
    const descriptor = fs.openSync(file, 'r+');
    fs.writeSync(descriptor, 'X', at);
    fs.closeSync(descriptor);
  };
  const marked = (folder: string) => JSON.parse(fs.readFileSync(path.join(folder, 'complete.json'), 'utf8'));

  test('a changed byte is told with the file and what to do, also when its time is put back', async () => {
    const folder = await fetch();
    const file = path.join(folder, 'model.safetensors');
    const { atime, mtime } = fs.statSync(file);
    change(file);
    fs.utimesSync(file, atime, mtime);
    const expected =
      /^CACHE\/hub\/tiny--bert\/main\/model\.safetensors is damaged: it is not what was downloaded \(sha256 [0-9a-f]{12}…\); remove it with: rm 'CACHE\/hub\/tiny--bert\/main\/model\.safetensors', then run the same command again, which downloads that file of tiny\/bert anew$/;
    expect(await message(fetch())).toMatch(expected);
    expect(await message(findPretrained('tiny/bert', options))).toMatch(expected);
    fs.rmSync(file);
    hub.requests.length = 0;
    expect(fs.readFileSync(path.join(await fetch(), 'model.safetensors'))).toEqual(weights);
    expect(hub.requests.filter((request) => request.startsWith('GET'))).toEqual(['GET model.safetensors']);
  });

  test('an untouched file is not hashed again; a copy is, once', async () => {
    const folder = await fetch();
    const first = marked(folder);
    await fetch();
    expect(marked(folder)).toEqual(first);
    const file = path.join(folder, 'model.safetensors');
    fs.copyFileSync(file, `${file}.copy`);
    fs.renameSync(`${file}.copy`, file);
    await fetch();
    const second = marked(folder);
    expect(second.files['config.json']).toEqual(first.files['config.json']);
    expect(second.files['model.safetensors'].stamp).not.toBe(first.files['model.safetensors'].stamp);
  });

  test('what a disk changed by itself is found once the stamp is a week old', async () => {
    const folder = await fetch();
    const file = path.join(folder, 'model.safetensors');
    change(file);
    // The stamp of a change that the file system knows nothing of.
    const { ino, size, mtimeNs, ctimeNs } = fs.statSync(file, { bigint: true });
    const mark = marked(folder);
    mark.files['model.safetensors'].stamp = [ino, size, mtimeNs, ctimeNs].join(':');
    const write = () => fs.writeFileSync(path.join(folder, 'complete.json'), JSON.stringify(mark));
    write();
    await fetch();
    mark.files['model.safetensors'].verified = new Date(Date.now() - 8 * 24 * 3600_000).toISOString();
    write();
    expect(await message(fetch())).toContain('model.safetensors is damaged');
  });

  test('a mark of an earlier version, or a damaged one, is made good', async () => {
    const folder = await fetch();
    const { name, revision, files } = marked(folder);
    for (const file of Object.values(files) as { stamp?: string; verified?: string }[]) {
      delete file.stamp;
      delete file.verified;
    }
    fs.writeFileSync(path.join(folder, 'complete.json'), JSON.stringify({ name, revision, files }));
    const count = hub.requests.length;
    await fetch();
    expect([hub.requests.length, marked(folder).files['config.json'].stamp]).toEqual([
      count,
      expect.stringMatching(/^\d+:\d+:\d+:\d+$/),
    ]);
    const outside = { '../../../outside': { bytes: 1, hash: 'a'.repeat(64) } };
    fs.writeFileSync(path.join(folder, 'complete.json'), JSON.stringify({ name, revision, files: outside }));
    await fetch();
    expect(Object.keys(marked(folder).files)).toEqual(['config.json', 'tokenizer.json', 'model.safetensors']);
  });
});

describe('names (fault 34)', () => {
  test('no two models or revisions share a folder', async () => {
    const names = ['a--b', 'a/b', 'a-/b', 'a---b', 'a-/-b', 'a--b/c', 'a/b--c', 'a/b/c', 'a-b', 'a_b'];
    const revisions = ['main', 'refs/pr/1', 'refs_pr_1', 'refs-pr-1'];
    const folders = names.flatMap((name) => revisions.map((revision) => hubFolder(name, revision).join('/')));
    expect(new Set(folders).size).toBe(folders.length);
    expect(hubFolder('tiny/bert', 'main')).toEqual(['tiny--bert', 'main']);
    const one = await fetch('a/b');
    hub.files['config.json'] = Buffer.from('{"model_type":"gpt2"}');
    const other = await fetch('a--b');
    expect(fs.readFileSync(path.join(one, 'config.json'), 'utf8')).toContain('bert');
    expect(fs.readFileSync(path.join(other, 'config.json'), 'utf8')).toContain('gpt2');
  });

  test('a folder that holds another model is refused, as on a disk that knows no capitals', async () => {
    const folder = await fetch('tiny/bert');
    fs.cpSync(folder, path.join(options.cache, 'hub/tiny--Bert/main'), { recursive: true });
    expect(await message(fetch('tiny/Bert'))).toBe(
      'CACHE/hub/tiny--Bert/main holds tiny/bert at main, not tiny/Bert at main: this disk takes their names for the same; remove the folder, or use another cache (HSN_CACHE)',
    );
  });

  const hostile = [
    '..',
    '../x',
    '../../x',
    '/etc',
    'a\\b',
    '%2e%2e',
    'a\0b',
    '',
    '.',
    'a/../b',
    'x/..',
    'a b',
  ];
  const names = [...hostile, 'a/b/c', 'x'.repeat(300)];
  const revisions = [...hostile, 'main/', 'main.lock', 'a//b', '-x', 'v1.', 'x'.repeat(300)];

  test('hostile names and revisions are refused before any request', async () => {
    for (const name of names)
      expect(await message(fetch(name)), name).toContain(`${JSON.stringify(name)} is no name on the hub`);
    for (const revision of revisions)
      expect(await message(fetch('tiny/bert', { revision })), revision).toBe(
        `tiny/bert: ${JSON.stringify(revision)} is no revision; expected a branch, a tag or a commit such as main, v1.0 or refs/pr/1`,
      );
    for (const name of ['a\0b', '%2e%2e', 'a\\b', '..\\x']) await message(findPretrained(name, options));
    for (const endpoint of ['nonsense', 'file:///etc'])
      expect(await message(fetch('tiny/bert', { endpoint }))).toContain("the hub's address (HF_ENDPOINT)");
    expect([hub.requests, fs.existsSync(options.cache)]).toEqual([[], false]);
    await fetch('tiny/bert', { revision: 'refs/pr/1' });
  });

  test('hostile shards are refused before they are asked for', async () => {
    delete hub.files['model.safetensors'];
    for (const shard of ['../x.safetensors', '/x.safetensors', '%2e%2e.safetensors', 'a\\b.safetensors']) {
      const index = JSON.stringify({ weight_map: { a: shard } });
      hub.files['model.safetensors.index.json'] = Buffer.from(index);
      hub.requests.length = 0;
      expect(await message(fetch()), shard).toContain(
        `names ${JSON.stringify(shard)}; expected .safetensors files beside it`,
      );
      expect(hub.requests.at(-1)).toBe('GET model.safetensors.index.json');
    }
  });
});
