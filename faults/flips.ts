import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Random } from '@hidden-schema/base';
import { verifyRun } from '@hidden-schema/hsn';
import { encodedCorpus, openRun, runLayout, textMap } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { copyRun, plantRun } from './planted-edits.ts';
import type { Fault, Tally } from './tally.ts';

/** What a command gave, and what it said of files. */
interface Answer {
  given: string;
  said: string;
}

type Read = (run: string) => Promise<Answer>;

const verb =
  (...args: string[]): Read =>
  async (run) => {
    const { code, stdout, stderr } = await hsn(...args.map((arg) => (arg === 'RUN' ? run : arg)));
    return { given: `${code} ${stdout}`, said: `${stdout}${stderr}` };
  };

const symbols = verb('symbols', 'RUN', '--json');
const runs = verb('runs', 'RUN', '--json');

/** The places of texts and symbols, as the explorer shows them. */
async function maps(run: string): Promise<Answer> {
  const { write } = process.stderr;
  let said = '';
  process.stderr.write = (text: string | Uint8Array) => {
    said += text;
    return true;
  };
  const opened = await openRun(run);
  try {
    const encoded = await encodedCorpus(opened);
    const given = JSON.stringify([Array.from(textMap(opened, encoded)), Array.from(runLayout(opened))]);
    encoded.close();
    return { given, said };
  } finally {
    opened.model.free();
    process.stderr.write = write;
  }
}

/** Files that answers are made of, with a command that reads them; those that can be made anew give the same as before. */
const files: Readonly<Record<string, { read: Read; anew: boolean }>> = {
  'analysis/encoded.json': { read: symbols, anew: true },
  'analysis/encoded.jsonl': { read: symbols, anew: true },
  'analysis/encoded.bin': { read: symbols, anew: true },
  'analysis/symbols.json': { read: symbols, anew: true },
  'analysis/columns.json': { read: verb('time', 'RUN', '--json'), anew: true },
  'analysis/text-map.json': { read: maps, anew: true },
  'graph.json': { read: maps, anew: true },
  'names.json': { read: symbols, anew: false },
  'metrics.jsonl': { read: runs, anew: false },
  'evaluation.json': { read: runs, anew: false },
  'checkpoints/best.json': { read: verb('eval', 'RUN', '--json', '--no-stability'), anew: false },
  'sums.json': { read: symbols, anew: true },
};

/** Row 48: a bit that is flipped in any file that an answer is made of is noticed by `verify` and by who reads it. */
async function flips(tally: Tally): Promise<void> {
  const whole = (await plantRun(tally, 4)).run;
  assert.equal((await hsn('rename', whole, '2', 'mine')).code, 0);
  for (const { read } of Object.values(files)) await read(whole);
  assert.deepEqual(verifyRun(whole).faults, []);
  const answers = new Map<string, string>();
  for (const [name, { read }] of Object.entries(files))
    answers.set(name, (await read(copyRun(whole, tally.path('copy')))).given);
  const random = new Random(48);
  for (const [name, { read, anew }] of Object.entries(files))
    for (let n = 0; n < tally.count(20); n++) {
      // What a process said of a file once, it does not say again.
      const run = copyRun(whole, tally.path(`flipped-${n}`));
      const file = path.join(run, name);
      const bytes = fs.readFileSync(file);
      const bit = random.int(8 * bytes.length);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      fs.writeFileSync(file, bytes);
      await tally.expect(`${name}, bit ${bit}`, async () => {
        const { faults, notes } = verifyRun(run);
        const told = [...faults, ...notes].filter((line) => line.includes(path.basename(name)));
        assert.ok(faults.length > 0 && told.length > 0, 'verify is content');
        const { given, said } = await read(run);
        assert.ok(said.includes(path.basename(name)), `nothing was said: ${said.slice(0, 300)}`);
        if (anew) assert.equal(given, answers.get(name));
        if (anew && name !== 'sums.json') assert.deepEqual(verifyRun(run).faults, []);
      });
      fs.rmSync(run, { recursive: true });
    }
}

export const faults: readonly Fault[] = [
  { row: 48, fault: 'one bit flipped in every file that answers are made of', inject: flips },
];
