import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { startExplorer } from '@hidden-schema/explorer';
import { Run } from '@hidden-schema/hsn';
import { mergeSymbols, splitSymbol, undoEdit } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { identityOf, json, request } from '../packages/explorer/test/requests.ts';
import { makeSmallDiscovered } from '../packages/explorer/test/small-discovered.ts';
import type { Fault, Tally } from './tally.ts';

const stale: readonly (readonly [address: string, body: object])[] = [
  ['/api/merge', { symbols: [1, 4] }],
  ['/api/symbol/2/split', {}],
  ['/api/symbol/2/name', { name: 'a name for another symbol' }],
  ['/api/undo', {}],
];

/** What the symbols of a run are, as far as edits change it. */
function stateOf(directory: string): unknown {
  const { identity, config } = Run.open(directory);
  const { names } = JSON.parse(fs.readFileSync(path.join(directory, 'names.json'), 'utf8'));
  return { identity, config, names, edits: fs.readdirSync(path.join(directory, 'edits')) };
}

/** Edits that someone else makes, in turn; every second is taken back later. */
async function editElsewhere(directory: string, round: number): Promise<void> {
  if (round === 0) assert.equal((await hsn('merge', directory, '1', '2')).code, 0);
  else if (round % 2 === 1) undoEdit(directory);
  else if (round % 4 === 2) await mergeSymbols(directory, [round % 3, 3 + (round % 5)]);
  else await splitSymbol(directory, 1);
}

/** Row 50 */
async function olderPages(tally: Tally): Promise<void> {
  const small = await makeSmallDiscovered();
  const explorer = await startExplorer({ run: small.run });
  try {
    for (let round = 0; round < tally.count(25); round++) {
      const identity = await identityOf(explorer.url);
      await editElsewhere(small.run, round);
      const before = stateOf(small.run);
      for (const [address, body] of stale)
        await tally.expect(`${address} after edit ${round} elsewhere`, async () => {
          const { status, text } = await request(explorer.url, address, json({ ...body, identity }));
          assert.equal(status, 409, text);
          assert.match(text, /symbols were edited since this page was loaded; reload and try again/);
          assert.deepEqual(stateOf(small.run), before);
        });
      await tally.expect(`edits without identity after edit ${round}`, async () => {
        for (const [address, body] of stale)
          assert.equal((await request(explorer.url, address, json(body))).status, 400);
        assert.deepEqual(stateOf(small.run), before);
      });
      await tally.expect(`an edit of what is there after edit ${round}`, async () => {
        const body = { name: `round ${round}`, identity: await identityOf(explorer.url) };
        assert.equal((await request(explorer.url, '/api/symbol/0/name', json(body))).status, 200);
      });
    }
  } finally {
    await explorer.close();
    small.remove();
  }
}

export const faults: readonly Fault[] = [
  { row: 50, fault: 'edits in a page that is older than the last edit', inject: olderPages },
];
