import assert from 'node:assert/strict';
import fs from 'node:fs';
import {
  checkpointSteps,
  diagnose,
  loadCheckpoint,
  Run,
  SyntheticTask,
  syntheticConfig,
  Updater,
} from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { saveCheckpoint } from '@hidden-schema/testing/save-checkpoint';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { scope, Tensor } from '@hidden-schema/torch';
import { corpusOf, trained } from './small-runs.ts';
import { type Fault, refusal, type Tally } from './tally.ts';

const values = { NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, '-Infinity': Number.NEGATIVE_INFINITY };
const config = tinyConfig({
  graph: { posterior: 'free', prior: 'bernoulli' },
  walk: { expectation: 'sampled' },
  encoder: { teacher: 'none' },
  training: { steps: 20, evaluateEvery: 5 },
});

/** Row 7: a number that is not one, in a weight of each part, in a gradient, in an objective. */
async function wrongNumbers(tally: Tally): Promise<void> {
  const run = await trained(tally, 'run', config, { until: 10 });
  const names = scope(() => [...loadCheckpoint(run, 'last').model.keys()]);
  const parts = ['encoder', 'graph.'].map((part) => names.find((name) => name.startsWith(part))!);
  for (const weight of parts.filter((name) => name !== undefined))
    for (const [name, value] of Object.entries(values).slice(0, tally.count(3)))
      await tally.expect(`${name} in ${weight}`, () => poisoned(tally, run, weight, value));
  await tally.expect('a gradient that is infinite while the loss is not', infiniteGradient);
  await tally.expect('a rate that drives the weights away, and its diagnosis', () => runaway(tally));
}

/** The weight is changed in a checkpoint that is otherwise whole: the next step meets it. */
async function poisoned(tally: Tally, from: Run, weight: string, value: number): Promise<void> {
  const directory = tally.path('poisoned');
  fs.rmSync(directory, { recursive: true, force: true });
  fs.cpSync(from.directory, directory, { recursive: true });
  const run = Run.open(directory, { write: true });
  const saved = loadCheckpoint(run, 'last');
  saved.model
    .get(weight)!
    .reshape(-1)
    .narrow(0, 0, 1)
    .copy_(Tensor.fromArray(Float32Array.from([value]), [1]));
  await saveCheckpoint(run, 11, {
    model: saved.model,
    optimizer: saved.optimizer!,
    state: JSON.parse(JSON.stringify(saved.state).replace('"step":10', '"step":11')),
  });
  run.close();
  const before = fs.readFileSync(run.path('checkpoints', 'step-11', 'model.safetensors'));
  const said = await refusal(() => trained(tally, 'poisoned', config, { resume: true }));
  assert.match(
    said,
    /^step 12 \(epoch \d+, batch \d+\): \w+ is (NaN|-?Infinity); the weights of the step before/,
  );
  assert.deepEqual(fs.readFileSync(run.path('checkpoints', 'step-11', 'model.safetensors')), before);
  assert.equal(checkpointSteps(Run.open(directory)).at(-1), 11);
  assert.equal(Run.open(directory).state, 'crashed');
}

/** √w at 0: the loss is 0, its gradient is not finite. */
async function infiniteGradient(): Promise<void> {
  const weight = Tensor.fromArray(Float32Array.from([0, 1]), [2])
    .keep()
    .requireGrad();
  const settings = { steps: 1, warmup: 0, schedule: 'constant', clip: 1, decay: 0 } as const;
  const updater = new Updater([{ parameters: [['weight', weight]], rate: 0.1 }], settings);
  const said = await refusal(() =>
    scope(() => {
      const loss = weight.sqrt().sum();
      const gradient_norm = updater.backward(loss);
      updater.update({ step: 1, epoch: 0, loss: loss.item(), gradient_norm } as never, 7);
    }),
  );
  assert.match(said, /^step 1 \(epoch 0, batch 7\): gradient_norm is Infinity/);
  assert.deepEqual(weight.toNumbers(), [0, 1]);
}

/** The run stops by itself, and `--diagnose` names the operator. */
async function runaway(tally: Tally): Promise<void> {
  const wild = tinyConfig({
    ...config,
    training: { ...config.training, rate: 1e30, warmup: 0, evaluateEvery: 100, clip: 1e30 },
    checkpoints: { every: 1 },
  });
  const said = await refusal(() => trained(tally, 'wild', wild));
  assert.match(said, /is (NaN|-?Infinity|not finite)/);
  const run = Run.open(tally.path('wild'));
  const before = fs.readFileSync(run.path('run.json'), 'utf8');
  const diagnosis = await diagnose(run, new SyntheticTask(syntheticConfig(run.config), corpusOf(tally)));
  assert.ok(diagnosis.again && (diagnosis.forward ?? diagnosis.backward), JSON.stringify(diagnosis));
  const shown = await hsn('train', '--out', run.directory, '--diagnose');
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /it came again: .*\nfirst in the (values|gradients)/);
  assert.equal(fs.readFileSync(run.path('run.json'), 'utf8'), before);
}

export const faults: readonly Fault[] = [
  { row: 7, fault: 'NaN or infinity in loss, gradient, graph', inject: wrongNumbers },
];
