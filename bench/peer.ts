import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chooseBlasCore } from '../packages/torch/src/processor.ts';
import type { BenchOptions } from './measure.ts';
import { peakMB, resetPeak } from './peak-memory.ts';
import { processorSeconds } from './processor-time.ts';

/** Milliseconds that a peer has to end by itself. */
const stopMs = 10_000;

type Started = Pick<BenchOptions, 'threads' | 'environment' | 'python'>;

const besideThis = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The environment of one side: as it was given, with so many threads. */
export function sideEnvironment({ threads, environment }: Started): NodeJS.ProcessEnv {
  const count = String(threads);
  const env = {
    ...environment,
    OMP_NUM_THREADS: count,
    OPENBLAS_NUM_THREADS: count,
    MKL_NUM_THREADS: count,
    NUMBA_NUM_THREADS: count,
    // Nothing is fetched while it is measured.
    HF_HUB_OFFLINE: '1',
    TOKENIZERS_PARALLELISM: threads > 1 ? 'true' : 'false',
  };
  // Both sides multiply with the same kernel, or the ratio would tell about OpenBLAS alone.
  chooseBlasCore(env);
  return env;
}

/** Why a peer that was asked cannot be measured: it was late, or says itself what went wrong. */
export function unready(answer: Record<string, number> | undefined): string | undefined {
  if (answer === undefined) return 'left out: the peer was not ready in its time';
  const { fault } = answer as { fault?: unknown };
  return fault === undefined ? undefined : `the peer failed: ${String(fault).split('\n')[0]}`;
}

/** A program that answers one JSON line for each JSON line: Python's under bench/peers, or one of ours. */
export class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(command: string, args: readonly string[], options: Started) {
    this.#child = spawn(command, [...args, String(options.threads)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: sideEnvironment(options),
    });
    // Told where an answer is missing; an unheard event would end the program.
    this.#child.on('error', () => undefined);
    this.#child.stdin!.on('error', () => undefined);
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** Starts a peer in Python, or says that there is none and returns nothing. */
  static start(name: string, options: Started): Peer | undefined {
    if (options.python === undefined) {
      process.stderr.write(`no peer for ${name}: no Python with PyTorch; --peers pip installs one\n`);
      return undefined;
    }
    return new Peer(options.python, [besideThis(`peers/${name}.py`)], options);
  }

  /** Starts a peer in Python and waits until it has answered a first request; importing PyTorch alone takes seconds. */
  static async ready(
    name: string,
    options: Started & Pick<BenchOptions, 'budget'>,
    request: Readonly<Record<string, unknown>>,
  ): Promise<Peer | undefined> {
    const peer = Peer.start(name, options);
    if (!peer || (await peer.askWithin(options.budget.left(), request))) return peer;
    process.stderr.write(`no peer for ${name}: it did not answer in the time there was\n`);
    return undefined;
  }

  /** A program of this folder in a process of its own, where its peak of memory is its own too. */
  static node(script: string, options: Started): Peer {
    return new Peer(process.execPath, ['--import', 'tsx', besideThis(script)], options);
  }

  async ask(request: Readonly<Record<string, unknown>>): Promise<Record<string, number>> {
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`);
    for (;;) {
      const line = await this.#lines.next();
      if (line.done) throw new Error(`the peer ended while it did ${JSON.stringify(request).slice(0, 200)}`);
      // Libraries print greetings and warnings where only answers belong.
      if (line.value.startsWith('{')) return JSON.parse(line.value) as Record<string, number>;
    }
  }

  /** An answer, or nothing where it took longer than so many seconds; the peer is ended then. */
  async askWithin(
    seconds: number,
    request: Readonly<Record<string, unknown>>,
  ): Promise<Record<string, number> | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), Math.min(seconds * 1000, 2 ** 31 - 1));
    });
    const asked = this.ask(request);
    const answer = await Promise.race([asked, late]);
    clearTimeout(timer);
    if (answer === undefined) {
      asked.catch(() => undefined);
      this.#child.kill('SIGKILL');
    }
    return answer;
  }

  async seconds(request: Readonly<Record<string, unknown>>): Promise<number> {
    const { seconds } = await this.ask(request);
    if (seconds === undefined) throw new Error(`the peer gave no time for ${JSON.stringify(request)}`);
    return seconds;
  }

  /** Most memory since the last reset, in MB. */
  peakMB(): number {
    return peakMB(this.#child.pid!);
  }

  /** Seconds of the processor that it has had since its start. */
  processorSeconds(): number {
    return processorSeconds(this.#child.pid!);
  }

  resetPeak(): void {
    resetPeak(this.#child.pid!);
  }

  async stop(): Promise<void> {
    this.#child.stdin!.end();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    // A compiler's helpers may keep a Python from ending.
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs);
    await once(this.#child, 'exit');
    clearTimeout(timer);
  }
}
