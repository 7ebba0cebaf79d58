import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { arange, liveTensors, openWeights, SafetensorsError, writeSafetensors } from '../src/index.ts';
import { openShardedSafetensors } from '../src/safetensors/reader.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hsn-shards-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function thrown(body: () => unknown): SafetensorsError {
  try {
    body();
  } catch (error) {
    if (error instanceof SafetensorsError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('shards', () => {
  function shards(map: Readonly<Record<string, string>>): string {
    const index = join(folder, 'model.safetensors.index.json');
    writeFileSync(
      index,
      JSON.stringify({ metadata: { total_size: 1.5, deep: [{ a: null }] }, weight_map: map }),
    );
    return index;
  }
  const first = 'model-00001-of-00002.safetensors';
  const second = 'model-00002-of-00002.safetensors';
  beforeEach(() => {
    writeSafetensors(join(folder, first), [['a', arange(2)]], { format: 'pt' });
    writeSafetensors(join(folder, second), [
      ['b', arange(3)],
      ['c', arange(4)],
    ]);
  });

  it('reads the files of an index as one', () => {
    const index = shards({ a: first, b: second, c: second });
    for (const weights of [openWeights(folder), openWeights(index), openShardedSafetensors(folder)]) {
      expect(weights.names).toEqual(['a', 'b', 'c']);
      expect(weights.metadata.get('format')).toBe('pt');
      expect(weights.info('c').shape).toEqual([4]);
      expect(weights.get('b').toNumbers()).toEqual([0, 1, 2]);
      expect(thrown(() => weights.get('d')).rule).toBe('name');
      weights.close();
      expect(thrown(() => weights.get('a')).rule).toBe('closed');
    }
  });

  it.each([
    '../x.safetensors',
    '..',
    '.',
    '',
    '/etc/passwd',
    'sub/x.safetensors',
    'sub\\x.safetensors',
    'C:x.safetensors',
    'x\0.safetensors',
    './model-00001-of-00002.safetensors',
    'notes.txt',
  ])('refuses the shard name %j', (name) => {
    expect(thrown(() => openWeights(shards({ a: name }))).rule).toBe('shard');
  });

  it('refuses a link that leads out of the folder, but follows the Hugging Face cache', () => {
    const outside = join(folder, 'cache', 'blobs', 'abc');
    const snapshot = join(folder, 'cache', 'snapshots', 'main');
    mkdirSync(join(folder, 'cache', 'blobs'), { recursive: true });
    mkdirSync(snapshot, { recursive: true });
    copyFileSync(join(folder, first), outside);
    symlinkSync(outside, join(folder, 'link.safetensors'));
    const index = shards({ a: 'link.safetensors' });
    expect(thrown(() => openWeights(index)).message).toContain('a link that leads out of the folder');
    symlinkSync('../../blobs/abc', join(snapshot, 'link.safetensors'));
    copyFileSync(index, join(snapshot, 'model.safetensors.index.json'));
    expect(openWeights(snapshot).get('a').toNumbers()).toEqual([0, 1]);
  });

  it('refuses a map that the shards do not bear out, and frees what it had opened', () => {
    const before = liveTensors().tensors;
    expect(thrown(() => openWeights(shards({ a: first, b: first }))).message).toContain('tensor "b"');
    expect(thrown(() => openWeights(shards({ a: first, b: 'gone.safetensors' }))).message).toContain(
      'ENOENT',
    );
    expect(thrown(() => openWeights(shards({ a: 'model.bin' }))).rule).toBe('pickle');
    expect(liveTensors().tensors).toBe(before);
  });

  it.each([
    ['{"weight_map":{"a":"x.safetensors","a":"y.safetensors"}}', 'duplicate-key'],
    ['{"metadata":{"a":{"b":1,"b":2}},"weight_map":{}}', 'duplicate-key'],
    ['{"weight_map":{"a":3}}', 'index'],
    ['{"weight_map":[]}', 'json'],
    ['{}', 'index'],
    ['[]', 'json'],
    ['', 'json'],
    [`{"metadata":${'['.repeat(100_000)}`, 'limit'],
    ['{"metadata":NaN,"weight_map":{}}', 'json'],
    ['{"metadata":01,"weight_map":{}}', 'json'],
    ['{"weight_map":{}} x', 'json'],
  ])('refuses the index %.40s', (text, rule) => {
    const index = join(folder, 'some.index.json');
    writeFileSync(index, text);
    expect(thrown(() => openWeights(index)).rule).toBe(rule);
  });

  it('says what a folder lacks', () => {
    expect(thrown(() => openWeights(folder)).message).toContain('2 .safetensors files and no index');
    rmSync(join(folder, second));
    expect(openWeights(folder).names).toEqual(['a']);
    rmSync(join(folder, first));
    expect(thrown(() => openWeights(folder)).message).toContain('none of them');
    writeFileSync(join(folder, 'pytorch_model.bin'), 'x');
    expect(thrown(() => openWeights(folder)).rule).toBe('pickle');
    expect(thrown(() => openWeights(join(folder, 'gone'))).message).toContain('ENOENT');
  });
});
