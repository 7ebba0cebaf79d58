import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Random } from '@hidden-schema/base';
import { openSyntheticRun } from '@hidden-schema/hsn';
import { tinyModels, withSize, writeTinyModel } from '@hidden-schema/testing/tiny-models';
import { scope, writeSafetensors, zeros } from '@hidden-schema/torch';
import { type Fault, refusal, type Tally } from './tally.ts';

/** Most that memory may grow by, in MB: a tiny model, and what a libtorch at work keeps. */
const memoryLimitMB = 300;
const sizes = [6, 2_000_000, 1_000_000_000, 2 ** 40];

/** Row 41: sizes in settings beside small weights, and weight files that are cut while they are read. */
async function untrusted(tally: Tally): Promise<void> {
  const before = process.memoryUsage().rss;
  for (const model of tinyModels) {
    const folder = tally.path(model.name);
    const config = writeTinyModel(model, folder);
    for (const key of Object.keys(model.keys))
      for (const size of sizes)
        await tally.expect(`${model.name}: ${key} ${size}`, async () => {
          fs.writeFileSync(`${folder}/config.json`, JSON.stringify(withSize(config, key, size)));
          assert.match(await refusal(() => model.open(folder)), / is \d+, but the weights hold \d+ \(/);
        });
  }
  await runSizes(tally);
  await tally.expect('memory stays bounded', () => {
    const grown = Math.round((process.memoryUsage().rss - before) / 1e6);
    tally.notes.push(`memory grew by ${grown} MB`);
    assert.ok(grown < memoryLimitMB, `it grew by ${grown} MB`);
  });
  const random = new Random(41);
  for (let round = 0; round < tally.count(40); round++) await cutWhileRead(tally, random.int(4_000_000));
}

async function runSizes(tally: Tally): Promise<void> {
  const kept = fileURLToPath(new URL('../fixtures/runs', import.meta.url));
  fs.cpSync(kept, tally.path('runs'), { recursive: true });
  const run = tally.path('runs', 'synthetic-0.1.0');
  const yaml = fs.readFileSync(`${run}/config.yaml`, 'utf8');
  const hostile = {
    'symbols: 1000000000': `symbols: 1000000000\n${yaml}`,
    'encoder.blocks: 2000000': yaml.replace(/blocks: 1\b/, 'blocks: 2000000'),
    'encoder.width: 2000000': yaml.replace(/^ {2}width: 8$/m, '  width: 2000000'),
  };
  for (const [what, text] of Object.entries(hostile))
    await tally.expect(`config.yaml with ${what}`, async () => {
      fs.writeFileSync(`${run}/config.yaml`, text);
      const [key, value] = what.split(': ');
      const expected = `config.yaml: ${key} is ${value}, but the weights hold `;
      assert.ok((await refusal(() => openSyntheticRun(run))).includes(expected));
    });
}

/** A process reads one tensor again and again while this one cuts the file at some byte. */
async function cutWhileRead(tally: Tally, at: number): Promise<void> {
  await tally.expect(`cut at ${at} while it is read`, async () => {
    const file = tally.path('cut.safetensors');
    scope(() => writeSafetensors(file, [['a', zeros([1 << 20])]]));
    const reader = fileURLToPath(new URL('../packages/torch/test/cut-reader.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', reader, file]);
    let said = '';
    let cut = false;
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (!cut) fs.truncateSync(file, at);
      cut = true;
    });
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.match(said, /^opened\nSafetensorsError: .*, got one that was cut from \d+ to \d+ bytes\n$/);
  });
}

export const faults: readonly Fault[] = [
  { row: 41, fault: 'sizes that the weights do not have, weights cut while read', inject: untrusted },
];
