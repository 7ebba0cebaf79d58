import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';

/** Written once a system is installed whole. */
const READY = 'etc/hsn-ready';
/** Inside, the user who is not root. */
export const USER = 1000;

/** A command inside a Debian folder. */
export interface Command {
  /** User's number; 0 is root. */
  user?: number;
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** Folders of this machine by where they are seen inside. */
  binds?: Readonly<Record<string, string>>;
}

/** What a command wrote, and its seconds: by the clock, and of the processor. */
export interface Outcome {
  text: string;
  wall: number;
  cpu: number;
}

/** A Debian in a folder, as debootstrap makes its smallest: commands run in it without network. */
export class DebianFolder {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** A release's folder; made once, and kept. */
  static make(suite: string, cache: string): DebianFolder {
    if (process.getuid?.() !== 0)
      throw new UserError('npm run test:package needs root, for chroot and debootstrap');
    const folder = path.join(cache, suite);
    if (!fs.existsSync(path.join(folder, READY))) {
      fs.rmSync(folder, { recursive: true, force: true });
      fs.mkdirSync(cache, { recursive: true });
      const made = spawnSync('debootstrap', ['--variant=minbase', suite, folder], {
        stdio: ['ignore', 'ignore', 2],
      });
      if (made.error)
        throw new UserError('npm run test:package needs debootstrap: apt-get install debootstrap');
      if (made.status !== 0) throw new UserError(`debootstrap ${suite} ended with ${made.status}`);
      fs.writeFileSync(path.join(folder, READY), '');
    }
    return new DebianFolder(folder);
  }

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  /** A copy that may be changed. */
  copy(folder: string): DebianFolder {
    execFileSync('cp', ['-a', this.folder, folder]);
    return new DebianFolder(folder);
  }

  /** Runs a command; its text and times, or an error with what it wrote. */
  run(words: readonly string[], { user = USER, env = {}, cwd = '/', binds = {} }: Command = {}): Outcome {
    const times = this.path('tmp/hsn-times');
    fs.rmSync(times, { force: true });
    for (const inside of Object.keys(binds)) fs.mkdirSync(this.path(inside), { recursive: true });
    const mounts = Object.entries(binds).map(([inside, outside]) => [
      'mount',
      '--bind',
      outside,
      this.path(inside),
    ]);
    const enter = [
      ...[['mount', '-t', 'proc', 'proc', this.path('proc')], ['ip', 'link', 'set', 'lo', 'up'], ...mounts],
      ['exec', 'chroot', `--userspec=${user}:${user}`, this.folder, '/usr/bin/env', '-i', ...settings(env)],
    ];
    const timed = 'cd "$1"; shift; TIMEFORMAT="%R %U %S"; exec 3>&2; { time "$@" 2>&3; } 2>/tmp/hsn-times';
    const script = `${enter.map((line) => line.map(quoted).join(' ')).join(' && ')} /bin/bash -c ${quoted(timed)} bash "$@"`;
    const wrapped = ['--mount', '--net', '--pid', '--fork', 'sh', '-ec', script, 'sh', cwd, ...words];
    const options = { encoding: 'utf8', maxBuffer: 1 << 28 } as const;
    const { status, stdout, stderr, error } = spawnSync('unshare', wrapped, options);
    if (status !== 0 || error)
      throw new Error(
        `${words.join(' ')} ended with ${status} in ${this.folder}:\n${stdout}${stderr}${error ?? ''}`,
      );
    const [wall = 0, own = 0, system = 0] = fs.readFileSync(times, 'utf8').trim().split(' ').map(Number);
    return { text: `${stdout}${stderr}`, wall, cpu: own + system };
  }
}

const settings = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

const quoted = (word: string): string => (word === 'exec' ? word : `'${word.replaceAll("'", `'\\''`)}'`);
