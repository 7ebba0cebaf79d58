import { parentPort, workerData } from 'node:worker_threads';
import { answersOf } from './answers.ts';
import { Fault } from './fault.ts';
import {
  type Message,
  type Outcome,
  type Report,
  SHARED,
  type Task,
  type TaskContext,
  type TaskHandlers,
} from './tasks.ts';

if (!parentPort) throw new Error('worker.ts runs as a worker thread');
const port = parentPort;
/** Of the task in work. */
let current: { id: number; leaving: AbortController } | undefined;

const report = (message: Report) => port.postMessage(message);
const { run, memory } = workerData as { run: string; memory: SharedArrayBuffer };
const shared = new Int32Array(memory);
const answers: TaskHandlers = answersOf(run, (doing) => report({ doing }));

port.on('message', (message: Message) => {
  if ('task' in message) void work(message.task);
  else if (current?.id === message.leave) current.leaving.abort();
});

async function work(task: Task): Promise<void> {
  const leaving = new AbortController();
  current = { id: task.id, leaving };
  const onToken = () => {
    Atomics.add(shared, SHARED.tokens, 1);
    if (Atomics.load(shared, SHARED.left) === task.id + 1) leaving.abort();
  };
  report(await outcomeOf(task, { signal: leaving.signal, onToken }));
}

async function outcomeOf(task: Task, context: TaskContext): Promise<Outcome> {
  try {
    // The input was checked by the endpoint's own schemas.
    const handle = answers[task.name] as ((input: unknown, context: TaskContext) => unknown) | undefined;
    if (!handle) throw new Fault(404, 'not_offered', 'this kind of run does not offer that');
    return { id: task.id, value: await handle.call(answers, task.input, context) };
  } catch (error) {
    const message = error instanceof Error ? error.message.split('\n')[0]! : String(error);
    if (error instanceof Fault)
      return { id: task.id, fault: { status: error.status, code: error.code, message } };
    // The library's own messages are for the user; anything else is a fault of this program.
    const known = error instanceof Error && error.name === 'UserError';
    return { id: task.id, fault: { status: known ? 409 : 500, code: known ? 'run' : 'internal', message } };
  }
}
