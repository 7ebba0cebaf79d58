import fs from 'node:fs';
import { RunFiles } from '@hidden-schema/hsn/run/run-files';
import type { MixedCandidate } from '@hidden-schema/studies/reasoning/explained-mixture';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyPathFlags, tinyReasoningFlags } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-reason-mixture');
const tuples = folder.path('tuples');
const run = folder.path('run');
const comet = folder.path('comet');
const planted = plantedTuples({ events: 20, relations: 3 });
const train = (...args: string[]) => hsn('reason', 'train', ...args);

beforeAll(async () => {
  writePlanted(tuples, planted);
  for (const args of [
    ['--tuples', tuples, '--out', run, ...tinyReasoningFlags],
    ['--part', 'comet', '--tuples', tuples, '--out', comet, ...tinyReasoningFlags],
    ['--part', 'path', '--run', run, '--set', 'path.kind=counts'],
    ['--part', 'path', '--run', run, ...tinyPathFlags, '--set', 'path.kind=mlp'],
  ])
    expect(await train(...args)).toMatchObject({ code: 0 });
}, 600_000);
afterAll(folder.remove);

describe('a mixture of answers', () => {
  test('is asked for before it is there', async () => {
    const ended = await hsn('reason', 'generate', run, 'someone babak', '--search', 'mixture');
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toMatch(
      /^hsn: .* has no mixture yet; fit one with: hsn reason train --part mixture/,
    );
  });

  test('is fitted, evaluated part by part on a file of answers, and explains what it says', async () => {
    const fitted = await train('--part', 'mixture', '--run', run, '--comet', comet, '--limit', '30');
    expect(fitted.stderr).not.toContain('hsn:');
    expect(fitted).toMatchObject({ code: 0 });
    expect(fitted.stdout).toMatch(/walks +[\d.]+ +near -?[\d.]+, common .*, learned .*, writer -?[\d.]+\n/);

    // Another system that is always right: its row must say so, and ours must be asked the same.
    const answers = folder.path('answers.jsonl');
    const asked = planted.test
      .slice(0, 20)
      .map(({ head, relation, object }) =>
        JSON.stringify({ head, relation, references: [object], answers: [object, 'something else'] }),
      );
    fs.writeFileSync(answers, [...new Map(asked.map((line) => [line, line])).values()].join('\n'));
    const args = ['--comet', comet, '--answers', answers, '--search', 'none', '--json'];
    const ended = await hsn('reason', 'eval', run, ...args);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stderr).toMatch(/\ncollect answers +0%.*\ncollect answers: \d+ questions in .*\nmix-near:/);
    const { rows, differences, split } = JSON.parse(ended.stdout);
    expect(split).toBe('file');
    const of = (model: string) => rows.find((row: { model: string }) => row.model === model);
    expect(of('file').figures).toMatchObject({ recall_10: 1, questions: of('mix-all').figures.questions });
    for (const model of ['mix-walks', 'mix-comet', 'mix-all']) expect(of(model)).toBeDefined();
    const pairs = differences.map(({ model, against }: Record<string, string>) => `${model} ${against}`);
    expect(pairs).toContain('mix-walks mix-neighbours');
    expect(pairs).toContain('mix-walks mix-comet');
    expect(pairs).toContain('mix-walks file');

    const { head, relation } = planted.test[0]!;
    const shown = await hsn('reason', 'generate', run, head, '--relation', relation, '-n', '2', '--json');
    expect(shown).toMatchObject({ code: 0 });
    const [first] = JSON.parse(shown.stdout).candidates[relation];
    expect(first.words).toHaveLength(4);
    expect(Object.keys(first.parts)).toEqual(['near', 'common', 'classified', 'learned', 'writer']);
    // The events behind an answer are training events that have it by this relation.
    expect(first.events.length).toBeGreaterThan(0);
    for (const { event, object } of first.events) {
      expect(object).toBe(first.object);
      expect(planted.train).toContainEqual({ head: event, relation, object });
    }
    const plain = await hsn('reason', 'generate', run, head, '--relation', relation, '-n', '1');
    expect(plain.stdout).toMatch(/\n {6}path \d+ .* \| .*\n {6}parts near [+−][\d.]+, .*\n {6}from someone /);
  }, 300_000);

  test('may remember valid events once it is fitted, and is then not asked of them', async () => {
    const strange = await train('--part', 'mixture', '--run', run, '--memory', 'test');
    expect(strange).toMatchObject({ code: 1, stdout: '' });
    expect(strange.stderr).toBe('hsn: --memory takes train or train,valid, got test\n');
    const fit = ['--part', 'mixture', '--run', run, '--memory', 'train,valid', '--limit', '30'];
    expect(await train(...fit, '--encoder', DEFAULT_ENCODER)).toMatchObject({ code: 0 });
    // Valid events speak now: one that is asked of a valid event's neighbours may have it behind an answer.
    const { head, relation } = planted.valid[0]!;
    const shown = await hsn('reason', 'generate', run, `${head}!`, '--relation', relation, '--json');
    expect(shown).toMatchObject({ code: 0 });
    const found: MixedCandidate[] = JSON.parse(shown.stdout).candidates[relation];
    expect(found.flatMap(({ events }) => events.map(({ event }) => event))).toContain(head);
    const ended = await hsn('reason', 'eval', run, '--split', 'valid', '--search', 'none');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^hsn: .*: its mixture remembers valid events; ask --split test, or fit/);
  }, 300_000);

  test('of a version with other parts is refused, with what to do', async () => {
    const files = new RunFiles(`${run}/paths/counts`);
    const file = 'analysis/mixture.json';
    const stored = fs.readFileSync(files.target('analysis', 'mixture.json'), 'utf8');
    files.store({ [file]: stored.replaceAll('"learned"', '"counted"') });
    try {
      const ended = await hsn('reason', 'generate', run, 'someone babak');
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(
        /^hsn: .*an earlier version, with the part "counted" that is no more; fit it again with: hsn reason train --part mixture --run [^\n]+\n$/,
      );
    } finally {
      files.store({ [file]: stored });
    }
  });
});

test.each([
  ['no file', 'none.jsonl', undefined, /is not a file; expected JSON lines/],
  ['no JSON', 'bad.jsonl', 'head\trelation', /bad\.jsonl:1 is no JSON object/],
  [
    'no references',
    'empty.jsonl',
    '{"head": "a", "relation": "rA", "answers": []}',
    /:1 has no list of references/,
  ],
  [
    'a question twice',
    'twice.jsonl',
    '{"head":"a","relation":"r","references":["b"],"answers":[]}\n{"head":"a","relation":"r","references":["b"],"answers":[]}',
    /:2 asks \(a, r\) a second time/,
  ],
])('a file of answers with %s is refused', async (_, name, text, message) => {
  const file = folder.path(name);
  if (text !== undefined) fs.writeFileSync(file, text);
  const ended = await hsn('reason', 'eval', '--answers', file);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(message);
  expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
});
