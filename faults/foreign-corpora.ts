import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { hashFile } from '@hidden-schema/base';
import { startExplorer } from '@hidden-schema/explorer';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { fingerprintOf } from '@hidden-schema/text';
import { request } from '../packages/explorer/test/requests.ts';
import { datedRun, datedTexts, freshCopy, refusedLine, writeDated } from './dated-run.ts';
import type { Fault, Tally } from './tally.ts';

const SECRET = 'hunter2';

/** Someone's private file, a run of a stranger, and a cache in which nobody named anything. */
async function makeStage(tally: Tally) {
  const { run } = await datedRun(tally);
  // A folder below, so that it does not lie beside the run.
  const rows = datedTexts(120, `${SECRET} `);
  const secret = writeDated(tally.path('home', '.ssh', 'private.csv'), rows);
  process.env.HSN_CACHE = tally.path('cache-of-the-user');
  const { sha256 } = hashFile(secret);
  return { run, secret, fitting: fingerprintOf([{ sha256, split: null }]) };
}

type Stage = Awaited<ReturnType<typeof makeStage>>;

/** Ways in which a record leads to a file. */
const ways: Readonly<Record<string, (stage: Stage, run: string) => { directory: string; more?: string[] }>> =
  {
    'an absolute path': ({ secret }) => ({ directory: secret }),
    'a way up': ({ secret }, run) => ({ directory: path.relative(run, secret) }),
    'a folder': ({ secret }) => ({ directory: path.dirname(secret) }),
    'a link inside the run': ({ secret }, run) => {
      fs.symlinkSync(secret, path.join(run, 'corpus.csv'));
      return { directory: 'corpus.csv' };
    },
    'a linked folder inside the run': ({ secret }, run) => {
      fs.symlinkSync(path.dirname(secret), path.join(run, 'texts'));
      return { directory: 'texts/private.csv' };
    },
    'a link beside the run': ({ secret }, run) => {
      const link = path.join(run, '..', 'beside.csv');
      fs.rmSync(link, { force: true });
      fs.symlinkSync(secret, link);
      return { directory: '../beside.csv' };
    },
    'a file that was added': ({ secret }, run) => {
      fs.writeFileSync(path.join(run, 'corpus.csv'), 'text,label,year\na text,good,1900\n');
      return { directory: 'corpus.csv', more: [secret] };
    },
  };

/** A run whose record names a file of the user; `fits` where the stranger knows even its hash. */
function strangersRun(tally: Tally, stage: Stage, way: keyof typeof ways, fits: boolean): string {
  const run = freshCopy(stage.run, tally.path('downloads', 'run'));
  const file = path.join(run, 'run.json');
  const record = JSON.parse(fs.readFileSync(file, 'utf8'));
  const { directory, more } = ways[way]!(stage, run);
  const { files: _, ...text } = record.text;
  const corpus = { directory, fingerprint: fits ? stage.fitting : record.corpus.fingerprint };
  fs.writeFileSync(file, JSON.stringify({ ...record, corpus, text: { ...text, ...(more ? { more } : {}) } }));
  return run;
}

const verbs = (run: string, out: string): string[][] => [
  ['report', run, '--out', out],
  ['symbols', run],
  ['export', run, '--table', 'texts', '--out', out],
  ['find', run, 'the cat'],
  ['labels', run],
  ['time', run],
  ['eval', run],
  ['train', '--out', run, '--resume', '--force'],
];

/** Row 49: a file that only a run's record names is not read. */
async function privateFiles(tally: Tally): Promise<void> {
  const stage = await makeStage(tally);
  const out = tally.path('out.csv');
  const all = Object.keys(ways).flatMap((way) =>
    [false, true].flatMap((fits) =>
      verbs(tally.path('downloads', 'run'), out).map((args) => ({ way, fits, args })),
    ),
  );
  const step = Math.max(1, Math.floor(all.length / tally.count(all.length, 6)));
  for (const { way, fits, args } of all.filter((_, n) => n % step === 0))
    await tally.expect(`${way}${fits ? ', with its hash' : ''}: hsn ${args[0]}`, async () => {
      strangersRun(tally, stage, way, fits);
      fs.utimesSync(stage.secret, new Date(0), new Date());
      const ended = await hsn(...args);
      assert.match(
        refusedLine(ended),
        /names .*(\.ssh|corpus\.csv|texts|beside).* as its corpus, and you have not named that/,
      );
      checkSecret(tally, stage, ended.stdout + ended.stderr);
    });
  await named(tally, stage);
  await tally.expect('served', () => served(tally, stage));
  await tally.expect('a pipe that would never end', () => pipe(tally, stage));
}

/** Neither shown nor copied; nor opened, where the disk keeps times of reading. */
function checkSecret(tally: Tally, { secret }: Stage, said: string): void {
  assert.doesNotMatch(said, new RegExp(SECRET));
  assert.equal(fs.statSync(secret).atimeMs, 0, 'the file was read');
  const written = fs.readdirSync(tally.folder, { recursive: true, withFileTypes: true });
  for (const entry of written) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || file === secret) continue;
    assert.ok(!fs.readFileSync(file).includes(SECRET), `${file} has the secret`);
  }
}

/** A corpus that the user names is read where it fits, and only then. */
async function named(tally: Tally, stage: Stage): Promise<void> {
  await tally.expect('named, and of other content', async () => {
    const run = strangersRun(tally, stage, 'an absolute path', false);
    const line = refusedLine(await hsn('symbols', run, '--corpus', stage.secret));
    assert.match(line, /is not what it was trained on/);
    assert.doesNotMatch(line, new RegExp(SECRET));
    assert.match(refusedLine(await hsn('symbols', run)), /you have not named that/);
  });
  await tally.expect('named, and the one', async () => {
    const run = strangersRun(tally, stage, 'a way up', true);
    const copy = tally.path('home', 'mine.csv');
    fs.copyFileSync(stage.secret, copy);
    const { code, stderr } = await hsn('symbols', run, '--corpus', copy);
    assert.equal(code, 0, stderr);
    // Known from now on, under the place that was named.
    fs.rmSync(path.join(run, 'analysis'), { recursive: true });
    fs.utimesSync(stage.secret, new Date(0), new Date());
    assert.equal((await hsn('symbols', run)).code, 0);
    assert.equal(fs.statSync(stage.secret).atimeMs, 0, 'another file than the named one was read');
    fs.rmSync(copy);
    fs.rmSync(tally.path('cache-of-the-user'), { recursive: true });
    fs.rmSync(run, { recursive: true });
  });
}

async function served(tally: Tally, stage: Stage): Promise<void> {
  const run = strangersRun(tally, stage, 'an absolute path', true);
  fs.utimesSync(stage.secret, new Date(0), new Date());
  // Patience for a machine that is busy with other things.
  const explorer = await startExplorer({ run, limits: { wait: 900_000, idle: 900_000 } });
  try {
    for (const address of ['/api/runs', '/api/graph', '/api/texts', '/api/symbols/0', '/api/run']) {
      const { text } = await request(explorer.url, address);
      checkSecret(tally, stage, text);
    }
  } finally {
    await explorer.close();
  }
}

async function pipe(tally: Tally, stage: Stage): Promise<void> {
  const secret = tally.path('home', '.ssh', 'agent.csv');
  execFileSync('mkfifo', [secret]);
  const run = strangersRun(tally, { ...stage, secret }, 'an absolute path', true);
  assert.match(refusedLine(await hsn('symbols', run)), /you have not named that/);
}

/** Row 49: whoever trained a run goes on without a word. */
async function ownRuns(tally: Tally): Promise<void> {
  const { run, corpus } = await datedRun(tally);
  const asks = (what: string, prepare: () => string) =>
    tally.expect(what, async () => {
      const { code, stderr } = await hsn('symbols', prepare());
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /corpus/);
    });
  const corpora = tally.path('cache', 'corpora');
  await asks('trained by the same user', () => freshCopy(run, tally.path('runs', 'copy')));
  await asks('moved', () => freshCopy(run, tally.path('moved', 'far', 'run')));
  await asks('made by 0.2.0, tokens in the cache', () => {
    fs.rmSync(corpora, { recursive: true });
    return freshCopy(run, tally.path('runs', 'copy'));
  });
  await asks('made by 0.2.0, beside its corpus', () => {
    fs.rmSync(tally.path('cache'), { recursive: true });
    const copy = freshCopy(run, tally.path('texts', 'run'));
    assert.equal(path.dirname(copy), path.dirname(corpus));
    return copy;
  });
}

export const faults: readonly Fault[] = [
  { row: 49, fault: 'a record that names a private file as the corpus', inject: privateFiles },
  { row: 49, fault: 'runs of the same user, of 0.2.0 too', inject: ownRuns },
];
