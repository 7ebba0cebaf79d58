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
    ['--part', 'path', '--run', run, ...tinyPathFlags, '--set', 'path.kind=prior'],
    ['--part', 'path', '--run', run, '--set', 'path.kind=counts'],
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
    ['an unknown part', ['--part', 'all'], /--part takes network, path, mixture or comet, got all/],
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
      for (const { walk, walks, score, walkLogProb, objectLogProb } of candidates.rA) {
        expect(walk).toHaveLength(4);
        // Of the walks that lead to an object, the best is shown and all are counted.
        const best = walkLogProb + objectLogProb;
        if (walks === 1) expect(score).toBeCloseTo(best, 6);
        expect(score).toBeGreaterThanOrEqual(best - 1e-9);
        expect(score).toBeLessThanOrEqual(best + Math.log(walks) + 1e-9);
      }
    }
  });

  test('each object once, with its walk in words and the training tuples that walk alike', async () => {
    const shown = await hsn('reason', 'generate', run, event, '--relation', 'rC', '-n', '2');
    const steps = /^rC\n {2}.* {2}-?[\d.]+ {2}\d+ .* → \d+ .* \| \d+ .* → \d+ .*\n/;
    expect(shown.stdout).toMatch(steps);
    expect(shown.stdout).toMatch(/\n {6}like someone .* → so .* \([1-4] of 4 steps\)\n/);
    const listed = await hsn('reason', 'generate', run, event, '--relation', 'rC', '-n', '2', '--json');
    const { candidates } = JSON.parse(listed.stdout);
    expect(candidates.rC.length).toBeLessThanOrEqual(2);
    for (const { words, like } of candidates.rC) {
      expect(words).toHaveLength(4);
      expect(like[0].same).toBeGreaterThanOrEqual(like.at(-1).same);
    }
    expect(new Set(candidates.rC.map(({ object }: { object: string }) => object)).size).toBe(
      candidates.rC.length,
    );
    const begun: number[] = candidates.rC[0].walk.slice(0, 3);
    const led = await hsn(
      'reason',
      'generate',
      run,
      event,
      '--relation',
      'rC',
      '--along',
      begun.join(),
      '--json',
    );
    const walks = JSON.parse(led.stdout).candidates.rC.map(({ walk }: { walk: number[] }) =>
      walk.slice(0, 3),
    );
    expect(walks).toEqual(walks.map(() => begun));
  });

  test.each([
    [
      'an unknown relation',
      [event, '--relation', 'xWant'],
      /unknown relation "xWant": this run knows rA, rB, rC/,
    ],
    ['an empty event', [' '], /the event is empty/],
    ['an event that is too long', ['word '.repeat(200)], /more tokens than the models read of one/],
    ['steps that are no symbols', [event, '--along', '3,x'], /--along takes symbols with commas between/],
    [
      'an unknown search',
      [event, '--search', 'best'],
      /--search takes mixture, greedy, sample or beam, got best/,
    ],
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
    const few = ['--limit', '6', '--search', 'greedy,beam3,rank4'];
    const ended = await hsn('reason', 'eval', run, '--comet', comet, ...few, '--json');
    expect(ended).toMatchObject({ code: 0 });
    const { rows, differences, split } = JSON.parse(ended.stdout);
    expect(split).toBe('test');
    const paths = [
      'counts',
      'prior',
      'lstm',
      'transformer',
      'counts+prior',
      'counts+lstm',
      'counts+transformer',
    ];
    expect(
      rows.map(({ model, search }: { model: string; search?: { count: number } }) => [model, search?.count]),
    ).toEqual([
      ...['constant', 'nearest', 'vote', 'kernel', 'posterior'].map((model) => [model, undefined]),
      ['alone', 1],
      ...['comet', ...paths.map((path) => `ar-${path}`)].flatMap((model) => [
        [model, 1],
        [model, 3],
        [model, 4],
      ]),
    ]);
    for (const { figures, kept } of rows)
      for (const key of ['bleu2', 'rouge_l', 'bert_score', 'distinct_1', 'novel_objects', 'recall_10'])
        for (const some of [figures, kept]) expect(some[key], key).toBeTypeOf('number');
    // By three searches, against COMET and three floors, in three measures.
    expect(differences).toHaveLength(paths.length * 3 * 4 * 3);
    for (const { difference, low, high } of differences) {
      expect(low).toBeLessThanOrEqual(difference);
      expect(high).toBeGreaterThanOrEqual(difference);
    }
    const shown = await hsn('reason', 'eval', run, ...few, '--split', 'valid', '--path', 'counts');
    expect(shown.stdout).toContain('the paper: HSN(50, 20)-AR');
    expect(shown.stdout).toMatch(/HSN-AR, counts +beam of 3/);
    expect(shown.stdout).toMatch(
      /path model +symbols found .* of what guessing misses\n.*\n?counts( +-?\d+\.\d %){5}\n/,
    );
    expect(shown.stdout).toContain('of valid events, none of them trained on');
    expect(shown.stdout).not.toContain('LSTM');
  });

  test.each([
    ['a split', ['--split', 'train'], /--split takes test or valid, got train/],
    ['a search', ['--search', 'beam'], /a search is greedy, or beam, sample or rank with a number.*got beam/],
    ['a path', ['--path', 'gru'], /has no path model gru; there are counts, prior, lstm/],
  ])('refuses %s that there is not', async (_, args, message) => {
    const ended = await hsn('reason', 'eval', run, ...args);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
  });

  test('COMET alone is no network', async () => {
    expect((await hsn('reason', 'eval', comet)).stderr).toMatch(/is COMET; give the run of a network/);
  });
});
