import fs from 'node:fs';
import path from 'node:path';

/** The TypeScript files under a folder, from the repository's root. */
export function sourceFiles(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules') && !name.endsWith('.d.ts'))
    .map((name) => path.posix.join(folder, name));
}

/** What an error-free check leaves at 0. */
export function reportFaults(faults: readonly string[]): void {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

export const SCOPE = '@hidden-schema/';
