import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const holder = fileURLToPath(new URL('lock-holder.ts', import.meta.url));

/** Another process that holds a lock, or was refused it. */
export class LockingProcess {
  readonly child: ChildProcess;
  /** What it said: `held`, or `refused` and why. */
  readonly said: string;

  private constructor(child: ChildProcess, said: string) {
    this.child = child;
    this.said = said;
  }

  /** `within` is a command that runs another one, such as `unshare`. */
  static async start(
    file: string,
    withChild = false,
    within: readonly string[] = [],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<LockingProcess> {
    const node = [process.execPath, '--import', 'tsx', holder, file, ...(withChild ? ['child'] : [])];
    const [command, ...args] = [...within, ...node];
    const child = spawn(command!, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...environment },
    });
    const [data] = (await once(child.stdout!, 'data')) as [Buffer];
    return new LockingProcess(child, data.toString().trim());
  }

  get pid(): number {
    return this.child.pid!;
  }

  get grandchild(): number | undefined {
    return Number(this.said.split(' ')[1]) || undefined;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}
