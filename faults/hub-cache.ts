import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Random } from '@hidden-schema/base';
import { Fetcher, LocalHub, weights } from '@hidden-schema/testing/hub-server';
import { fetchFromHub, type HubOptions } from '@hidden-schema/transformers/hub';
import { type Fault, refusal, type Tally } from './tally.ts';

async function withHub(body: (hub: LocalHub, endpoint: string) => Promise<void>): Promise<void> {
  const hub = new LocalHub();
  try {
    await body(hub, await hub.start());
  } finally {
    await hub.stop();
  }
}

const whole = (folder: string): void =>
  assert.deepEqual(fs.readFileSync(`${folder}/model.safetensors`), weights);

/** Row 33: one process downloads, the others say for whom they wait; a killed one is taken over from. */
async function together(tally: Tally): Promise<void> {
  for (let round = 0; round < tally.count(20); round++)
    await tally.expect(`three at once, round ${round}`, () =>
      withHub(async (hub, endpoint) => {
        const go = hub.hold();
        const all = [1, 2, 3].map(() => new Fetcher(endpoint, tally.path(`together-${round}`)));
        for (const one of all) await one.says(/downloading|waiting: |Error/);
        go();
        for (const { ended } of all) assert.deepEqual(await ended, [0, null]);
        whole(all[0]!.said.trim().split('\n').at(-1)!);
        for (const file of Object.keys(hub.files)) assert.equal(hub.downloads(file).length, 1, file);
        assert.equal(all.filter(({ said }) => /^waiting: .* in use by process \d+/m.test(said)).length, 2);
      }),
    );
  for (let round = 0; round < tally.count(20); round++)
    await tally.expect(`the downloader killed, round ${round}`, () =>
      withHub((hub, endpoint) => killed(hub, endpoint, tally.path(`killed-${round}`))),
    );
}

async function killed(hub: LocalHub, endpoint: string, cache: string): Promise<void> {
  const go = hub.hold();
  const first = new Fetcher(endpoint, cache);
  await first.says(/downloading/);
  const others = [1, 2].map(() => new Fetcher(endpoint, cache));
  for (const one of others) await one.says(/waiting: |Error/);
  first.process.kill('SIGKILL');
  assert.deepEqual(await first.ended, [null, 'SIGKILL']);
  go();
  for (const { ended } of others) assert.deepEqual(await ended, [0, null]);
  whole(`${cache}/hub/tiny--bert/main`);
  const [, again, ...more] = hub.downloads('model.safetensors');
  assert.match(again ?? 'no second download', /bytes=[1-9]\d*-$/);
  assert.deepEqual(more, []);
}

const hostile = ['..', '../x', '../../../x', '/tmp/x', 'a\\b', '%2e%2e', '%2e%2e%2fx', 'a\0b', '', 'a/../b'];

/** Row 34: cached weights that changed, names that share a folder, names that lead out of it. */
async function cached(tally: Tally): Promise<void> {
  await withHub(async (hub, endpoint) => {
    let made = 0;
    const fetch = (name: string, more: HubOptions = {}) => fetchFromHub(name, { endpoint, ...more });
    const random = new Random(34);
    for (let i = 0; i < tally.count(200); i++) {
      const at = random.int(weights.length);
      await tally.expect(`byte ${at} changed`, () =>
        changed(at, (more) => fetch('tiny/bert', more), tally.path(`changed-${made++}`)),
      );
    }
    await tally.expect('a--b and a/b', async () => {
      const cache = tally.path('shared');
      const one = await fetch('a/b', { cache });
      hub.files['config.json'] = Buffer.from('{"model_type":"gpt2"}');
      assert.notEqual(await fetch('a--b', { cache }), one);
      assert.match(fs.readFileSync(`${one}/config.json`, 'utf8'), /bert/);
    });
    const asked = hub.requests.length;
    for (const name of hostile)
      await tally.expect(`name ${JSON.stringify(name)}`, () =>
        neverLeft(tally, (cache) => fetch(name, { cache })),
      );
    for (const revision of hostile)
      await tally.expect(`revision ${JSON.stringify(revision)}`, () =>
        neverLeft(tally, (cache) => fetch('tiny/bert', { cache, revision })),
      );
    await tally.expect('no request', () => assert.equal(hub.requests.length, asked));
  });
}

async function changed(
  at: number,
  fetch: (more: HubOptions) => Promise<string>,
  cache: string,
): Promise<void> {
  const file = `${await fetch({ cache })}/model.safetensors`;
  const { atime, mtime } = fs.statSync(file);
  const descriptor = fs.openSync(file, 'r+');
  fs.writeSync(descriptor, Buffer.of(weights[at]! ^ 1), 0, 1, at);
  fs.closeSync(descriptor);
  fs.utimesSync(file, atime, mtime);
  assert.match(
    await refusal(() => fetch({ cache })),
    /model\.safetensors is damaged: .* remove it with: rm '/,
  );
  fs.rmSync(file);
  whole(await fetch({ cache }));
}

async function neverLeft(tally: Tally, fetch: (cache: string) => Promise<string>): Promise<void> {
  const before = fs.readdirSync(tally.folder).sort();
  const said = await refusal(() => fetch(tally.path('deep', 'cache')));
  assert.match(said, / is no (name on the hub|revision); expected /);
  assert.deepEqual(fs.readdirSync(tally.folder).sort(), before);
}

export const faults: readonly Fault[] = [
  { row: 33, fault: 'several processes download one model', inject: together },
  { row: 34, fault: 'cached weights changed, names that share or leave a folder', inject: cached },
];
