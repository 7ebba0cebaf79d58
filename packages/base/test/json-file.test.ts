import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, test } from 'vitest';
import { openRegular, parseJson, readJsonFile, readJsonIfThere, readRegular } from '../src/files.ts';

const folder = temporaryFolder('json-file');
afterAll(folder.remove);

function written(text: string): string {
  const file = folder.path('some.json');
  fs.mkdirSync(folder.path(), { recursive: true });
  fs.writeFileSync(file, text);
  return file;
}

describe('a run’s JSON', () => {
  test('is read as it was written', () => {
    const value = { a: [1, { b: 'x "{[,:' }], '\\': { a: 1 }, é: null, c: '{"a":1,"a":2}' };
    expect(readJsonFile(written(JSON.stringify(value, null, 2)))).toEqual(value);
    expect(readJsonIfThere(folder.path('gone.json'))).toBeUndefined();
    expect(() => readJsonFile(folder.path('gone.json'))).toThrow(/^cannot read .*gone\.json: ENOENT/);
  });

  test.each([
    ['', /some\.json is damaged: expected JSON, got /],
    ['{"a":1', /some\.json is damaged: expected JSON, got /],
    ['{"a":1,"a":2}', /some\.json is damaged: expected every key once, got "a" twice$/],
    ['{"x":{"a":1,"\\u0061":2}}', /expected every key once, got "a" twice$/],
    ['[{"a":1} , {"b":[{"c" : 1,"d":2,"c"\n:3}]}]', /got "c" twice$/],
    ['{"a":{"__proto__":{"b":1}}}', /expected plain keys, got "__proto__"$/],
    ['{"\\u005f_proto__":1}', /expected plain keys, got "__proto__"$/],
    [`${'['.repeat(70)}${']'.repeat(70)}`, /expected at most 64 levels, got more$/],
  ])('%s is refused by the file’s name', (text, message) => {
    expect(() => readJsonFile(written(text))).toThrow(message);
  });

  test('a tokenizer may have a token of any name, once', () => {
    expect(Object.keys(parseJson<object>('{"__proto__":1}', 'x', { anyKey: true }))).toEqual(['__proto__']);
    expect(() => parseJson('{"__proto__":1,"__proto__":2}', 'x', { anyKey: true })).toThrow('twice');
  });
});

describe('what is no regular file', () => {
  test('a named pipe is refused at once, not waited for', () => {
    const file = folder.path('pipe');
    execFileSync('mkfifo', [file]);
    expect(() => readJsonIfThere(file)).toThrow(
      `${file} is a named pipe; expected a regular file, so remove or rename it`,
    );
  });

  test('nor are folders and devices read, nor files beyond the limit', () => {
    expect(() => openRegular(folder.path())).toThrow(/ is a folder; expected a regular file/);
    expect(() => openRegular('/dev/zero')).toThrow('/dev/zero is a device');
    expect(() => readRegular(written('12345'), 4)).toThrow(/some\.json has 5 bytes; expected at most 4$/);
  });
});
