import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openLanguage } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-import');
afterAll(folder.remove);
const file = fileURLToPath(new URL('../../../fixtures/gguf/llama.gguf', import.meta.url));
const model = folder.path('model');
folder.holdCache();

test('a GGUF file becomes a decoder that trains with adapters, and its run keeps its special tokens', async () => {
  const made = await hsn('import', file, '--out', model);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout).toMatch(/model: llama, 0\.1 million parameters \(tensors: .*\), 274 tokens, \d+ MB\n$/);
  // A name that no other rule would take for the end.
  fs.writeFileSync(`${model}/tokenizer_config.json`, '{"bos_token": "<s>", "eos_token": "<0x0A>"}');
  const texts = writeTexts(folder.path('reviews.tsv'), tinySentences(60));
  const lora = ['--set', `decoder.name=${model}`, '--set', 'decoder.lora={rank: 2, alpha: 4}'];
  const out = folder.path('run');
  const sizes = ['--symbols', '6', '--length', '3', '--set', 'encoder.walks=queries'];
  const trained = await hsn(
    'train',
    '--corpus',
    texts,
    '--out',
    out,
    ...tinyLanguageFlags,
    ...sizes,
    ...lora,
  );
  expect(trained).toMatchObject({ code: 0 });
  const { model: network, tokenizers } = await openLanguage(out);
  expect(tokenizers.decoder.special).toMatchObject({ begin: 1, end: 3 + 0x0a });
  expect([...network.decoder.namedTensors()].filter(([name]) => name.includes('lora_A'))).toHaveLength(4);
  network.free();
  expect(await hsn('export', out, '--out', folder.path('exported'))).toMatchObject({ code: 0 });
  const exported = fs.readFileSync(folder.path('exported/decoder/tokenizer_config.json'), 'utf8');
  expect(JSON.parse(exported)).toMatchObject({ bos_token: '<s>', eos_token: '<0x0A>' });
  const again = await hsn('train', '--out', out, '--resume', '--force', '--set', 'training.steps=7');
  expect(again).toMatchObject({ code: 0 });
});

test.each([
  ['a folder that is there', [file, '--out', folder.path('.')], /is there already; give a folder/],
  ['no file', [folder.path('none'), '--out', folder.path('x')], /cannot read .*none.*expected a GGUF file/],
  ['another kind', [fileURLToPath(import.meta.url), '--out', folder.path('x')], /does not start with GGUF/],
])('refuses %s', async (_, args, message) => {
  const ended = await hsn('import', ...args);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(message);
  expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
  expect(fs.existsSync(folder.path('x'))).toBe(false);
});

test('USE-multilingual becomes an encoder that training and hsn encode read, each text once', async () => {
  const use = fileURLToPath(new URL('../../../fixtures/use-tiny', import.meta.url));
  const encoder = folder.path('use');
  const made = await hsn('import', use, '--out', encoder);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(
    /use: USE-multilingual, 0\.0 million parameters, \d+ tokens; use it as --encoder /,
  );
  const texts = writeTexts(folder.path('texts.tsv'), tinySentences(60));
  const out = folder.path('run-use');
  const flags = [
    '--stage',
    'discover',
    '--symbols',
    '4',
    '--length',
    '2',
    '--set',
    'decoder.vocabularySize=320',
  ];
  const train = (...more: string[]) => hsn('train', '--corpus', texts, '--out', out, ...flags, ...more);
  const trained = await train('--encoder', encoder);
  expect(trained.code, trained.stderr).toBe(0);
  const encoded = await hsn('encode', out, texts);
  expect(encoded.code, encoded.stderr).toBe(0);
  expect(encoded.stderr).toMatch(/were in the cache|were known/);
  const fast = await train('--encoder', `fast:${encoder}`, '--force');
  expect(fast.code, fast.stderr).toBe(0);
  const refused = await train('--encoder', encoder, '--force', '--set', 'encoder.precision=int8');
  expect(refused.stderr).toMatch(/has no products in int8; take encoder\.precision: float32\n$/);
});
