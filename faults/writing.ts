// A process of its own for row 1: writes checkpoints without pause, as a session does, until it is killed.
// Usage: writing.ts RUN ELEMENTS
import fs from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CheckpointWriter, checkpointSteps, Run, syntheticOptions } from '@hidden-schema/hsn';
import { scope, Tensor } from '@hidden-schema/torch';

const [directory, elements] = process.argv.slice(2);
if (directory === undefined || elements === undefined) throw new Error('expected RUN and ELEMENTS');
const count = Number(elements);
const run = fs.existsSync(path.join(directory, 'run.json'))
  ? Run.open(directory, { write: true })
  : Run.create(directory, syntheticOptions.parse({}), { directory: 'corpus', fingerprint: 'none' });
const writer = new CheckpointWriter(run);
const filled = (value: number) => Tensor.fromArray(new Float32Array(count).fill(value), [count]).keep();

for (let step = (checkpointSteps(run).at(-1) ?? 0) + 1; ; step++) {
  const tensors = scope(() => [filled(step), filled(-step)] as const);
  const parts = { model: [['weight', tensors[0]]], optimizer: [['moment', tensors[1]]] } as const;
  await writer.save(step, { ...parts, state: { step } }, { best: step % 5 === 0, keep: 2 });
  // As training does: tensors change while their copies are being written.
  for (const tensor of tensors) tensor.zero_();
  for (let i = 0; i < 3; i++) await setImmediate();
  await writer.settle();
  for (const tensor of tensors) tensor.free();
  process.stdout.write(`saved ${step}\n`);
}
