import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { startExplorer } from '@hidden-schema/explorer';
import { request, whenOpened } from '../packages/explorer/test/requests.ts';
import { outerAddress, SlowClients, slowKinds } from '../packages/explorer/test/slow-clients.ts';
import { makeSmallRun } from '../packages/explorer/test/small-run.ts';
import type { Fault, Tally } from './tally.ts';

const SLOW = 140;
const HONEST = 89;
const token = 'a-token-for-these-faults';

/** A POST in pieces of so many bytes, whose length is not announced. */
function postChunked(url: string, text: string, size: number): Promise<number> {
  const { hostname, port } = new URL(url);
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  return new Promise((resolve, reject) => {
    const sent = http.request({ hostname, port, path: '/api/encode', method: 'POST', headers, agent: false });
    sent.on('error', reject);
    sent.on('response', (response) => resolve(response.resume().statusCode!));
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) sent.write(bytes.subarray(at, at + size));
    sent.end();
  });
}

async function chunked(tally: Tally, url: string): Promise<void> {
  for (const size of [1, 2, 3, 7, 64, 1000])
    await tally.expect(`a body in chunks of ${size} bytes`, async () => {
      assert.equal(await postChunked(url, '{"text":"l’été, a b c"}', size), 200);
    });
  await tally.expect('a chunked body of 1 MB and more', async () => {
    assert.equal(await postChunked(url, `{"text":"${'x'.repeat(1_000_000)}"}`, 65_536), 413);
  });
}

interface Honest {
  /** Where slow clients connect to, and where honest ones ask. */
  slow: string;
  url: string;
  kind: string;
  headers?: http.OutgoingHttpHeaders;
  again?: boolean;
}

/** Each honest request that is answered while so many slow clients are connected counts. */
async function amongSlow(tally: Tally, { slow, url, kind, headers = {}, again }: Honest): Promise<void> {
  const clients = await SlowClients.connect(slow, SLOW, kind, again);
  try {
    for (let n = 0; n < tally.count(HONEST); n++)
      await tally.expect(`request ${n} among clients that ${kind}`, async () => {
        assert.equal((await request(url, '/api/run', { headers })).status, 200);
      });
  } finally {
    clients.end();
  }
}

/** Row 51 */
async function crowds(tally: Tally): Promise<void> {
  const small = await makeSmallRun();
  const explorer = await startExplorer({ run: small.run });
  const guarded = await startExplorer({ run: small.run, host: '0.0.0.0', token });
  const { url } = explorer;
  const { port } = new URL(guarded.url);
  const inside = `http://127.0.0.1:${port}/`;
  const headers = { authorization: `Bearer ${token}` };
  try {
    await whenOpened(url);
    await chunked(tally, url);
    for (const kind of Object.keys(slowKinds)) await amongSlow(tally, { slow: url, url, kind });
    await amongSlow(tally, { slow: url, url, kind: 'stop within the headers', again: true });
    for (const kind of ['send nothing', 'ask once and stay'])
      await amongSlow(tally, { slow: inside, url: inside, kind, headers, again: true });
    const outer = outerAddress();
    if (outer === undefined)
      tally.notes.push('not injected: clients of another address, of which there is none');
    else {
      const slow = `http://${outer}:${port}/`;
      await amongSlow(tally, { slow, url: slow, kind: 'stop within the headers', headers, again: true });
    }
  } finally {
    await Promise.all([explorer.close(), guarded.close()]);
    fs.rmSync(small.folder, { recursive: true, force: true });
  }
}

export const faults: readonly Fault[] = [
  { row: 51, fault: 'chunked bodies, 140 slow clients, clients without a token', inject: crowds },
];
