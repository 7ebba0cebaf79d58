import { setImmediate } from 'node:timers/promises';
import { onLostOutput, say } from './terminal.ts';

/** Exit codes of a process ended by a signal, as shells write them. */
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
export type StopSignal = keyof typeof codes;
/** Ctrl-C, a polite end, and a terminal that was closed. */
export const STOP_SIGNALS = Object.keys(codes) as readonly StopSignal[];

/** That of a process ended because nobody reads what it writes. */
const UNREAD = 141;

/**
 * Runs `body` with a signal that the first Ctrl-C, SIGTERM or SIGHUP aborts, so that work is saved; a second one ends
 * the process at once. Afterwards the exit code is that of the signal. A training (`log`) ends in the same way when
 * nobody reads its log any more; what only prints a `result` ends without a word when nobody reads that.
 */
export async function stoppable<T>(
  body: (signal: AbortSignal) => Promise<T>,
  writes: 'log' | 'result' = 'log',
): Promise<T> {
  const controller = new AbortController();
  const onSignal = (name: StopSignal) => {
    // Without a listener the system itself ends the process, even inside an operator that takes long.
    release();
    process.exitCode = codes[name];
    say('\nstopping after this step and saving; once more to end at once\n');
    controller.abort(name);
  };
  const release = () => {
    for (const name of STOP_SIGNALS) process.off(name, onSignal);
  };
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  const unwatch = onLostOutput((stream) => {
    if (controller.signal.aborted || (writes === 'result' && stream === 'stderr')) return;
    if (writes === 'log') process.exitCode = UNREAD;
    controller.abort('output lost');
  });
  try {
    const result = await body(controller.signal);
    // A signal that came during the last computation is delivered only now.
    await setImmediate();
    return result;
  } finally {
    release();
    unwatch();
  }
}

/** Resolves with the first Ctrl-C, SIGTERM or SIGHUP; a second one ends the process as usual. */
export function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const name of STOP_SIGNALS) process.off(name, stop);
      resolve();
    };
    for (const name of STOP_SIGNALS) process.on(name, stop);
  });
}
