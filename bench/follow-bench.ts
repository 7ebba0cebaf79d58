import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Measurement, unmeasured } from './measure.ts';

export interface Followed {
  name: string;
  /** What Node runs. */
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Seconds after which it is ended by force. */
  most: number;
}

/** Runs a bench in a process of its own and hands its lines on; one more says where it failed or was ended. */
export async function followBench(
  { name, args, environment, most }: Followed,
  note: (line: Measurement) => void,
): Promise<void> {
  // A group of its own, so that what it started ends with it.
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment,
    detached: true,
  });
  const interrupted = () => {
    endGroup(child);
    process.exit(130);
  };
  process.once('SIGINT', interrupted);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    endGroup(child);
  }, most * 1000);
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const read = measurementOf(line);
    if (read) note(read);
  });
  const closed = new Promise((resolve) => lines.on('close', resolve));
  const fault = await endOf(child);
  // Peers that outlive it would disturb the next and keep its output open.
  endGroup(child);
  await closed;
  clearTimeout(timer);
  process.off('SIGINT', interrupted);
  if (late)
    note(unmeasured(name, `ended by force after ${Math.round(most)} s; what it measured before counts`));
  else if (fault !== undefined) note(unmeasured(name, fault));
}

/** What went wrong, once it has ended. */
function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(`failed: ${error.message}`));
    child.on('exit', (code, signal) =>
      resolve(code === 0 ? undefined : `failed: it ended with ${signal ?? code}; stderr says more`),
    );
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/** What a bench prints beside measurements, a library's greeting say, is no line of ours. */
function measurementOf(line: string): Measurement | undefined {
  try {
    const read = JSON.parse(line) as Measurement;
    if (typeof read?.bench === 'string') return read;
  } catch {
    // Told below.
  }
  process.stderr.write(`${line}\n`);
  return undefined;
}
