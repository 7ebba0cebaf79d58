// A root user's machine on which no libtorch is found, and apt-get writes down how it is called and installs nothing.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Headers without which set-up finds no libtorch of the system. */
const HEADERS = ['/usr/include/torch', '/usr/include/ATen', '/usr/local/include/torch'];

export interface Said {
  code: number | null;
  text: string;
}

export class RecordedApt {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** The machine, or the reason why there is none: root alone may hide folders, and only from its own processes. */
  static make(folder: string): RecordedApt | string {
    fs.mkdirSync(folder, { recursive: true });
    const script = `#!/bin/sh\necho "$*" >> '${path.join(folder, 'calls')}'\necho 'E: written down, not run'\nexit 100\n`;
    fs.writeFileSync(path.join(folder, 'apt-get'), script, { mode: 0o755 });
    const machine = new RecordedApt(folder);
    const { code, text } = machine.run(['true'], { cwd: folder });
    return code === 0 ? machine : `unshare: ${text.trim()}`;
  }

  /** Runs a command there. Settings of whoever runs the test do not count. */
  run([command, ...args]: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Said {
    const { HSN_LIBTORCH: _, LIBTORCH: __, HSN_ADDON: ___, ...own } = process.env;
    const hide = HEADERS.filter((folder) => fs.existsSync(folder)).map((f) => `mount -t tmpfs none ${f} && `);
    const wrapped = ['-m', 'sh', '-c', `${hide.join('')}exec "$@"`, 'sh', command!, ...args];
    const { status, stdout, stderr, error } = spawnSync('unshare', wrapped, {
      cwd: options.cwd,
      encoding: 'utf8',
      env: { ...own, PATH: `${this.#folder}:${own.PATH}`, ...options.env },
    });
    return { code: status, text: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}` };
  }

  /** How apt-get was called since this was last asked. */
  calls(): string[] {
    const file = path.join(this.#folder, 'calls');
    if (!fs.existsSync(file)) return [];
    const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
    fs.rmSync(file);
    return lines;
  }
}
