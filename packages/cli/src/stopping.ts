import { setImmediate } from 'node:timers/promises';

/** Exit codes of a process ended by a signal, as shells write them. */
const codes = { SIGINT: 130, SIGTERM: 143 } as const;
export type StopSignal = keyof typeof codes;

/**
 * Runs `body` with a signal that the first Ctrl-C or SIGTERM aborts, so that work is saved; a second one ends the
 * process at once. Afterwards the exit code is that of the signal.
 */
export async function stoppable<T>(body: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const names = Object.keys(codes) as StopSignal[];
  const onSignal = (name: StopSignal) => {
    // Without a listener the system itself ends the process, even inside an operator that takes long.
    release();
    process.exitCode = codes[name];
    process.stderr.write('\nstopping after this step and saving; once more to end at once\n');
    controller.abort(name);
  };
  const release = () => {
    for (const name of names) process.off(name, onSignal);
  };
  for (const name of names) process.on(name, onSignal);
  try {
    const result = await body(controller.signal);
    // A signal that came during the last computation is delivered only now.
    await setImmediate();
    return result;
  } finally {
    release();
  }
}
