import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openLanguage } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-encode');
const run = folder.path('run');
const corpus = folder.path('reviews.tsv');
const sentences = tinySentences().map((line) => line.split('\t')[1]!);
beforeAll(async () => {
  folder.holdCache();
  writeTexts(corpus);
  const sizes = ['--symbols', '6', '--length', '3', ...tinyLanguageFlags];
  expect((await hsn('train', '--corpus', corpus, '--out', run, ...sizes)).code).toBe(0);
});
afterAll(folder.remove);

interface Row {
  text: string;
  walk: number[];
  probability: number;
  steps: number[];
}
const rowsOf = (text: string): Row[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);

describe('hsn encode', () => {
  test('shards are parts of the whole, each sentence in one of them, in order', async () => {
    const encode = async (...more: string[]) => {
      const { code, stdout } = await hsn('encode', run, corpus, '--format', 'jsonl', ...more);
      expect(code).toBe(0);
      return rowsOf(stdout);
    };
    const whole = await encode();
    const shards = [
      await encode('--shard', '1/3'),
      await encode('--shard', '2/3'),
      await encode('--shard', '3/3'),
    ];
    for (const [at, row] of whole.entries()) {
      const found = shards[at % 3]![Math.floor(at / 3)]!;
      expect(found).toMatchObject({ text: row.text, walk: row.walk });
      expect(found.probability).toBeCloseTo(row.probability, 4);
    }
    expect(shards.reduce((sum, rows) => sum + rows.length, 0)).toBe(whole.length);
  });

  test.each(['0/2', '3/2', '2', 'a/b', '-1/2'])('refuses the shard %s', async (shard) => {
    const { code, stderr } = await hsn('encode', run, corpus, '--shard', shard);
    expect(code).toBe(1);
    expect(stderr).toContain('--shard takes a part of how many');
  });

  test('gives the walks that the library gives, in every format', async () => {
    const { texts, model } = await openLanguage(run);
    const { walks } = await texts.read(sentences);
    model.free();
    const jsonl = await hsn('encode', run, corpus, '--format', 'jsonl');
    expect(jsonl).toMatchObject({ code: 0, stderr: '' });
    const rows = rowsOf(jsonl.stdout);
    expect(rows.map(({ text }) => text)).toEqual(sentences);
    expect(rows.map(({ walk }) => walk)).toEqual(walks.map(({ walk }) => walk));
    for (const { probability, steps } of rows)
      expect(probability).toBeCloseTo(
        steps.reduce((all, p) => all * p, 1),
        4,
      );
    const tsv = await hsn('encode', run, corpus);
    const lines = tsv.stdout.trim().split('\n');
    expect(lines[0]).toBe('walk\tprobability\tsteps\ttext');
    expect(lines.slice(1).map((line) => line.split('\t')[0])).toEqual(rows.map(({ walk }) => walk.join(' ')));
    const out = folder.path('walks.parquet');
    expect(await hsn('encode', run, corpus, '--out', out)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const bytes = fs.readFileSync(out);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    const table = await parquetReadObjects({ file });
    expect(table.map(({ walk, text }) => [walk, text])).toEqual(
      rows.map(({ walk, text }) => [walk.join(' '), text]),
    );
  });

  test('answers a pipe line by line, before its end', async () => {
    const program = fileURLToPath(new URL('../bin/hsn.js', import.meta.url));
    const child = spawn(process.execPath, [program, 'encode', run, '--format', 'jsonl'], {
      env: { ...process.env, HSN_THREADS: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.write(`${sentences[0]}\n`);
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    expect(rowsOf(first.toString())[0]!.text).toBe(sentences[0]);
    child.stdin.end(sentences[1]);
    const [second] = (await once(child.stdout, 'data')) as [Buffer];
    expect(rowsOf(second.toString())[0]!.text).toBe(sentences[1]);
    expect((await once(child, 'close'))[0]).toBe(0);
  });

  test('reads a synthetic language too', async () => {
    const { directory } = tinyCorpus(folder.path('synthetic'));
    const out = folder.path('synthetic-run');
    const longer = ['training.steps=300', 'training.rate=0.01', 'training.evaluateEvery=50'];
    const flags = [...tinyFlags, ...longer.flatMap((setting) => ['--set', setting])];
    expect((await hsn('train', '--corpus', directory, '--out', out, ...flags)).code).toBe(0);
    const ended = await hsn('encode', out, `${directory}/test.txt`, '--format', 'jsonl');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const rows = rowsOf(ended.stdout);
    expect(rows).toHaveLength(40);
    for (const { walk } of rows) expect(walk).toHaveLength(5);
    // As many symbols are read correctly as the evaluation counts, which takes each step's best apart.
    const truth = fs.readFileSync(`${directory}/test_walks.txt`, 'utf8').trim().split('\n');
    const right = rows.flatMap(({ walk }, n) => {
      const nodes = truth[n]!.split(' ').map(Number);
      return walk.filter((symbol, i) => symbol === nodes[i]);
    });
    const hits = right.length / (rows.length * 5);
    const evaluation = JSON.parse(fs.readFileSync(`${out}/evaluation.json`, 'utf8'));
    expect(hits).toBeGreaterThan(0.6);
    expect(Math.abs(hits - evaluation.hits)).toBeLessThan(0.1);
    fs.writeFileSync(folder.path('strange.txt'), 'A B C D nonsense\n');
    const strange = await hsn('encode', out, folder.path('strange.txt'));
    expect(strange.stderr).toMatch(/^hsn: "A B C D nonsense": ".+" is no token of this language\n$/);
  });

  test('what is wrong is said in a line, and no file is left', async () => {
    const out = folder.path('none.tsv');
    const cases: [string[], RegExp][] = [
      [[run, corpus, '--format', 'xml'], /--format takes one of tsv, jsonl, parquet, got xml/],
      [[run, corpus, '--format', 'parquet'], /Parquet cannot be streamed; name a file with --out/],
      [[run, folder.path('gone.txt'), '--out', out], /gone\.txt does not exist/],
      [[run, corpus, '--out', folder.path()], /is a folder; expected the name of a file/],
      [[folder.path('cache'), corpus], /is not a run/],
    ];
    for (const [args, line] of cases) {
      const ended = await hsn('encode', ...args);
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(line);
      expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
    }
    expect(fs.readdirSync(folder.path()).filter((name) => /none|partial/.test(name))).toEqual([]);
  });
});
