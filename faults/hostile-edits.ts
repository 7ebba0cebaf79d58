import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { startExplorer } from '@hidden-schema/explorer';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { request } from '../packages/explorer/test/requests.ts';
import { contentsOf, copyRun, plantRun } from './planted-edits.ts';
import type { Fault, Tally } from './tally.ts';

const honest = {
  format: 1,
  number: 1,
  made: '2026-01-01T00:00:00.000Z',
  what: 'merged 1 and 2 into 1',
  origins: [[0], [1, 2]],
  had: ['names.json'],
  came: ['names.json'],
};

/** Records of edits that a stranger may have prepared, by what is wrong with them. */
const records: Readonly<Record<string, unknown>> = {
  'brings a file from outside': { ...honest, came: ['../../victims/profile'] },
  'takes a folder outside': { ...honest, had: ['../../victims/keys'] },
  'takes a folder to outside': { ...honest, number: '../../victims/planted' },
  'brings an absolute path': { ...honest, came: ['/etc/passwd'] },
  'brings the lock': { ...honest, came: ['lock'] },
  'brings its own folder': { ...honest, came: ['..'] },
  'takes the edits': { ...honest, had: ['edits', 'names.json'] },
  'a number that is none': { ...honest, number: 1.5 },
  'a number below one': { ...honest, number: 0 },
  'names that are no list': { ...honest, came: 'names.json' },
  'names that are no texts': { ...honest, had: [{ toString: 'names.json' }] },
  'symbols that are no numbers': { ...honest, origins: [['../x']] },
  'another format': { ...honest, format: 2 },
  'no JSON': '{"format": 1, ',
};

/** What stands beside the runs and belongs to the user. */
function plantVictims(tally: Tally): string {
  const victims = tally.path('victims');
  fs.mkdirSync(path.join(victims, 'keys'), { recursive: true });
  fs.writeFileSync(path.join(victims, 'profile'), 'export PATH\n');
  fs.writeFileSync(path.join(victims, 'keys', 'id'), 'private\n');
  return victims;
}

const looks = (run: string): string[][] => [
  ['runs', path.dirname(run)],
  ['verify', run],
  ['symbols', run, '--json'],
  ['undo', run, '--list'],
];
const writes = (run: string): string[][] => [
  ['rename', run, '0', 'mine'],
  ['merge', run, '1', '2'],
  ['undo', run],
];

/** Row 43: records of edits that a stranger prepared change nothing when they are looked at, and are refused. */
async function preparedEdits(tally: Tally): Promise<void> {
  const { run } = await plantRun(tally);
  const victims = plantVictims(tally);
  for (const folder of ['.edit-ready', '.edit-undo'])
    for (const [what, record] of some(Object.entries(records), tally)) {
      const copy = copyRun(run, tally.path('runs', 'copy'));
      for (const part of ['new', 'old']) fs.mkdirSync(path.join(copy, folder, part), { recursive: true });
      fs.writeFileSync(path.join(copy, folder, 'new', 'names.json'), '{}');
      const text = typeof record === 'string' ? record : JSON.stringify(record);
      fs.writeFileSync(path.join(copy, folder, 'edit.json'), text);
      const before = { run: contentsOf(copy), victims: contentsOf(victims) };
      const unchanged = (leave?: RegExp) =>
        assert.deepEqual({ run: contentsOf(copy, leave), victims: contentsOf(victims) }, before);
      for (const args of looks(copy))
        await tally.expect(`${folder} that ${what}: hsn ${args[0]}`, async () => {
          const { stdout, stderr } = await hsn(...args);
          assert.match(`${stdout}${stderr}`, /is no record of an edit|is damaged: expected JSON/);
          unchanged();
        });
      await tally.expect(`${folder} that ${what}: hsn serve`, async () => {
        const explorer = await startExplorer({ run: path.dirname(copy) });
        const { text: listed } = await request(explorer.url, '/api/runs').finally(() => explorer.close());
        assert.match(listed, /is no record of an edit|is damaged: expected JSON/);
        unchanged();
      });
      for (const args of writes(copy))
        await tally.expect(`${folder} that ${what}: hsn ${args[0]}`, async () => {
          const { code, stderr } = await hsn(...args);
          assert.equal(code, 1);
          assert.match(stderr, /^hsn: .*edit\.json is (no record of an edit|damaged)[^\n]*\n$/);
          unchanged();
        });
    }
}

const some = <T>(all: readonly T[], tally: Tally): T[] => all.slice(0, tally.count(all.length, 2));

/** Entries of a run in whose place a link may stand. */
const linked = [
  ...['lock', 'names.lock', 'metrics.jsonl', 'analysis', 'checkpoints', 'names.json', 'sums.json', 'figures'],
  ...['run.json', 'config.yaml', 'manifest.json', 'graph.json', 'MODEL.md', 'report.html', 'tokenizer.json'],
  ...['checkpoints/best.json', 'checkpoints/step-0', 'checkpoints/step-0/model.safetensors'],
  ...['analysis/encoded.bin', 'analysis/symbols.json', 'edits', '.edit-draft', '.edit-ready', 'paths'],
];

/** Row 44: nothing is written, locked or emptied through a link, and what is in the way is named. */
async function links(tally: Tally): Promise<void> {
  const { run } = await plantRun(tally);
  for (const name of some(linked, tally)) {
    const copy = tally.path('runs', 'copy');
    const victim = tally.path('victims', path.basename(name));
    for (const args of [
      ...looks(copy),
      ...writes(copy),
      ['report', copy],
      ['train', '--out', copy, '--resume'],
    ])
      await tally.expect(`${name} is a link: hsn ${args[0]}`, async () => {
        copyRun(run, copy);
        fs.rmSync(path.dirname(victim), { recursive: true, force: true });
        fs.mkdirSync(path.dirname(victim), { recursive: true });
        const own = path.join(copy, name);
        // What is linked to is what the run had, so that a verb has every reason to go on.
        if (fs.existsSync(own)) fs.renameSync(own, victim);
        else if (name.includes('.') && !name.startsWith('.')) fs.writeFileSync(victim, 'mine\n');
        else fs.mkdirSync(victim);
        if (fs.statSync(victim).isDirectory()) fs.writeFileSync(path.join(victim, 'mine'), 'mine\n');
        else fs.appendFileSync(victim, '\n');
        fs.symlinkSync(victim, own);
        const before = contentsOf(path.dirname(victim));
        const { code, stdout, stderr } = await hsn(...args);
        assert.deepEqual(contentsOf(path.dirname(victim)), before);
        if (args[0] === 'verify' || (code !== 0 && args[0] !== 'undo'))
          assert.match(`${stdout}${stderr}`, new RegExp(`${path.basename(name)} is a symbolic link`));
      });
  }
}

export const faults: readonly Fault[] = [
  { row: 43, fault: 'records of edits that a stranger prepared', inject: preparedEdits },
  { row: 44, fault: 'symbolic links inside a run', inject: links },
];
