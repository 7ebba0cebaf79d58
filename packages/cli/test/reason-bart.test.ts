import { cp, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyReasoningFlags } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, openWeights, randn, writeSafetensors } from '@hidden-schema/torch';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-bart');
const tuples = folder.path('tuples');
const comet = folder.path('comet');
const event = 'someone babak baban doban';
const train = (...args: string[]) =>
  hsn('reason', 'train', '--tuples', tuples, ...tinyReasoningFlags, ...args);

beforeAll(async () => {
  writePlanted(tuples, plantedTuples({ events: 20, relations: 3 }));
  const made = await train('--part', 'comet', '--decoder', 'bart', '--out', comet);
  expect(made).toMatchObject({ code: 0 });
}, 300_000);
afterAll(folder.remove);

test('COMET with a BART from scratch trains, resumes and writes', async () => {
  const more = await hsn(
    ...['reason', 'train', '--out', comet, '--resume', '--force', '--set', 'training.steps=8'],
  );
  expect(more).toMatchObject({ code: 0 });
  expect(more.stdout).toMatch(/perplexity of objects +[\d.]+/);
  const record = JSON.parse(await readFile(`${comet}/run.json`, 'utf8'));
  expect(record.tuples.decoder).toMatchObject({ model_type: 'bart', encoder_layers: 1, d_model: 16 });
  for (const search of ['beam', 'greedy', 'sample']) {
    const drawing = search === 'sample' ? ['--temperature', '1'] : [];
    const args = ['--relation', 'rA', '--search', search, '--count', '3', '--json', ...drawing];
    const ended = await hsn('reason', 'generate', comet, event, ...args);
    expect(ended).toMatchObject({ code: 0 });
    const { rA } = JSON.parse(ended.stdout).candidates as Record<string, { object: string; score: number }[]>;
    expect(rA!.length).toBeGreaterThan(0);
    expect(rA!.length).toBeLessThanOrEqual(search === 'greedy' ? 1 : 3);
    expect(rA!.every(({ score }) => score < 0)).toBe(true);
  }
});

test('a BART in a folder goes on from there, with rows for the relations', async () => {
  const tiny = fileURLToPath(new URL('../../../fixtures/bart-tiny', import.meta.url));
  const copy = folder.path('bart');
  await cp(tiny, copy, { recursive: true });
  const tokenizer = trainByteBpe([event], 257);
  await writeFile(`${copy}/tokenizer.json`, tokenizer.json);
  const weights = openWeights(tiny);
  const shared = randn([257, 16], new Generator(1));
  const tensors = weights.names
    .filter((name) => name !== 'final_logits_bias')
    .map((name) => [name, name === 'model.shared.weight' ? shared : weights.get(name)] as const);
  writeSafetensors(`${copy}/model.safetensors`, tensors);
  weights.close();
  const config = JSON.parse(await readFile(`${copy}/config.json`, 'utf8'));
  const grown = { ...config, vocab_size: 257, decoder_start_token_id: 256, eos_token_id: 256 };
  await writeFile(`${copy}/config.json`, JSON.stringify(grown));
  const out = folder.path('pretrained');
  expect(await train('--part', 'comet', '--decoder', copy, '--out', out)).toMatchObject({ code: 0 });
  const record = JSON.parse(await readFile(`${out}/run.json`, 'utf8'));
  expect(record.tuples.decoder).toMatchObject({ vocab_size: 260, decoder_ffn_dim: 32 });
});

test.each([
  [
    'a network',
    ['--decoder', 'bart', '--out', folder.path('none')],
    /BART .* takes no walks: train it as COMET/,
  ],
  ['a path model', ['--part', 'path', '--run', comet, '--decoder', 'bart'], /a path model writes no text/],
])('%s has no use for a BART', async (_, args, message) => {
  const ended = await train(...args);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(message);
});

test.each([
  ['--path', 'lstm', /--path is for walks/],
  ['--walks', '3', /--walks is for walks/],
  ['--walk-temperature', '2', /--walk-temperature is for walks/],
  ['--search', 'sample', /give a --temperature above 0/],
])('COMET refuses %s %s', async (flag, value, message) => {
  const ended = await hsn('reason', 'generate', comet, event, flag, value);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(message);
});
