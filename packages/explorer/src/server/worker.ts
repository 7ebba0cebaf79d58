import { Worker } from 'node:worker_threads';
import { reasonOf } from '@hidden-schema/base';
import { Answers } from './answers.ts';
import { Fault } from './fault.ts';
import { SHARED, SharedNumbers } from './shared-numbers.ts';
import type { Message, Outcome, Report, Task, TaskContext, TaskHandlers } from './tasks.ts';

/** Where the file of shared numbers is, after the three usual ones and the channel. */
const SHARED_DESCRIPTOR = 4;

const [, , run, parent] = process.argv;
if (!run || !process.send) throw new Error('worker.ts runs as the process of a model');
new Worker(new URL('./watch-parent.mjs', import.meta.url), { workerData: Number(parent) }).unref();
// At once: work in the threads of native libraries would be waited for.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

/** Of the task in work. */
let current: { id: number; leaving: AbortController } | undefined;
let ready = false;

const report = (message: Report) => process.send!(message);
const shared = new SharedNumbers(SHARED_DESCRIPTOR);
const answers: TaskHandlers = new Answers(run, (doing) => report({ doing }));

process.on('message', (message: Message) => {
  if ('task' in message) void work(message.task);
  else if (current?.id === message.leave) current.leaving.abort();
});

async function work(task: Task): Promise<void> {
  const leaving = new AbortController();
  current = { id: task.id, leaving };
  const onToken = () => {
    shared.set(SHARED.tokens, shared.get(SHARED.tokens) + 1);
    if (shared.get(SHARED.left) === task.id + 1) leaving.abort();
  };
  const context = { signal: leaving.signal, onToken };
  if (!ready) {
    // Whatever breaks here is the run's fault, and not that of what was asked.
    await outcomeOf({ id: task.id, name: 'opened', input: undefined }, context);
    ready = true;
    report({ ready });
  }
  report(await outcomeOf(task, context));
}

async function outcomeOf(task: Task, context: TaskContext): Promise<Outcome> {
  try {
    // The input was checked by the endpoint's own schemas.
    const handle = answers[task.name] as (input: unknown, context: TaskContext) => unknown;
    return { id: task.id, value: await handle.call(answers, task.input, context) };
  } catch (error) {
    const message = reasonOf(error);
    if (error instanceof Fault)
      return { id: task.id, fault: { status: error.status, code: error.code, message } };
    // The library's own messages are for the user; anything else is a fault of this program.
    const known = error instanceof Error && error.name === 'UserError';
    return { id: task.id, fault: { status: known ? 409 : 500, code: known ? 'run' : 'internal', message } };
  }
}
