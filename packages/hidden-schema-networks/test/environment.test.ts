import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Codes of errors that the addon throws, named like variables. */
const CODES = ['HSN_KIND', 'HSN_LOST', 'HSN_TORCH'];
/** Set by npm for its own scripts. */
const OF_NPM = ['INIT_CWD'];

/** Text of the files that are shipped: sources, set-up and the addon. */
function shipped(): string[] {
  const folders = fs
    .readdirSync(path.join(ROOT, 'packages'))
    .filter((name) => name !== 'testing')
    .flatMap((name) => ['src', 'setup', 'native'].map((part) => path.join(ROOT, 'packages', name, part)))
    .filter((folder) => fs.existsSync(folder));
  return folders
    .flatMap((folder) =>
      fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
    )
    .filter((file) => /\.(tsx?|mjs|cc|h)$/.test(file))
    .map((file) => fs.readFileSync(file, 'utf8'));
}

/** Variables that code reads: by the name of our own, as a property of an environment, or by C's getenv. */
const readBy = (text: string): string[] =>
  [/\b(HSN_[A-Z0-9_]+)\b/g, /\benv(?:ironment)?\.([A-Z][A-Z0-9_]+)/g, /getenv\("([A-Z0-9_]+)"\)/g].flatMap(
    (pattern) => [...text.matchAll(pattern)].map(([, name]) => name!),
  );

test('the table of environment variables has those that the program reads, and no others', () => {
  const isMacro = (name: string) => /^HSN_(NCCL|.*_H)$/.test(name);
  const read = new Set(shipped().flatMap(readBy));
  const expected = [...read].filter((name) => ![...CODES, ...OF_NPM].includes(name) && !isMacro(name));
  const page = fs.readFileSync(path.join(ROOT, 'docs/reference/environment.md'), 'utf8');
  const listed = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name!));
  // As torch's launchers set them: read by destructuring.
  const launcher = ['RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT'];
  expect(listed.toSorted()).toEqual([...new Set([...expected, ...launcher])].toSorted());
});
