// Two machines of a test's own: network namespaces with a cable between them. Root alone may make them.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { HsnProcess } from './hsn-process.ts';

const ip = (...args: string[]) => execFileSync('ip', args);
const addressOf = (machine: number): string => `10.213.77.${machine + 1}`;

export class TwoMachines {
  readonly #names: readonly [string, string];

  private constructor(names: readonly [string, string]) {
    this.#names = names;
  }

  /** Two machines, or the reason why there are none. */
  static make(): TwoMachines | string {
    const key = randomBytes(4).toString('hex');
    const machines = new TwoMachines([`hsn-a${key}`, `hsn-b${key}`]);
    const [one, other] = machines.#names;
    const first = spawnSync('ip', ['netns', 'add', one], { encoding: 'utf8' });
    if (first.status !== 0) return `ip netns add: ${first.error?.message ?? first.stderr.trim()}`;
    try {
      ip('netns', 'add', other);
      const far = ['peer', 'name', 'cable1', 'netns', other];
      ip('link', 'add', 'cable0', 'netns', one, 'type', 'veth', ...far);
      for (const [i, name] of machines.#names.entries()) {
        ip('-n', name, 'addr', 'add', `${addressOf(i)}/24`, 'dev', `cable${i}`);
        ip('-n', name, 'link', 'set', 'lo', 'up');
      }
      machines.plugIn();
    } catch (error) {
      machines.remove();
      return (error as Error).message;
    }
    return machines;
  }

  /** Rank 0 on the first machine, rank 1 on the second, with the same command. */
  start(port: number, args: readonly string[], environment: Record<string, string> = {}): HsnProcess[] {
    return this.#names.map((name, rank) => {
      const place = { RANK: rank, WORLD_SIZE: 2, MASTER_ADDR: addressOf(0), MASTER_PORT: port };
      const set = Object.entries({ ...place, ...environment }).map(([key, value]) => `${key}=${value}`);
      return new HsnProcess(args, 'ignore', ['ip', 'netns', 'exec', name, 'env', ...set]);
    });
  }

  /** Pulls the cable out of the second machine. */
  cutOff(): void {
    ip('-n', this.#names[1], 'link', 'set', 'cable1', 'down');
  }

  plugIn(): void {
    for (const [i, name] of this.#names.entries()) ip('-n', name, 'link', 'set', `cable${i}`, 'up');
  }

  remove(): void {
    for (const name of this.#names) spawnSync('ip', ['netns', 'del', name]);
  }
}
