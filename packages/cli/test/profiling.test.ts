import fs from 'node:fs';
import { writeSyntheticCorpus } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyFlags, tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-profile');
afterAll(folder.remove);
const corpus = folder.path('corpus');
writeSyntheticCorpus(tinySettings, corpus);

interface TraceEvent {
  name: string;
  cat?: string;
  ph: string;
  args?: { shapes?: string; bytes?: number };
}

test('hsn train --profile writes a Chrome trace of some steps and says where time went', async () => {
  const file = folder.path('trace.json');
  const out = folder.path('run');
  const { code, stderr } = await hsn(
    'train',
    '--corpus',
    corpus,
    '--out',
    out,
    '--profile',
    file,
    ...tinyFlags,
  );
  expect(code).toBe(0);
  expect(stderr).toMatch(/profile of 3 steps, \d+ ms, [\d.]+ % of it outside of operators: .*trace\.json/);
  expect(stderr).toMatch(/ms +\d+ calls {2}aten::\w+/);
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8')) as { traceEvents: TraceEvent[] };
  const stages = traceEvents.filter(({ cat }) => cat === 'stage').map(({ name }) => name);
  for (const name of ['step', 'graph', 'forward', 'backward', 'update'])
    expect(stages.filter((stage) => stage === name)).toHaveLength(3);
  const products = traceEvents.filter(({ name }) => name === 'aten::mm' || name === 'aten::addmm');
  expect(products.length).toBeGreaterThan(0);
  expect(products.every(({ args }) => /^\[\d+/.test(args!.shapes!))).toBe(true);
  expect(traceEvents.some(({ cat }) => cat === 'gradient')).toBe(true);
});

test('refuses a file that cannot be written, before training', async () => {
  const out = folder.path('none');
  const file = folder.path('missing/trace.json');
  const { code, stderr } = await hsn(
    'train',
    '--corpus',
    corpus,
    '--out',
    out,
    '--profile',
    file,
    ...tinyFlags,
  );
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/--profile .*missing does not exist; make it, or name another file/);
  expect(fs.existsSync(out)).toBe(false);
});
