import { once } from 'node:events';

// The one way out to the terminal: text of every verb goes through here, and nothing else writes to it.

/** Everything that steers a terminal or turns the direction of text, but for line ends and tabs. */
const steering = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Text from runs and corpora as it can be shown: what would steer the terminal is spelled out, as JSON does it. */
export function visible(text: string): string {
  return text.replace(steering, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

type Stream = 'stdout' | 'stderr';
const streams: readonly Stream[] = ['stdout', 'stderr'];
const lost = new Set<Stream>();
const watchers = new Set<(stream: Stream) => void>();
const onError: Record<Stream, (error: Error) => void> = {
  stdout: (error) => lose('stdout', error),
  stderr: (error) => lose('stderr', error),
};

/** From here on an output that was closed ends no process by itself. */
export function watchOutputs(): void {
  for (const name of streams)
    if (!process[name].listeners('error').includes(onError[name])) process[name].on('error', onError[name]);
}

/** Calls `watcher` when an output can no longer be written to, also if that was so before; returns what ends this. */
export function onLostOutput(watcher: (stream: Stream) => void): () => void {
  for (const name of lost) watcher(name);
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function lose(name: Stream, error: NodeJS.ErrnoException): void {
  if (lost.has(name)) return;
  lost.add(name);
  // A reader that leaves early, like `hsn … | head`, is no fault.
  if (name === 'stdout' && error.code !== 'EPIPE') {
    say(`hsn: cannot write to standard output: ${error.message}\n`);
    process.exitCode ||= 1;
  }
  if (watchers.size > 0) for (const watcher of [...watchers]) watcher(name);
  // Without standard output there is nothing left to do for a verb that only prints.
  else if (name === 'stdout') process.exit(process.exitCode ?? 0);
}

/** Whether the stream takes more at once. */
function write(name: Stream, text: string): boolean {
  if (lost.has(name)) return true;
  try {
    return process[name].write(text);
  } catch (error) {
    // Some versions of Node throw what a file refuses.
    lose(name, error as Error);
    return true;
  }
}

/** Columns of the terminal that results go to; none where they go to a file or another program. */
export function terminalWidth(): number | undefined {
  const asked = Number(process.env.COLUMNS);
  return process.stdout.isTTY ? process.stdout.columns || 80 : asked > 0 ? asked : undefined;
}

/** To standard output: results. */
export function print(text: string): void {
  write('stdout', visible(text));
}

/** The same for much of it: waits while the reader is slower. */
export async function printLines(text: string): Promise<void> {
  if (write('stdout', visible(text)) || lost.has('stdout')) return;
  // A reader that leaves while it is waited for is seen by the watchers.
  await once(process.stdout, 'drain').catch(() => undefined);
}

/** The same with colours: what comes from elsewhere in it went through `visible` before. */
export function printPainted(text: string): void {
  write('stdout', text);
}

/** To standard error: notes and faults. */
export function say(text: string): void {
  write('stderr', visible(text));
}

/** Standard error for a live line, whose writer cleans what it shows and moves the cursor itself. */
export const live = {
  get isTTY(): boolean {
    return process.stderr.isTTY;
  },
  get columns(): number {
    return process.stderr.columns;
  },
  write: (text: string): boolean => write('stderr', text),
};
