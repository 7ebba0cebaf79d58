// A language small enough to train on in a second, and the command line in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setThreads } from '@hidden-schema/torch';
import type { z } from 'zod';
import { type Config, configSchema } from '../src/config/network.ts';
import { readSyntheticCorpus, type SyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import { SYNTHETIC_DEFAULTS, type SyntheticSettings } from '../src/tasks/synthetic/corpus/synthetic.ts';
import { writeSyntheticCorpus } from '../src/tasks/synthetic/corpus/writer.ts';

setThreads(1);

/** A folder for one test file; `remove` belongs into its afterAll. */
export function temporaryFolder(name: string): { path: (...names: string[]) => string; remove: () => void } {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), `hsn-${name}-`));
  return {
    path: (...names) => path.join(root, ...names),
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}

/** K = 8 symbols on a Barabási-Albert graph, L = 5, 400 sentences; some tokens are in several bags. */
export const tinySettings: SyntheticSettings = {
  ...SYNTHETIC_DEFAULTS,
  graphOptions: { attach: 2 },
  nodes: 8,
  tokens: 12,
  length: 5,
  sentences: 400,
  seed: 3,
};

export function tinyCorpus(folder: string, changes: Partial<SyntheticSettings> = {}): SyntheticCorpus {
  writeSyntheticCorpus({ ...tinySettings, ...changes }, folder);
  return readSyntheticCorpus(folder);
}

type ConfigInput = z.input<typeof configSchema>;

/** Settings for that language: a small encoder, few steps, an evaluation every 5. */
export function tinyConfig(changes: ConfigInput = {}): Config {
  const { encoder, training, graph, ...rest } = changes;
  return configSchema.parse({
    ...rest,
    graph: { hidden: 8, symbolDimension: 6, ...graph },
    encoder: { width: 16, heads: 2, blocks: 1, hidden: 16, ...encoder },
    training: { steps: 15, batch: 64, warmup: 2, logEvery: 1, evaluateEvery: 5, ...training },
  });
}

/** The same as `--set` arguments. */
export const tinyFlags: readonly string[] = [
  'graph.hidden=8',
  'encoder.width=16',
  'encoder.blocks=1',
  'encoder.hidden=16',
  'training.steps=15',
  'training.batch=64',
  'training.warmup=2',
  'training.logEvery=1',
  'training.evaluateEvery=5',
].flatMap((setting) => ['--set', setting]);

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
  const { main } = await import('../../cli/src/main.ts');
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
