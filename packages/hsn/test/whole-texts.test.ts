// Texts read whole: positions for the longest of them, and no end after one that is cut all the same.
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguage, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { readBatch, trainByteBpe } from '@hidden-schema/text';
import { Generator } from '@hidden-schema/torch';
import { Gpt2Decoder, writeModelFolder } from '@hidden-schema/transformers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LanguageConfig } from '../src/config/language.ts';
import { Session } from '../src/run/session.ts';
import { openLanguage, openLanguageCorpus } from '../src/tasks/language/open.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { createLanguageRun } from '../src/tasks/language/text-record.ts';

const folder = temporaryFolder('whole-texts');
afterAll(folder.remove);
const input = folder.path('texts.tsv');
const long = 'the waiter was very good and the food seems cheap and a dog looks friendly';
const lines = [...tinySentences(), ...Array.from({ length: 40 }, () => `good\t${long}`)];

beforeAll(() => {
  writeTexts(input, lines);
  const tokenizer = trainByteBpe(lines, 320).json;
  const shape = { vocab_size: 320, n_positions: 10, n_embd: 16, n_layer: 1, n_head: 2 };
  const gpt2 = new Gpt2Decoder(shape, new Generator(4));
  writeModelFolder(folder.path('gpt2'), {
    config: gpt2.configOf(),
    tensors: gpt2.namedTensors(),
    tokenizer,
  });
  gpt2.free();
});

/** Every text of a corpus as the decoder sees it, beside its own tokens. */
async function seen(config: LanguageConfig, name: string) {
  const cache = folder.path('cache');
  const prepared = await prepareLanguage(config, { input, settings: {} }, { cache });
  const run = createLanguageRun(folder.path(name), prepared);
  try {
    const task = new LanguageTask(prepared);
    await new Session(run, task, { output: { write: () => true } }).train();
  } finally {
    run.close();
    prepared.close();
  }
  const opened = await openLanguage(run.directory, { checkpoint: 'last' });
  const corpus = await openLanguageCorpus(opened, { cache });
  const { frames } = opened.texts;
  const rows = [...corpus.splits.train].filter((_, at) => at % 3 === 0);
  const texts = await Promise.all(
    rows.map(async (row) => {
      const { decoder } = readBatch(corpus.store, Int32Array.of(row), frames);
      const { text } = corpus.store.example(row);
      const { ids } = await opened.tokenizers.decoder.encode(text, { specials: false, literal: true });
      return { read: [...decoder.ids], own: [...ids], text };
    }),
  );
  const { longest } = opened.config.decoder;
  corpus.close();
  opened.model.free();
  return { texts, longest, end: frames.decoder.end!, begin: frames.decoder.begin! };
}

test('a decoder from scratch gets positions for the longest text, and all end', async () => {
  const { texts, longest, begin, end } = await seen(
    tinyLanguage({ decoder: { whole: true, longest: 4 } }),
    'scratch',
  );
  expect(longest).toBe(Math.max(...texts.map(({ own }) => own.length)));
  expect(longest).toBeGreaterThan(8);
  for (const { read, own } of texts) expect(read).toEqual([begin, ...own, end]);
});

test('a pretrained one reads as far as its positions, and learns no end from a cut', async () => {
  const config = tinyLanguage({ decoder: { name: folder.path('gpt2'), whole: true } });
  const { texts, longest, begin, end } = await seen(config, 'pretrained');
  expect(longest).toBe(8);
  const cut = texts.filter(({ own }) => own.length > 8);
  expect(cut.length).toBeGreaterThan(5);
  for (const { read, own } of texts)
    expect(read).toEqual(own.length > 8 ? [begin, ...own.slice(0, 9)] : [begin, ...own, end]);
});

test('unless asked, texts are cut and ended as before', async () => {
  const { texts, begin, end } = await seen(tinyLanguage({ decoder: { longest: 4 } }), 'cut');
  for (const { read, own } of texts) expect(read).toEqual([begin, ...own.slice(0, 4), end]);
});
