import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const page = fs.readFileSync(path.join(ROOT, 'docs/research/architecture.md'), 'utf8');

/** Rows of the page's tables: a file and the functions that are named for it. */
const rows = page.split('\n').flatMap((line): [file: string, names: string[]][] => {
  const [, file, names] = line.split('|');
  const named = /^ `(packages\/[^`]+)` $/.exec(file ?? '')?.[1];
  return named ? [[named, [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)]] : [];
});

/** Whether a module has a function, a class, or a method of a class. */
function has(module: Record<string, unknown>, name: string): boolean {
  const [first, method] = name.split('.');
  const found = module[first!];
  if (typeof found !== 'function' || method === undefined) return typeof found === 'function';
  const { prototype } = found as { prototype?: object };
  return method in found || (prototype !== undefined && method in prototype);
}

test('the page follows a text, a synthetic sentence and a tuple', () => {
  expect(page.match(/^### A (text|synthetic sentence|tuple): /gm)).toHaveLength(3);
  expect(rows.length).toBeGreaterThan(30);
});

test.each(rows)('%s has what the page names', async (file, names) => {
  const module = (await import(path.join(ROOT, file))) as Record<string, unknown>;
  expect(names.filter((name) => !has(module, name))).toEqual([]);
  expect(names.length).toBeGreaterThan(0);
});
