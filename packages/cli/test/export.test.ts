import fs from 'node:fs';
import { openLanguage } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { Generator, scope, Tensor } from '@hidden-schema/torch';
import {
  DEFAULT_ENCODER,
  maskOfLengths,
  openDecoder,
  openPretrainedEncoder,
} from '@hidden-schema/transformers';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-export');
beforeAll(() => {
  folder.holdCache();
  writeTexts(folder.path('reviews.tsv'), tinySentences(60));
});
afterAll(folder.remove);
const train = (out: string, ...args: string[]) =>
  hsn(
    'train',
    '--corpus',
    folder.path('reviews.tsv'),
    '--out',
    out,
    '--symbols',
    '6',
    '--length',
    '3',
    ...args,
  );
const names = ['config.json', 'model.safetensors', 'tokenizer.json'];

test('a fine-tuned encoder and the decoder open again, with the same outputs', async () => {
  const run = folder.path('run');
  const small = [...tinyLanguageFlags, '--set', 'training.steps=2', '--set', 'training.evaluateEvery=2'];
  const tuned = ['--set', `encoder.name="${DEFAULT_ENCODER}"`, '--set', 'encoder.frozen=false'];
  expect(await train(run, ...small, ...tuned)).toMatchObject({ code: 0 });
  const out = folder.path('model');
  const ended = await hsn('export', run, '--out', out);
  expect(ended).toMatchObject({ code: 0, stdout: `${out}/encoder\n${out}/decoder\n`, stderr: '' });
  for (const part of ['encoder', 'decoder']) expect(fs.readdirSync(`${out}/${part}`).sort()).toEqual(names);
  const { model, tokenizers } = await openLanguage(run);
  model.train(false);
  const again = await openPretrainedEncoder(`${out}/encoder`);
  again.encoder.train(false);
  const { ids } = await tokenizers.encoder.encode('the cat is cheap');
  const tokens = Tensor.fromArray(ids, [1, ids.length]);
  const mask = maskOfLengths([ids.length], ids.length);
  const states = model.encoder.base.hidden(tokens, mask);
  expect(scope(() => again.encoder.hidden(tokens, mask).sub(states).abs().amax().item())).toBe(0);
  const decoder = openDecoder(`${out}/decoder`, new Generator(0));
  expect(decoder.configOf()).toEqual(model.decoder.configOf());
  const twice = await hsn('export', run, '--out', out);
  expect(twice.stderr).toMatch(/^hsn: .* is not empty; choose a folder that is not there yet\n$/);
});

test('a run of a synthetic language, or none, is refused', async () => {
  const none = await hsn('export', folder.path('gone'), '--out', folder.path('nothing'));
  expect(none.stderr).toMatch(/^hsn: the run folder .* does not exist\n$/);
  expect(fs.existsSync(folder.path('nothing'))).toBe(false);
});
