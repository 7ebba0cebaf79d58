import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { json, request } from './requests.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-same-walk-'));
let explorer: Explorer;

beforeAll(async () => {
  fs.cpSync(fileURLToPath(new URL('../../../fixtures/runs', import.meta.url)), folder, { recursive: true });
  explorer = await startExplorer({ run: folder });
});
afterAll(async () => {
  await explorer?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Sentences as each kind of run takes them. */
const sentences: Record<string, readonly string[]> = {
  'synthetic-0.1.0': ['UBI CSN USV CSN UBI', 'FVP LZN GAE FVP HYP', 'CSN HYP FVP HYP FVP'],
  'language-0.1.0': ['the food was terrible', 'a dog is friendly', 'the waiter looks good'],
  'reasoning-0.1.0': ['PersonX goes home\txWant\tto rest', 'PersonX runs fast\txReact\ttired'],
};

test.each(Object.keys(sentences))(
  'library, command line and explorer read the same walks in %s',
  async (name) => {
    const run = path.join(folder, name);
    const texts = sentences[name]!;
    const opened = await open(run);
    const { walks } = await opened.texts.read(texts);
    opened.model.free();
    const library = walks.map(({ walk }) => walk);

    const file = path.join(folder, `${name}.txt`);
    fs.writeFileSync(file, `${texts.join('\n')}\n`);
    const ended = await hsn('encode', run, file, '--format', 'jsonl', '--input-format', 'text');
    expect(ended).toMatchObject({ code: 0 });
    const lines = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { walk: number[] });
    expect(lines.map(({ walk }) => walk)).toEqual(library);

    // The page reads no tuples: it shows those of the corpus, which the library reads just so.
    if (opened.kind === 'reasoning') return;
    const address = `/api/encode?run=${encodeURIComponent(name)}`;
    const shown = await Promise.all(
      texts.map(async (text) => {
        const reply = await request(explorer.url, address, json({ text }));
        const { walk } = JSON.parse(reply.text) as { walk: { steps: { symbol: number }[] } };
        return walk.steps.map(({ symbol }) => symbol);
      }),
    );
    expect(shown).toEqual(library);
  },
);
