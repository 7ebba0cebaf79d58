// A process of its own for tests that kill it or fill its disk: writes checkpoints into a run.
// Usage: checkpoint-writer.ts RUN COUNT [ELEMENTS]; COUNT 0 writes until it is ended.

import fs from 'node:fs';
import path from 'node:path';
import { saveCheckpoint } from '@hidden-schema/testing/save-checkpoint';
import { Tensor } from '@hidden-schema/torch';
import { syntheticOptions } from '../src/config/network.ts';
import { Run } from '../src/run/run.ts';

const [directory, count, elements = '1000'] = process.argv.slice(2);
if (directory === undefined || count === undefined) throw new Error('expected RUN and COUNT');

// With a limit on file sizes the system sends a signal that would end the process before the error is seen.
process.on('SIGXFSZ', () => {});

try {
  const run = fs.existsSync(path.join(directory, 'run.json'))
    ? Run.open(directory, { write: true })
    : Run.create(directory, syntheticOptions.parse({}), { directory: 'corpus', fingerprint: 'abc' });
  for (const note of run.notes) console.log(`note ${note}`);
  for (let step = 1; count === '0' || step <= Number(count); step++) {
    const weight = Tensor.fromArray(new Float32Array(Number(elements)).fill(step), [Number(elements)]);
    await saveCheckpoint(run, step, {
      model: [['weight', weight]],
      optimizer: [['m', weight]],
      state: { step },
    });
    weight.free();
    console.log(`saved ${step}`);
  }
  run.setState('finished');
  run.close();
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`);
  process.exitCode = 1;
}
