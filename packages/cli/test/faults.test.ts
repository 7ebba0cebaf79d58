import fs from 'node:fs';
import { Run, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { hsn, runHsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyFlags, tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-faults');
afterAll(folder.remove);
const corpus = folder.path('corpus');
const run = folder.path('run');
const out = folder.path('out');

/** A copy of the corpus with something wrong in it. */
function spoiled(name: string, spoil: (file: (name: string) => string) => void): string {
  const target = folder.path(name);
  fs.cpSync(corpus, target, { recursive: true });
  spoil((file) => folder.path(name, file));
  return target;
}
const edit = (file: string, change: (text: string) => string) =>
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));

beforeAll(async () => {
  writeSyntheticCorpus(tinySettings, corpus);
  const trained = await hsn(
    'train',
    '--corpus',
    corpus,
    '--out',
    run,
    ...tinyFlags,
    '--set',
    'training.steps=2',
  );
  expect(trained.code).toBe(0);
  spoiled('ragged', (file) => edit(file('train.txt'), (text) => text.replace(/^\S+ /, '')));
  spoiled('foreign-token', (file) => edit(file('train.txt'), (text) => text.replace(/^\S+/, 'zzzz')));
  spoiled('no-valid', (file) => {
    fs.writeFileSync(file('valid.txt'), '');
    fs.writeFileSync(file('valid_walks.txt'), '');
  });
  spoiled('words', (file) => {
    for (const name of fs.readdirSync(file('.'))) if (name !== 'train.txt') fs.rmSync(file(name));
  });
  fs.writeFileSync(folder.path('typo.yaml'), 'training:\n  stepz: 3\n');
  fs.writeFileSync(folder.path('broken.yaml'), 'training: [1\n');
});

const train = (name: string, ...rest: string[]) => [
  'train',
  '--corpus',
  folder.path(name),
  '--out',
  out,
  ...rest,
];
const set = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting]);

/** [what is wrong, the command, the exit code, the line on stderr] */
const faults: [string, () => string[], number, RegExp][] = [
  ['ragged sentences', () => train('ragged'), 1, /train\.txt:1 has 4 tokens where most sentences have 5/],
  ['a token outside every bag', () => train('foreign-token'), 1, /"zzzz" at train\.txt:1 is in no bag/],
  [
    'symbols smaller than the bags',
    () => train('corpus', ...set('symbols=5')),
    1,
    /symbols is 5, but the corpus gives bags of tokens for 8 symbols/,
  ],
  [
    'sentences alone, and no number of symbols',
    () => train('words'),
    1,
    /names no symbols .*--set symbols=50/,
  ],
  [
    'a length longer than the sentences',
    () => train('corpus', ...set('length=9')),
    1,
    /length is 9, but the sentences have 5 tokens/,
  ],
  ['no validation sentences', () => train('no-valid'), 1, /has no sentences in valid\.txt/],
  ['p = 0', () => train('corpus', ...set('graph.p=0')), 1, /graph\.p: expected a number .*, got 0/],
  ['p above 1', () => train('corpus', ...set('graph.p=1.5')), 1, /graph\.p: expected a number .*, got 1\.5/],
  [
    'an unknown key',
    () => train('corpus', ...set('graph.postterior=free')),
    1,
    /graph\.postterior.*graph\.posterior|postterior.*posterior/,
  ],
  [
    'an unknown key in a file',
    () => ['train', folder.path('typo.yaml'), '--corpus', corpus, '--out', out],
    1,
    /typo\.yaml: .*stepz.*steps.*\(line 2\)/,
  ],
  [
    'a broken settings file',
    () => ['train', folder.path('broken.yaml'), '--corpus', corpus, '--out', out],
    1,
    /broken\.yaml: line \d/,
  ],
  [
    'a missing settings file',
    () => ['train', folder.path('none.yaml'), '--corpus', corpus, '--out', out],
    1,
    /cannot read the settings .*none\.yaml/,
  ],
  [
    'heads that do not divide the width',
    () => train('corpus', ...set('encoder.width=15')),
    1,
    /encoder\.width is 15: expected a multiple of encoder\.heads, 2/,
  ],
  [
    '--set without a value',
    () => train('corpus', '--set', 'training.steps'),
    1,
    /--set "training\.steps": expected key=value/,
  ],
  ['a missing corpus', () => train('nowhere'), 1, /there is no file or folder .*nowhere/],
  ['no corpus', () => ['train', '--out', out], 1, /which corpus\? give --corpus/],
  [
    'a file as the run folder',
    () => ['train', '--corpus', corpus, '--out', folder.path('typo.yaml')],
    1,
    /typo\.yaml is a file; expected a folder/,
  ],
  [
    'bad --threads',
    () => train('corpus', '--threads', 'two'),
    1,
    /--threads takes a whole number from 1, got two/,
  ],
  ['--threads 0', () => train('corpus', '--threads', '0'), 1, /--threads takes a whole number from 1, got 0/],
  ['--resume without --out', () => ['train', '--resume'], 1, /--resume needs --out/],
  [
    '--resume of nothing',
    () => ['train', '--out', out, '--resume'],
    1,
    /the run folder .*out does not exist/,
  ],
  [
    '--resume of a corpus',
    () => ['train', '--out', corpus, '--resume'],
    1,
    /is not a run: expected a folder made by "hsn train"/,
  ],
  ['an unknown option', () => train('corpus', '--step', '3'), 2, /unknown option '--step'/],
  ['an unknown verb', () => ['trian'], 2, /unknown command 'trian'.*train/],
  ['an argument too many', () => ['eval', run, 'more'], 2, /too many arguments/],
  ['eval of nothing', () => ['eval', folder.path('nothing')], 1, /the run folder .*nothing does not exist/],
  ['eval without a run', () => ['eval'], 2, /missing required argument 'run'/],
  [
    'a bad --checkpoint',
    () => ['eval', run, '--checkpoint', 'newest'],
    1,
    /a checkpoint is "best", "last" or a step, got "newest"/,
  ],
  [
    'a --checkpoint that is not there',
    () => ['eval', run, '--checkpoint', '77'],
    1,
    /has no checkpoint of step 77: it has steps 2/,
  ],
  ['a bad --limit', () => ['eval', run, '--limit', '0'], 1, /--limit takes a whole number from 1, got 0/],
  [
    'a corpus of other symbols',
    () => ['eval', run, '--corpus', folder.path('ragged')],
    1,
    /train\.txt:1 has 4 tokens/,
  ],
  ['an unknown table', () => ['reproduce', 'table99'], 1, /"table99" cannot be reproduced/],
  [
    'bad --seeds',
    () => ['reproduce', 'table1', '--seeds', 'x'],
    1,
    /--seeds takes a whole number from 0, got x/,
  ],
  ['no seeds', () => ['reproduce', 'table1', '--seeds', '0'], 1, /--seeds 0 leaves nothing to train/],
  [
    'an unknown corpus of a table',
    () => ['reproduce', 'table1', '--only', 'watts'],
    1,
    /--only takes barabasi, erdos and shared, got "watts"/,
  ],
  [
    'bad --steps of the demo',
    () => ['demo', '--steps', '0', '--out', out],
    1,
    /--steps takes a whole number from 1, got 0/,
  ],
];

describe('bad input', () => {
  test.each(faults)('%s: one clear line, and nothing written', async (_, args, code, line) => {
    const before = fs.readdirSync(folder.path()).sort();
    const ended = await hsn(...args());
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(line);
    expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
    expect(ended.stderr).not.toMatch(/unexpected|\n {4}at /);
    expect(fs.readdirSync(folder.path()).sort()).toEqual(before);
  });

  test('a process ends with the code and the line', async () => {
    const ended = await runHsn(...train('corpus', ...set('graph.p=0')));
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^hsn: [^\n]*graph\.p: expected[^\n]*\n$/);
  });

  test('several faults of the settings are told together', async () => {
    const { code, stderr } = await hsn(...train('corpus', ...set('graph.p=0', 'training.steps=-1')));
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(3);
  });
});

describe('a corpus that says less', () => {
  test('without truth trains, and says that recovery is left out', async () => {
    const blind = spoiled('blind', (file) => {
      for (const name of [
        'adjacency.txt',
        'edges.tsv',
        'train_walks.txt',
        'valid_walks.txt',
        'test_walks.txt',
      ])
        fs.rmSync(file(name));
    });
    const target = folder.path('blind-run');
    const args = ['train', '--corpus', blind, '--out', target, ...tinyFlags, '--set', 'training.steps=2'];
    const { code, stdout, stderr } = await hsn(...args);
    expect(code).toBe(0);
    expect(stderr).toContain('no truth given: recovery figures are left out');
    expect(stdout).toMatch(/ nll /);
    expect(stdout).not.toMatch(/auc|frobenius|hits|edges_truth/);
  });

  test('a number gone wrong names the term, keeps the last checkpoint, and marks the run', async () => {
    const target = folder.path('wild');
    const wild = set('training.rate=1e30', 'training.warmup=0', 'training.evaluateEvery=1');
    const { code, stderr } = await hsn('train', '--corpus', corpus, '--out', target, ...tinyFlags, ...wild);
    expect(code).toBe(1);
    const line = stderr.trimEnd().split('\n').at(-1);
    expect(line).toMatch(
      /^hsn: step \d+: the validation objective is (NaN|-?Infinity); the last checkpoint is kept/,
    );
    expect(Run.open(target).state).toBe('crashed');
    const rare = set('training.evaluateEvery=100');
    const later = await hsn(
      'train',
      '--corpus',
      corpus,
      '--out',
      target,
      '--force',
      ...tinyFlags,
      ...wild,
      ...rare,
    );
    expect(later.code).toBe(1);
    expect(later.stderr).toMatch(
      /\nhsn: step 2 \(epoch 0, batch 1\): \w+ is (NaN|-?Infinity); the weights[^\n]*\n$/,
    );
  });
});
