import assert from 'node:assert/strict';
import fs from 'node:fs';
import { readSyntheticCorpus, readTuples } from '@hidden-schema/hsn';
import { HsnProcess } from '@hidden-schema/testing/hsn-process';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguageFlags } from '@hidden-schema/testing/tiny-texts';
import { peakMegabytes, writeEndless } from '@hidden-schema/testing/watched-process';
import { TextFiles } from '@hidden-schema/text';
import { trained } from './small-runs.ts';
import { type Fault, refusal, type Tally } from './tally.ts';

/** What a line may take, in MB: held once, joined, and as text. */
const MOST_MB = 300;

/** The most memory of a process that is given megabytes without a line end; `0` stands for one short line. */
async function peakOf(args: readonly string[], megabytes: number, expected: RegExp): Promise<number> {
  const child = new HsnProcess(args, 'pipe');
  const peak = peakMegabytes(child);
  if (megabytes === 0) child.child.stdin!.end('x\n');
  else await writeEndless(child, megabytes);
  const ended = await child.ended;
  assert.equal(ended.signal, null, ended.stderr);
  assert.match(`${ended.stdout}${ended.stderr}`, expected);
  return Math.round(await peak);
}

/** Row 39, standard input of every verb that reads it. */
async function inputs(tally: Tally, sizes: readonly number[]): Promise<void> {
  const run = await trained(tally, 'run', tinyConfig({ training: { steps: 1 } }));
  process.env.HSN_CACHE = tally.path('cache');
  const texts = ['--out', tally.path('texts'), '--force', '--set', 'model=language', ...tinyLanguageFlags];
  const verbs: [string[], RegExp][] = [
    [['encode', run.directory], /has 1 tokens; sentences of this language have/],
    [['encode', run.directory, '--input-format', 'tsv'], /standard input:1 has no tab/],
    [
      ['encode', run.directory, '--input-format', 'jsonl'],
      /is not JSON|1 record too long to be read, left out/,
    ],
    [['train', '--corpus', '-', ...texts], /standard input has 1 sentences and none of them for valid/],
  ];
  for (const [args, expected] of verbs.slice(0, tally.count(verbs.length))) {
    const verb = args.filter((arg) => /^(encode|train|tsv|jsonl)$/.test(arg)).join(' ');
    const plain = await peakOf(args, 0, /./);
    for (const size of sizes)
      await tally.expect(`${size} MB to ${verb}`, async () => {
        const peak = await peakOf(args, size, expected);
        tally.notes.push(
          `${verb}: ${peak} MB for ${size} MB without a line end, ${plain} MB for a short line`,
        );
        assert.ok(peak - plain < MOST_MB, `${peak} MB, ${plain} MB for a short line`);
      });
  }
}

/** How much the most memory of this process grows. */
async function growth(body: () => Promise<unknown>): Promise<number> {
  const before = process.resourceUsage().maxRSS;
  await body();
  return (process.resourceUsage().maxRSS - before) / 1024;
}

/** A file that begins so and goes on without a line end; the rest is a hole, which takes no space. */
function endlessFile(tally: Tally, name: string, begin: string, megabytes: number): string {
  const file = tally.path(name);
  fs.writeFileSync(file, begin);
  fs.truncateSync(file, megabytes << 20);
  return file;
}

/** Row 39, files of every format. */
async function files(tally: Tally, size: number): Promise<void> {
  for (const [name, begin, read] of waysToRead(tally))
    await tally.expect(`${size} MB without a line end in ${name}`, async () => {
      const grown = await growth(() => read(endlessFile(tally, name, begin, size)));
      assert.ok(grown < MOST_MB, `memory grew by ${Math.round(grown)} MB`);
    });
}

/** Names of files, how each begins, and what is expected of reading it. */
function waysToRead(tally: Tally): [string, string, (file: string) => Promise<unknown>][] {
  const texts = async (file: string) => {
    const found = await TextFiles.find(file, { cache: tally.path('cache') });
    const all: string[] = [];
    for await (const batch of found.texts()) all.push(...batch);
    return all;
  };
  const corpus = tally.path('endless');
  fs.mkdirSync(corpus);
  return [
    ['a.txt', 'text', async (file) => assert.deepEqual(await texts(file), ['text'])],
    ['a.tsv', 'label\ttext', async (file) => assert.deepEqual(await texts(file), ['text'])],
    [
      'a.csv',
      'text,label\n"text',
      async (file) => assert.match(await refusal(() => texts(file)), /never closed/),
    ],
    ['a.jsonl', '{"text": "', async (file) => assert.deepEqual(await texts(file), [])],
    [
      'tuples.tsv',
      'a\tb\tc',
      async (file) => assert.match(await refusal(() => readTuples(file)), /longer than/),
    ],
    [
      'tuples.csv',
      'event,xWant\n"x',
      async (file) => assert.match(await refusal(() => readTuples(file)), /never closed/),
    ],
    [
      'endless/train.txt',
      'A B',
      async () =>
        assert.match(await refusal(() => readSyntheticCorpus(corpus)), /train\.txt:1 is longer than/),
    ],
  ];
}

async function endless(tally: Tally): Promise<void> {
  await inputs(tally, tally.share === 1 ? [16, 256] : [16]);
  await files(tally, tally.share === 1 ? 1024 : 64);
}

export const faults: readonly Fault[] = [
  { row: 39, fault: 'input without a line end, on every way in', inject: endless },
];
