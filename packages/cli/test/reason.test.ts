import fs from 'node:fs';
import { readMetrics } from '@hidden-schema/hsn';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { tinyPathFlags, tinyReasoningFlags } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-reason');
const tuples = folder.path('tuples');
const run = folder.path('run');
const comet = folder.path('comet');
const event = 'someone babak baban doban';
const train = (...args: string[]) => hsn('reason', 'train', ...args);

beforeAll(async () => {
  writePlanted(tuples, plantedTuples({ events: 20, relations: 3 }));
  fs.appendFileSync(`${tuples}/train.tsv`, 'a row without tabs\nsomeone\trA\t\n');
  for (const args of [
    ['--tuples', tuples, '--out', run, ...tinyReasoningFlags],
    ['--part', 'comet', '--tuples', tuples, '--out', comet, ...tinyReasoningFlags],
    ['--part', 'path', '--run', run, ...tinyPathFlags],
    ['--part', 'path', '--run', run, ...tinyPathFlags, '--set', 'path.kind=transformer'],
  ])
    expect(await train(...args)).toMatchObject({ code: 0 });
}, 600_000);
afterAll(folder.remove);

describe('hsn reason train', () => {
  test('tells what it read, and keeps a run that is there', async () => {
    const again = await train('--tuples', tuples, '--out', run, ...tinyReasoningFlags);
    expect(again.stderr).toMatch(/^hsn: .* already holds a run; [^\n]+\n$/);
    const forced = await train('--tuples', tuples, '--out', folder.path('other'), ...tinyReasoningFlags);
    expect(forced.stderr).toMatch(/tuples: \d+ \(\d+ events\) \+ .* 3 relations: rA, rB, rC/);
    expect(forced.stderr).toContain('2 malformed rows left out:');
    expect(forced.stderr).toMatch(/train\.tsv:\d+ has 1 column; expected head<TAB>relation<TAB>tail/);
    expect(forced.stderr).toMatch(/train\.tsv:\d+ has an empty object/);
    expect(forced.stdout).toMatch(/perplexity of objects +[\d.]+/);
    expect(forced.stdout).toContain('run finished at step 6');
  });

  test('trains in two processes as in one, and profiles', async () => {
    const trace = folder.path('trace.json');
    const together = folder.path('together');
    const few = [...tinyReasoningFlags, '--set', 'training.steps=10', '--set', 'training.logEvery=1'];
    const alone = await train('--tuples', tuples, '--out', folder.path('alone'), ...few, '--profile', trace);
    expect(alone).toMatchObject({ code: 0 });
    expect(JSON.parse(fs.readFileSync(trace, 'utf8'))).toHaveProperty('traceEvents');
    const group = new HsnProcess([
      ...['reason', 'train', '--tuples', tuples, '--out', together, ...few, '--processes', '2'],
    ]);
    expect(await group.ended).toMatchObject({ code: 0 });
    const last = (name: string) =>
      readMetrics(`${folder.path(name)}/metrics.jsonl`).rows.findLast((row) => row.loss)!;
    expect(last('together').step).toBe(10);
    expect(last('together').loss! / last('alone').loss!).toBeCloseTo(1, 4);
  });

  test('continues with more steps', async () => {
    const ended = await train('--out', comet, '--resume', '--force', '--set', 'training.steps=8');
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain('run finished at step 8');
  });

  test.each([
    ['odd walks', ['--set', 'length=5'], /length: walks of two halves.* even number of steps from 2, got 5/],
    ['walks of one step', ['--set', 'length=1'], /length: expected a whole number of at least 2, got 1/],
    ['an unknown part', ['--part', 'all'], /--part takes network, path or comet, got all/],
    ['an unknown setting', ['--set', 'path.kin=lstm'], /unknown key path\.kin, did you mean path\.kind/],
    [
      'a relation that is not there',
      ['--set', 'tuples.relations=[xWant]'],
      /no tuple has the relation xWant/,
    ],
  ])('refuses %s', async (_, args, message) => {
    const out = folder.path('none');
    const ended = await train('--tuples', tuples, '--out', out, ...tinyReasoningFlags, ...args);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
    expect(fs.existsSync(out)).toBe(false);
  });

  test('--threads is checked before anything is made', async () => {
    const out = folder.path('threads');
    const ended = await train('--tuples', tuples, '--out', out, '--threads', 'all');
    expect(ended).toMatchObject({
      code: 1,
      stderr: 'hsn: --threads takes a whole number from 1, got all\n',
    });
    expect(fs.existsSync(out)).toBe(false);
  });

  test('a path model needs a network', async () => {
    expect((await train('--part', 'path')).stderr).toMatch(/give --run, its folder/);
    expect((await train('--part', 'path', '--run', comet)).stderr).toMatch(/is COMET, which has no walks/);
  });
});

describe('hsn reason generate', () => {
  test('objects with scores and walks, by every search', async () => {
    for (const search of ['greedy', 'beam', 'sample']) {
      const args = ['--relation', 'rA,rB', '--search', search, '--json', '--path', 'lstm'];
      const ended = await hsn('reason', 'generate', run, event, ...args);
      expect(ended).toMatchObject({ code: 0 });
      const { candidates } = JSON.parse(ended.stdout);
      expect(Object.keys(candidates)).toEqual(['rA', 'rB']);
      for (const { walk, score, walkLogProb, objectLogProb } of candidates.rA) {
        expect(walk).toHaveLength(4);
        expect(score).toBeCloseTo(walkLogProb + objectLogProb, 6);
      }
    }
    const shown = await hsn('reason', 'generate', run, event, '--relation', 'rC');
    expect(shown.stdout).toMatch(/^rC\n {2}.* {2}-?[\d.]+ {2}\d+ \d+ \| \d+ \d+\n/);
  });

  test.each([
    [
      'an unknown relation',
      [event, '--relation', 'xWant'],
      /unknown relation "xWant": this run knows rA, rB, rC/,
    ],
    ['an empty event', [' '], /the event is empty/],
    ['an event that is too long', ['word '.repeat(200)], /more tokens than the models read of one/],
    ['an unknown search', [event, '--search', 'best'], /--search takes greedy, sample or beam, got best/],
  ])('refuses %s', async (_, args, message) => {
    const ended = await hsn('reason', 'generate', run, ...args);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(message);
  });

  test('a run without a path model says how to train one', async () => {
    const ended = await hsn('reason', 'generate', folder.path('other'), event);
    expect(ended.stderr).toMatch(/has no path model yet; train one with: hsn reason train --part path/);
  });
});

describe('hsn reason eval', () => {
  test('ours beside the paper, all models', async () => {
    const ended = await hsn('reason', 'eval', run, '--comet', comet, '--limit', '6', '--json');
    expect(ended).toMatchObject({ code: 0 });
    const rows = JSON.parse(ended.stdout);
    expect(rows.map(({ model, beam = 0 }: { model: string; beam?: number }) => [model, beam])).toEqual([
      ['posterior', 0],
      ['ar-lstm', 0],
      ['ar-lstm', 5],
      ['ar-transformer', 0],
      ['ar-transformer', 5],
      ['comet', 0],
    ]);
    for (const { figures } of rows)
      for (const key of ['bleu2', 'bert_score', 'distinct_1', 'novel_objects'])
        expect(figures[key], key).toBeTypeOf('number');
    const shown = await hsn('reason', 'eval', run, '--limit', '4', '--search', 'beam', '--beam', '3');
    expect(shown.stdout).toContain('the paper: HSN(50, 20)-AR');
    expect(shown.stdout).toContain('HSN-AR, LSTM, beam of 3');
    expect(shown.stdout).not.toMatch(/HSN-AR, LSTM {2}/);
  });

  test('COMET alone is no network', async () => {
    expect((await hsn('reason', 'eval', comet)).stderr).toMatch(/is COMET; give the run of a network/);
  });
});
