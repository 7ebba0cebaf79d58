import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileHash } from '../../packages/torch/src/engine-files.ts';

/** A tarball as npm publishes it. */
export interface Tarball {
  file: string;
  bytes: number;
  sha256: string;
}

/**
 * Packs a folder as npm does. Files have the same time, owner and order in every tarball, so the same contents give the
 * same bytes.
 */
export function pack(folder: string, destination: string): Tarball {
  fs.mkdirSync(destination, { recursive: true });
  evenModes(folder);
  const said = execFileSync(
    'npm',
    ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', destination],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1 << 28,
    },
  );
  const [{ filename }] = JSON.parse(said) as [{ filename: string }];
  // npm names a scoped package's file without the @ and with a dash for the slash.
  const file = path.join(destination, filename.replace('@', '').replace('/', '-'));
  return { file, bytes: fs.statSync(file).size, sha256: fileHash(file) };
}

/** npm keeps whether a file can be run; nothing else of its mode may differ from machine to machine. */
function evenModes(folder: string): void {
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(folder, name);
    const { mode } = fs.statSync(file);
    fs.chmodSync(file, fs.statSync(file).isDirectory() || (mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}
