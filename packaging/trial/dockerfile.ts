import fs from 'node:fs';
import path from 'node:path';
import { type Command, type DebianFolder, USER } from './debian-folder.ts';
import type { Inputs } from './inputs.ts';

/** One line of a Dockerfile: its word, and what follows. */
interface Instruction {
  word: string;
  rest: string;
}

/** A Dockerfile's instructions; comments are left out, and lines that end with \ are joined. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    return { word, rest };
  });
}

/**
 * Runs the steps of the Dockerfile in a Debian 12 with Node 22 in /usr/local and the user `node`, as its base image has
 * them, from tarballs and without network; then the program as `docker run` starts it. Returns what that prints.
 */
export function tryDockerfile(
  file: string,
  base: DebianFolder,
  inputs: Inputs,
  args: readonly string[],
): string {
  const system = base.copy(path.join(inputs.folder, 'image'));
  addNode(system, path.join(inputs.folder, 'node-22'));
  const command: Command & { env: Record<string, string> } = {
    ...{ user: 0, cwd: '/', binds: { '/inputs': inputs.folder } },
    env: { ...inputs.npm, HOME: '/root', PATH: '/usr/local/bin:/usr/bin:/bin' },
  };
  let entry: string[] = [];
  for (const { word, rest } of instructionsOf(fs.readFileSync(file, 'utf8'))) {
    if (word === 'ARG') command.env[rest.split('=')[0]!] = inputs.tarballs.join(' ');
    // The cache holds everything here, and the image needs none of it.
    else if (word === 'RUN')
      system.run(['sh', '-ec', rest.replace('npm cache clean --force', 'true')], command);
    else if (word === 'USER')
      Object.assign(command, { user: USER }, { env: { ...command.env, HOME: '/home/node' } });
    else if (word === 'WORKDIR') command.cwd = rest;
    else if (word === 'ENTRYPOINT') entry = JSON.parse(rest) as string[];
    else if (word !== 'FROM' && word !== 'CMD') throw new Error(`${file}: ${word} is not tried here`);
  }
  const { npm_config_cache: _, ...env } = command.env;
  return system.run([...entry, ...args], { ...command, env, binds: {} }).text;
}

function addNode(system: DebianFolder, node: string): void {
  fs.cpSync(path.join(node, 'node'), system.path('usr/local/bin/node'));
  fs.cpSync(path.join(node, 'node_modules/npm'), system.path('usr/local/lib/node_modules/npm'), {
    recursive: true,
  });
  for (const name of ['npm', 'npx'])
    fs.symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, system.path('usr/local/bin', name));
  fs.appendFileSync(system.path('etc/passwd'), `node:x:${USER}:${USER}::/home/node:/bin/sh\n`);
  fs.appendFileSync(system.path('etc/group'), `node:x:${USER}:\n`);
  fs.mkdirSync(system.path('home/node'));
  fs.chownSync(system.path('home/node'), USER, USER);
}
