import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  moveIntoPlace,
  partialName,
  removeStalePartials,
  writeBeside,
  writeFileAtomic,
} from '@hidden-schema/base';
import { afterAll, expect, test } from 'vitest';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-beside-'));
afterAll(() => fs.rmSync(root, { recursive: true }));
let count = 0;
const place = () => {
  const folder = path.join(root, String(count++));
  fs.mkdirSync(folder);
  return path.join(folder, 'target');
};
const beside = (target: string) => fs.readdirSync(path.dirname(target));
const folderWith = (text: string) => (folder: string) => {
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'text'), text);
};
const textIn = (folder: string) => fs.readFileSync(path.join(folder, 'text'), 'utf8');

test('a folder takes the place of the one before it, and nothing else is left', () => {
  const target = place();
  writeBeside(target, folderWith('first'));
  expect(writeBeside(target, (partial) => [folderWith('second')(partial), beside(target).length])).toEqual([
    undefined,
    2,
  ]);
  expect(textIn(target)).toBe('second');
  expect(beside(target)).toEqual(['target']);
});

test('a fault, at once or later, leaves what was there', async () => {
  const target = place();
  writeBeside(target, folderWith('first'));
  const fails = (partial: string) => {
    folderWith('half')(partial);
    throw new Error('no more room');
  };
  expect(() => writeBeside(target, fails)).toThrow('no more room');
  await expect(writeBeside(target, async (partial) => fails(partial))).rejects.toThrow('no more room');
  expect(textIn(target)).toBe('first');
  expect(beside(target)).toEqual(['target']);
});

test('what another process made meanwhile is kept where that is asked for', async () => {
  const target = place();
  const slower = async (partial: string) => {
    folderWith('own')(partial);
    folderWith('faster')(target);
    return 7;
  };
  expect(await writeBeside(target, slower, { standing: 'kept' })).toBe(7);
  expect(textIn(target)).toBe('faster');
  expect(beside(target)).toEqual(['target']);
});

test('a file never takes the place of a folder', () => {
  const target = place();
  folderWith('first')(target);
  expect(() => writeFileAtomic(target, 'a file')).toThrow(/cannot write .*what was there is unchanged/);
  fs.writeFileSync(partialName(target), 'a file');
  expect(() => moveIntoPlace(partialName(target), target)).toThrow('EISDIR');
  expect(textIn(target)).toBe('first');
});

test('what a killed writer left goes, what a running one writes stays', () => {
  const target = place();
  const left = `.target.partial-2147483646`;
  const running = `.target.partial-${process.ppid}`;
  for (const name of [left, running, `.other.partial-2147483646`])
    fs.mkdirSync(path.join(path.dirname(target), name));
  removeStalePartials(target);
  expect(beside(target).sort()).toEqual(['.other.partial-2147483646', running].sort());
});
