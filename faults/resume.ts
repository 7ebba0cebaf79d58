import assert from 'node:assert/strict';
import fs from 'node:fs';
import { type LanguageConfig, Run, type SyntheticConfig, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyConfig, tinyFlags, tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguage } from '@hidden-schema/testing/tiny-texts';
import { corpusOf, traces, trained, trainedOnTexts } from './small-runs.ts';
import type { Fault, Tally } from './tally.ts';

/** Where training is stopped: 280 sentences in batches of 64 make epochs of 4 steps, some 135 texts in 16 of 8. */
const synthetic = {
  'step 1': [1],
  'mid-epoch': [6],
  'an epoch’s end': [8],
  'again and again': [1, 2, 5, 13],
};
const texts = { 'step 1': [1], 'mid-epoch': [5], 'an epoch’s end': [8], 'again and again': [1, 3, 9] };

const training = { steps: 14, evaluateEvery: 5 };
const kinds: Record<string, SyntheticConfig> = {
  'closed-form': tinyConfig({ graph: { sweeps: 6 }, encoder: { dropout: 0.2 }, training }),
  sampled: tinyConfig({
    seed: 9,
    graph: { posterior: 'pairs', prior: 'power-law', temperature: { from: 1, to: 0.3, steps: 10 } },
    walk: { expectation: 'sampled', prior: 'trained' },
    encoder: { dropout: 0.2, readout: 'queries' },
    objective: { beta: { kind: 'cyclical', steps: 6 } },
    training: { ...training, decay: 0.01, schedule: 'linear' },
  }),
};
const languages: Record<string, LanguageConfig> = {
  network: tinyLanguage({ training: { steps: 11, evaluateEvery: 4 } }),
  baseline: tinyLanguage({ baseline: true, training: { steps: 11, evaluateEvery: 4 } }),
};

type Train<C> = (
  tally: Tally,
  name: string,
  config: C,
  how: { resume?: boolean; until?: number },
) => Promise<Run>;

interface Trained<C> {
  config: C;
  train: Train<C>;
}

async function stopped<C>(tally: Tally, name: string, { config, train }: Trained<C>, stops: number[]) {
  let run: Run | undefined;
  for (const until of [...stops, Number.POSITIVE_INFINITY])
    run = await train(tally, name, config, { resume: run !== undefined, until });
  return traces(run!);
}

async function matrix<C>(
  tally: Tally,
  kind: string,
  trained: Trained<C>,
  points: Record<string, number[]>,
): Promise<void> {
  const whole = await stopped(tally, `${kind}-whole`, trained, []);
  const some = Object.entries(points).slice(0, tally.count(Object.keys(points).length));
  for (const [point, stops] of some)
    await tally.expect(`${kind}, stopped at ${point}`, async () => {
      assert.deepEqual(await stopped(tally, `${kind}-${point}`, trained, stops), whole);
    });
}

/** Row 4: training stopped and continued ends as if it had not been, to the bit. */
async function resumed(tally: Tally): Promise<void> {
  for (const [kind, config] of Object.entries(kinds))
    await matrix(tally, kind, { config, train: trained }, synthetic);
  for (const [kind, config] of Object.entries(languages))
    await matrix(tally, kind, { config, train: trainedOnTexts }, texts);
}

/** Settings of every part, each with another value than the run has. */
const changes = [
  ...['seed=2', 'graph.prior=bernoulli', 'graph.sweeps=7', 'walk.form=symmetric', 'encoder.dropout=0.1'],
  ...[
    'objective.kind=elbo',
    'training.rate=0.5',
    'training.batch=32',
    'training.steps=9',
    'checkpoints.keep=1',
  ],
];

/** Row 5: other settings or another corpus are refused, each with its difference, and nothing is changed. */
async function changed(tally: Tally): Promise<void> {
  const corpus = corpusOf(tally).directory;
  const run = tally.path('run');
  const first = ['train', '--corpus', corpus, '--out', run, ...tinyFlags, '--set', 'training.steps=4'];
  assert.equal((await hsn(...first)).code, 0);
  const before = snapshot(run);
  const resume = ['train', '--out', run, '--resume'];
  for (const change of changes.slice(0, tally.count(changes.length)))
    await tally.expect(change, async () => {
      const { code, stderr } = await hsn(...resume, '--set', change);
      const [key, value] = change.split('=') as [string, string];
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`\\n  ${key.replaceAll('.', '\\.')}: .* → ${value}\\n`));
      assert.equal(snapshot(run), before);
    });
  await tally.expect('a changed corpus', async () => {
    writeSyntheticCorpus({ ...tinySettings, seed: 12 }, tally.path('other'));
    const { code, stderr } = await hsn(...resume, '--corpus', tally.path('other'));
    assert.equal(code, 1);
    assert.match(stderr, /\n {2}corpus: .* → .*other/);
    assert.equal(snapshot(run), before);
  });
  await tally.expect('--force goes on with them', async () => {
    const { code, stdout } = await hsn(...resume, '--set', 'training.steps=6', '--force');
    assert.equal(code, 0);
    assert.match(stdout, /run finished at step 6/);
    assert.equal(Run.open(run).config.training.steps, 6);
  });
}

const snapshot = (run: string): string =>
  ['run.json', 'config.yaml', 'metrics.jsonl', 'checkpoints/step-4/manifest.json']
    .map((name) => fs.readFileSync(`${run}/${name}`, 'utf8'))
    .join('\n');

export const faults: readonly Fault[] = [
  { row: 4, fault: 'stopped at step 1, mid-epoch, at an epoch’s end, and continued', inject: resumed },
  { row: 5, fault: 'continued with changed settings or corpus', inject: changed },
];
