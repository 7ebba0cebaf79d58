import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { arange, liveTensors } from '../src/index.ts';
import { type Outcome, type Task, work } from './worker-body.ts';

function start(task: Task): Worker {
  return new Worker(new URL('./worker-start.mjs', import.meta.url), { workerData: task, execArgv: [] });
}

async function started(worker: Worker): Promise<void> {
  expect((await once(worker, 'message'))[0]).toBe('started');
}

async function finished(worker: Worker): Promise<Outcome> {
  // Listening from the start: a short task posts both of its messages in one turn.
  const messages: unknown[] = [];
  worker.on('message', (message) => messages.push(message));
  const [code] = (await once(worker, 'exit')) as [number];
  expect([code, messages[0], messages.length]).toEqual([0, 'started', 2]);
  return messages[1] as Outcome;
}

describe('worker threads', () => {
  it('compute at once what the main thread computes alone', async () => {
    const tasks = [1, 2, 3, 4].map((seed) => ({ seed, steps: 200 }));
    const mine = liveTensors().tensors;
    const outcomes = await Promise.all(tasks.map((task) => finished(start(task))));
    expect(liveTensors().tensors).toBe(mine);
    for (const [i, task] of tasks.entries()) {
      const alone = work(task);
      expect(outcomes[i]).toEqual(alone);
      expect(alone.losses.at(-1)!).toBeLessThan(alone.losses[0]!);
      expect(alone.tensors).toBe(0);
    }
  });

  it('keep the main thread at work beside them', async () => {
    const worker = start({ seed: 9, steps: 300 });
    const there = finished(worker);
    await started(worker);
    const here = work({ seed: 9, steps: 300 });
    expect(await there).toEqual(here);
  });

  it('can be ended in the middle of their work', async () => {
    for (let round = 0; round < 5; round++) {
      const worker = start({ seed: round, steps: 1e9 });
      await started(worker);
      await new Promise((resolve) => setTimeout(resolve, 20 * round));
      expect(await worker.terminate()).toBe(1);
      expect(arange(4).sum().item()).toBe(6);
    }
  });

  it('give back the memory of tensors they never freed', async () => {
    const memory: number[] = [];
    for (let round = 0; round < 20; round++) {
      await finished(start({ seed: round, steps: 5, leftMB: 16 }));
      memory.push(process.memoryUsage().rss / 1e6);
    }
    expect(memory[19]! - memory[4]!).toBeLessThan(60);
  });
});
