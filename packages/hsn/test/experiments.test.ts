import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { dumpConfig, loadConfig } from '../src/config/settings.ts';

const root = fileURLToPath(new URL('../../../experiments', import.meta.url));
const listed = fs
  .readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.ya?ml$/.test(name))
  .sort();

/** The same by walking folder after folder, so that neither listing can hide a file. */
function found(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return found(name);
    return /\.ya?ml$/.test(entry.name) ? [path.relative(root, name)] : [];
  });
}

let loaded = 0;

describe('experiments', () => {
  test.each(listed)('%s loads, and opens with its command', (name) => {
    const text = fs.readFileSync(path.join(root, name), 'utf8');
    const config = loadConfig(text, name);
    expect(loadConfig(dumpConfig(config), name)).toEqual(config);
    const head = text.slice(0, text.search(/^[^#]/m));
    expect(head).toMatch(/^# yaml-language-server: .*\n# (hsn|node packages\/cli\/bin\/hsn\.js|npx hsn) /);
    expect(head).toContain(`train experiments/${name}`);
    expect(head).toMatch(/^# Expect: /m);
    // Other files in the command must be there too.
    for (const [file] of head.matchAll(/experiments\/[\w./-]+\.ya?ml/g))
      expect(fs.existsSync(path.join(root, '..', file)), file).toBe(true);
    loaded++;
  });

  test('all of them were loaded', () => {
    expect(listed).toEqual(found(root).sort());
    expect(loaded).toBe(listed.length);
    expect(loaded).toBeGreaterThanOrEqual(3);
  });
});
