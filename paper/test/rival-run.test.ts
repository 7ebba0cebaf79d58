import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startExplorer } from '@hidden-schema/explorer/server/index';
import { loadConfig } from '@hidden-schema/hsn/config/settings';
import { Session } from '@hidden-schema/hsn/run/session';
import { prepareTextRun, textRunConfig } from '@hidden-schema/hsn/text-run';
import { until } from '@hidden-schema/testing/processes';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { setThreads } from '@hidden-schema/torch/engine';
import { afterAll, expect, test } from 'vitest';
import { request } from '../../packages/explorer/test/requests.ts';

setThreads(1);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-explorer-rival-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const settings = `
model: vq
symbols: 6
length: 2
code: 8
prior: 8
encoder: { name: lstm, width: 16, layers: 1 }
decoder: { width: 16, layers: 1, heads: 2, vocabularySize: 320 }
training: { steps: 4, batch: 16, warmup: 1, logEvery: 1, evaluateEvery: 2 }
`;

async function trained(): Promise<string> {
  const input = writeTexts(path.join(folder, 'reviews.tsv'));
  const config = textRunConfig(loadConfig(settings, 'settings'));
  const prepared = await prepareTextRun(
    config,
    { input, settings: {} },
    { cache: path.join(folder, 'cache') },
  );
  const run = prepared.create(path.join(folder, 'run'));
  await new Session(run, prepared.task(), { output: { write: () => true } }).train();
  run.close();
  prepared.close();
  return run.directory;
}

test('a run without walks shows its settings, curves and figures; the rest is refused by its name', async () => {
  const explorer = await startExplorer({ run: await trained() });
  const asked = async (place: string) => {
    const { status, text } = await request(explorer.url, place);
    return { status, body: JSON.parse(text) };
  };
  try {
    const refused =
      /is a run of VQ-VAE, which has no graph and no walks; it can do hsn eval, hsn generate \(--like, --prior\) and hsn interpolate/;
    await until(async () => (await asked('/api/run')).body.problem !== null);
    const { body: shown } = await asked('/api/run');
    expect(shown).toMatchObject({ model: 'vq', state: 'finished', lastStep: 4, opened: null });
    expect(shown.config).toMatchObject({ symbols: 6, codebook: 'ema' });
    expect(shown.problem).toMatch(refused);
    const { status, body } = await asked('/api/graph');
    expect(status).toBe(409);
    expect(JSON.stringify(body)).toMatch(refused);
    const names = (await asked('/api/curves')).body.curves.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['loss', 'kl', 'information']));
    expect((await asked('/api/evaluation')).body).toHaveProperty('perplexity_bound');
  } finally {
    await explorer.close();
  }
}, 240_000);
