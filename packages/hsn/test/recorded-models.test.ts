import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, test } from 'vitest';
import { open } from '../src/open.ts';

const folder = temporaryFolder('recorded-models');
afterAll(folder.remove);
const kept = fileURLToPath(new URL('../../../fixtures/runs', import.meta.url));

type Noted = Record<string, Record<string, unknown>>;

describe.each([
  { kind: 'language', key: 'text', of: 'texts' },
  { kind: 'reasoning', key: 'tuples', of: 'tuples' },
])('a $kind run', ({ kind, key, of }) => {
  /** A copy whose models' record was edited by hand. */
  const copy = (name: string, edit: (record: Noted) => void = () => {}) => {
    const directory = folder.path(`${kind}-${name}`);
    fs.cpSync(`${kept}/${kind}-0.1.0`, directory, { recursive: true });
    const file = `${directory}/run.json`;
    const record = JSON.parse(fs.readFileSync(file, 'utf8'));
    edit(record[key]);
    fs.writeFileSync(file, JSON.stringify(record));
    return directory;
  };
  const notWhole = (directory: string) =>
    `${directory} is not whole: expected tokenizer.json and the ${of}' record in run.json`;

  test('opens from a copy of its folder', async () => {
    const { model } = await open(copy('whole'));
    model.free();
  });

  test('without its vocabulary is not whole', async () => {
    const directory = copy('no-vocabulary');
    fs.rmSync(`${directory}/tokenizer.json`);
    await expect(open(directory)).rejects.toThrow(notWhole(directory));
  });

  test.each(['encoder', 'decoder'])('without the record of its %s is not whole', async (side) => {
    const directory = copy(`no-${side}`, (record) => delete record[side]);
    await expect(open(directory)).rejects.toThrow(notWhole(directory));
  });

  test('refuses another tokenizer of its encoder', async () => {
    const directory = copy('other-tokenizer', (record) => {
      record.encoder!.tokenizer = '0'.repeat(64);
    });
    await expect(open(directory)).rejects.toThrow(
      `is not the one that ${directory} was trained with; put that one back`,
    );
  });
});
