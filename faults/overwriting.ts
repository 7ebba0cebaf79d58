import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { contentOf, datedRun, differing, refusedLine } from './dated-run.ts';
import type { Fault, Tally } from './tally.ts';

const program = fileURLToPath(new URL('../packages/cli/bin/hsn.js', import.meta.url));

/** Verbs that print, each with a result on standard output. */
const printing = (run: string, corpus: string): string[][] => [
  ['symbols', run],
  ['symbols', run, '--json'],
  ['labels', run],
  ['time', run],
  ['find', run, 'the cat'],
  ['compare', run, '--by', 'label'],
  ['encode', run, corpus],
  ['encode', run, corpus, '--format', 'jsonl'],
  ['generate', run, '--like', 'the cat is good'],
  ['eval', run],
  ['graph', run, '--samples', '3'],
  ['runs', path.dirname(run)],
  ['verify', run],
  ['cache'],
  ['completion', 'bash'],
  ['schema'],
  ['--help'],
];

/** Row 52: a verb whose output cannot be written says so. */
async function fullOutput(tally: Tally): Promise<void> {
  const { run, corpus } = await datedRun(tally);
  const all = printing(run, corpus);
  for (const args of all.slice(0, tally.count(all.length, 3)))
    await tally.expect(`hsn ${args.join(' ')} > /dev/full`, () => {
      const words = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ');
      const { status, stderr } = spawnSync('sh', ['-c', `${words} > /dev/full`], {
        encoding: 'utf8',
        env: { ...process.env, HSN_THREADS: '1' },
      });
      const line = refusedLine({ code: status, stderr });
      assert.match(line, /^hsn: cannot write to standard output: .*ENOSPC/);
    });
}

/** Files that must not be written over, by what leads to them. */
function targets(tally: Tally, run: string, corpus: string): Record<string, string> {
  const at = (...names: string[]) => tally.path('links', ...names);
  fs.mkdirSync(at(), { recursive: true });
  fs.symlinkSync(corpus, at('soft.csv'));
  fs.linkSync(corpus, at('hard.csv'));
  fs.symlinkSync(path.join(run, 'config.yaml'), at('settings.csv'));
  fs.linkSync(path.join(run, 'metrics.jsonl'), at('metrics.csv'));
  fs.symlinkSync(run, at('run'));
  return {
    'the corpus': corpus,
    'the corpus, spelled otherwise': path.join(
      path.dirname(corpus),
      '..',
      path.basename(path.dirname(corpus)),
      path.basename(corpus),
    ),
    'a link to the corpus': at('soft.csv'),
    'another name of the corpus': at('hard.csv'),
    'the run’s record': path.join(run, 'run.json'),
    'the run’s settings by a link': at('settings.csv'),
    'another name of the run’s metrics': at('metrics.csv'),
    'a file of the run through a linked folder': at('run', 'tokenizer.json'),
    'a checkpoint': path.join(run, 'checkpoints', 'best.json'),
    'what was worked out': path.join(run, 'analysis', 'encoded.jsonl'),
    'a file that the run may have': path.join(run, 'names.json'),
    'the run itself': run,
    'a device': '/dev/full',
    'a folder that takes no file': '/proc/table.csv',
  };
}

/** Verbs that write, to a file. */
const writing = (run: string, corpus: string, out: string): string[][] => [
  ['encode', run, corpus, '--format', 'jsonl', '--out', out],
  ['export', run, '--table', 'texts', '--format', 'csv', '--out', out],
  ['report', run, '--out', out],
  ['explain', run, 'the cat is good', '--html', out],
];

/** Row 52: what is read, and what a run keeps, is never written over. */
async function overInputs(tally: Tally): Promise<void> {
  const { run, corpus } = await datedRun(tally);
  // All that a verb keeps in the run is there.
  assert.equal((await hsn('report', run)).code, 0);
  const all = Object.entries(targets(tally, run, corpus)).flatMap(([what, out]) =>
    writing(run, corpus, out).map((args) => ({ what, args })),
  );
  const before = contentOf(tally.path('runs'), tally.path('texts'));
  const unharmed = () => {
    assert.deepEqual(differing(before, contentOf(tally.path('runs'), tally.path('texts'))), []);
    assert.ok(fs.lstatSync('/dev/full').isCharacterDevice());
  };
  const step = Math.max(1, Math.floor(all.length / tally.count(all.length, 6)));
  for (const { what, args } of all.filter((_, n) => n % step === 0))
    await tally.expect(`hsn ${args[0]} over ${what}`, async () => {
      refusedLine(await hsn(...args));
      unharmed();
    });
  for (const [what, args] of Object.entries(otherVerbs(run, corpus)))
    await tally.expect(what, async () => {
      refusedLine(await hsn(...args));
      unharmed();
    });
}

/** Verbs that write folders, or more than one file. */
const otherVerbs = (run: string, corpus: string): Record<string, string[]> => ({
  'results into what was worked out': ['symbols', run, '--out', path.join(run, 'analysis')],
  'results into the run': ['labels', run, '--out', run],
  'the graph over the run’s': ['graph', run, '--export', path.join(run, 'graph.json')],
  'a run over the folder of its corpus': [
    'train',
    '--corpus',
    corpus,
    '--out',
    path.dirname(corpus),
    '--force',
  ],
  'a corpus over its source': [
    'data',
    'yelp',
    path.dirname(corpus),
    '--out',
    path.dirname(corpus),
    '--force',
  ],
  'a trace over the settings': [
    ...['train', '--out', run, '--resume', '--profile', path.join(run, 'config.yaml')],
  ],
});

/** Row 52: results still go where they may. */
async function allowed(tally: Tally): Promise<void> {
  const { run, corpus } = await datedRun(tally);
  const fine: Record<string, string[]> = {
    'its figures': ['symbols', run, '--out', path.join(run, 'figures')],
    'a page in the run': ['report', run, '--out', path.join(run, 'report.html')],
    'a file beside the corpus': [
      'encode',
      run,
      corpus,
      '--out',
      path.join(path.dirname(corpus), 'walks.tsv'),
    ],
    'a file that is there': ['encode', run, corpus, '--out', path.join(path.dirname(corpus), 'walks.tsv')],
  };
  for (const [what, args] of Object.entries(fine))
    await tally.expect(what, async () => {
      const { code, stderr } = await hsn(...args);
      assert.equal(code, 0, stderr);
    });
}

export const faults: readonly Fault[] = [
  { row: 52, fault: 'standard output on a full disk', inject: fullOutput },
  { row: 52, fault: 'results over what is read, or over a run', inject: overInputs },
  { row: 52, fault: 'results where they may go', inject: allowed },
];
