/** Exit codes of a process ended by a signal, as shells write them. */
const codes = { SIGINT: 130, SIGTERM: 143 } as const;
export type StopSignal = keyof typeof codes;

/**
 * Runs `body` with a signal that the first Ctrl-C or SIGTERM aborts, so that work is saved; a second one ends the
 * process at once. Afterwards the exit code is that of the signal.
 */
export async function stoppable<T>(body: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (name: StopSignal) => {
    if (controller.signal.aborted) process.exit(codes[name]);
    process.exitCode = codes[name];
    process.stderr.write('\nstopping after this step and saving; once more to end at once\n');
    controller.abort(name);
  };
  const names = Object.keys(codes) as StopSignal[];
  for (const name of names) process.on(name, onSignal);
  try {
    return await body(controller.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}
