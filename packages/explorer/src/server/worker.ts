import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from './fault.ts';
import { OpenedRun } from './opened-run.ts';
import type { Outcome, Task } from './tasks.ts';

if (!parentPort) throw new Error('worker.ts runs as a worker thread');
const port = parentPort;
const run = new OpenedRun((workerData as { run: string }).run);

port.on('message', (task: Task) => port.postMessage(outcomeOf(task)));

function outcomeOf(task: Task): Outcome {
  try {
    return { id: task.id, value: perform(task) };
  } catch (error) {
    const message = error instanceof Error ? error.message.split('\n')[0]! : String(error);
    if (error instanceof Fault)
      return { id: task.id, fault: { status: error.status, code: error.code, message } };
    // The library's own messages are for the user; anything else is a fault of this program.
    const known = error instanceof Error && error.name === 'UserError';
    return { id: task.id, fault: { status: known ? 409 : 500, code: known ? 'run' : 'internal', message } };
  }
}

function perform(task: Task): unknown {
  switch (task.name) {
    case 'opened':
      return run.opened();
    case 'graph':
      return run.graph();
    case 'symbol':
      return run.symbol(task.input);
    case 'rename':
      return run.rename(task.input);
    case 'encode':
      return run.encode(task.input);
    case 'sentences':
      return run.sentences(task.input);
  }
}
