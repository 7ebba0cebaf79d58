// The command line in a process of its own, or in this one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import './one-thread.ts';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

const program = fileURLToPath(new URL('../../cli/bin/hsn.js', import.meta.url));

/** The command line in a process of its own; `seen` waits for a text on stderr. */
export class HsnProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';

  /** `within` is a command that runs another one, such as `ip netns exec`. */
  constructor(args: readonly string[], stdin: 'ignore' | 'pipe' = 'ignore', within: readonly string[] = []) {
    const [command, ...rest] = [...within, process.execPath, program, ...args];
    this.child = spawn(command!, rest, {
      env: { ...process.env, HSN_THREADS: '1' },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    this.child.stdout!.on('data', (data: Buffer) => {
      this.#stdout += data;
    });
    this.child.stderr!.on('data', (data: Buffer) => {
      this.#stderr += data;
      this.child.emit('stderr');
    });
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      this.child.emit('stderr');
      return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  async seen(text: string): Promise<void> {
    while (!this.#stderr.includes(text)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`the process ended before it said ${text}: ${this.#stderr}`);
      await once(this.child, 'stderr');
    }
  }
}

export function runHsn(...args: string[]): Promise<Ended> {
  return new HsnProcess(args).ended;
}

/** The command line in this process, which has loaded the engine already: the same but for the start. */
export async function hsn(...args: string[]): Promise<Ended> {
  const { main } = await import('@hidden-schema/cli/main');
  const written = { stdout: '', stderr: '' };
  const listeners = process.stdout.listeners('error');
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const { write } = process[name];
    process[name].write = (text: string | Uint8Array) => {
      written[name] += text;
      return true;
    };
    return () => {
      process[name].write = write;
    };
  });
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    await main(args);
    return { code: Number(process.exitCode ?? 0), signal: null, ...written };
  } finally {
    for (const undo of restore) undo();
    process.exitCode = before;
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void);
  }
}
