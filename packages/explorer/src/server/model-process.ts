import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { panicOf } from '@hidden-schema/text/tokenizer/probe';
import { SHARED, SharedNumbers } from './shared-numbers.ts';
import type { Message, Report } from './tasks.ts';

/** TypeScript needs hooks before a process can load it; compiled, the worker is loaded as it is. */
const entry = import.meta.url.endsWith('.ts') ? './worker-start.mjs' : './worker.js';
const START = fileURLToPath(new URL(entry, import.meta.url));
/** Of what a process says on standard error, enough for its last words. */
const LAST_WORDS = 8000;

/** A model in a process of its own, so that whatever ends that process ends nothing else. */
export class ModelProcess {
  /** Whether the model was opened, or said why it cannot be. */
  ready = false;
  readonly #child: ChildProcess;
  readonly #shared = SharedNumbers.make();
  readonly #exit: Promise<unknown>;
  readonly #kill = () => this.#child.kill('SIGKILL');
  #said = '';

  /** `onEnd` is told why the process ended, unless it was closed. */
  constructor(run: string, onReport: (report: Report) => void, onEnd: (reason: string) => void) {
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc', this.#shared.descriptor] as const;
    this.#child = fork(START, [run, String(process.pid)], {
      execArgv: [],
      stdio: [...stdio],
      env: { ...process.env, RUST_BACKTRACE: '0' },
    });
    this.#exit = once(this.#child, 'exit').catch(() => undefined);
    this.#child.on('message', (report: Report) => {
      if ('ready' in report) this.ready = true;
      else onReport(report);
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-LAST_WORDS);
    });
    this.#child.once('error', (error) => this.#end(() => onEnd(error.message)));
    // After `exit` the last words may still be on their way.
    this.#child.once('close', (code, signal) =>
      this.#end(() => onEnd(panicOf(this.#said) ?? String(signal ?? `exit code ${code}`))),
    );
    process.once('exit', this.#kill);
    this.#letGo();
  }

  /** Tokens that were written for all tasks so far. */
  get tokens(): number {
    return this.#ended ? 0 : this.#shared.get(SHARED.tokens);
  }

  post(message: Message): void {
    if ('leave' in message) this.#shared.set(SHARED.left, message.leave + 1);
    // A process that has just ended is told of by its end.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Ends the process, whatever it is at. */
  async close(): Promise<void> {
    this.#child
      .removeAllListeners('close')
      .removeAllListeners('error')
      .on('error', () => undefined);
    // Its end is waited for, even where nothing else keeps this program going.
    this.#child.ref();
    this.#kill();
    await this.#exit;
    this.#end(() => undefined);
  }

  #ended = false;
  #end(then: () => void): void {
    if (this.#ended) return;
    this.#ended = true;
    process.off('exit', this.#kill);
    this.#shared.close();
    then();
  }

  /** The server keeps this program going, not its models. */
  #letGo(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as unknown as { unref?: () => void } | null)?.unref?.();
  }
}
