import fs from 'node:fs';
import { exportLanguage } from '@hidden-schema/studies';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguage, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { loadTokenizer } from '@hidden-schema/text';
import { Generator, scope } from '@hidden-schema/torch';
import { DEFAULT_ENCODER, openDecoder } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LanguageConfig } from '../src/config/language.ts';
import { readMetrics } from '../src/run/metrics.ts';
import { Session } from '../src/run/session.ts';
import { openLanguage, openLanguageCorpus } from '../src/tasks/language/open.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import type { TextInput } from '../src/tasks/language/prepare-texts.ts';
import { LanguageTask, languageFigures } from '../src/tasks/language/task.ts';
import { createLanguageRun } from '../src/tasks/language/text-record.ts';

const folder = temporaryFolder('language-session');
afterAll(folder.remove);
const cache = folder.path('cache');
const given: TextInput = { input: folder.path('texts.tsv'), settings: {} };
beforeAll(() => {
  writeTexts(given.input);
});

async function train(name: string, config: LanguageConfig, input: TextInput = given) {
  const prepared = await prepareLanguage(config, input, { cache });
  const run = createLanguageRun(folder.path(name), prepared);
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text) };
  try {
    const result = await new Session(run, new LanguageTask(prepared), { output }).train();
    return { run, result, rows: readMetrics(run.path('metrics.jsonl')).rows, text: written.join('') };
  } finally {
    run.close();
    prepared.close();
  }
}

const figures = [
  ...['perplexity', 'perplexity_error', 'mutual_information', 'mutual_information_exact'],
  ...['mutual_information_bound', 'reconstruction', 'kl_walk', 'kl_graph', 'symbols_used'],
];

describe('a language run on disk', () => {
  test('holds all that later verbs need', async () => {
    const { run, result, rows, text } = await train('whole', tinyLanguage());
    const names = fs.readdirSync(run.directory).filter((name) => !name.startsWith('events.'));
    const results = ['evaluation.json', 'graph.json', 'metrics.jsonl'];
    const own = ['lock', 'manifest.json', 'names.lock', 'run.json', 'sums.json', 'tokenizer.json'];
    expect(names.sort()).toEqual(['checkpoints', 'config.yaml', ...results, ...own].sort());
    expect(result).toMatchObject({ state: 'finished', step: 6 });
    for (const key of figures) expect(result.evaluation, key).toHaveProperty(key, expect.any(Number));
    expect(run.record.text).toMatchObject({ labels: expect.arrayContaining(['good', 'bad']) });
    const looks = rows.filter((row) => row.validation !== undefined);
    expect(looks.map((row) => row.step)).toEqual([3, 6]);
    for (const look of looks) {
      expect(look.symbols_used).toBeGreaterThanOrEqual(1);
      expect(look.information).toBeTypeOf('number');
    }
    // input → walk → what is written again, with sentences of the corpus
    const samples = [...text.matchAll(/"(.+)" → ([0-5]) ([0-5]) ([0-5]) → "(.*)"/g)];
    expect(samples).toHaveLength(2);
    const known = tinySentences().map((line) => line.split('\t')[1]);
    for (const [, sentence] of samples) expect(known).toContain(sentence);
    const graph = JSON.parse(fs.readFileSync(run.path('graph.json'), 'utf8'));
    expect(graph.nodes).toHaveLength(6);
  });

  test('opens again, with the same figures, also when the token cache is gone', async () => {
    const opened = await openLanguage(folder.path('whole'));
    const other = folder.path('other-cache');
    const corpus = await openLanguageCorpus(opened, { cache: other });
    expect(corpus.cached).toBe(false);
    const options = { limit: 500, walks: 20, graphs: 5 };
    const again = languageFigures(opened.model, corpus, opened.texts.frames, options);
    const stored = fs.readFileSync(opened.run.path('evaluation.json'), 'utf8');
    expect(JSON.parse(JSON.stringify(again))).toEqual(JSON.parse(stored));
    expect(languageFigures(opened.model, corpus, opened.texts.frames, options)).toEqual(again);
    corpus.close();
    opened.model.free();
  });

  test('sentences have the same walks alone and in a batch', async () => {
    const { texts, model } = await openLanguage(folder.path('whole'));
    const sentences = tinySentences(40).map((line) => line.split('\t')[1]!);
    const { walks } = await texts.read([...sentences, `${sentences.join(' ')} and more`]);
    for (const [i, sentence] of sentences.entries()) {
      const alone = (await texts.read([sentence])).walks[0]!;
      expect(alone.walk).toEqual(walks[i]!.walk);
      for (const [step, p] of alone.probabilities.entries())
        expect(p).toBeCloseTo(walks[i]!.probabilities[step]!, 4);
    }
    model.free();
  });

  test('the same seed writes the same, another one something else', async () => {
    const { texts, model } = await openLanguage(folder.path('whole'));
    const options = { count: 3, temperature: 1, maxTokens: 12 };
    const first = await texts.write([1, 2, 3], { ...options, seed: 4 });
    expect(first).toHaveLength(3);
    expect(await texts.write([1, 2, 3], { ...options, seed: 4 })).toEqual(first);
    expect(await texts.write([1, 2, 3], { ...options, seed: 5 })).not.toEqual(first);
    await expect(texts.write([6])).rejects.toThrow('the symbols of this model are 0 to 5, got 6');
    model.free();
  });

  test('its decoder opens elsewhere and scores as before', async () => {
    const opened = await openLanguage(folder.path('whole'));
    const out = folder.path('exported');
    expect(exportLanguage(opened, out)).toEqual([`${out}/decoder`]);
    const decoder = openDecoder(`${out}/decoder`, new Generator(0));
    expect(loadTokenizer(`${out}/decoder`).hash).toBe(opened.tokenizers.decoder.hash);
    const same = new Map(decoder.namedTensors());
    for (const [name, tensor] of opened.model.decoder.namedTensors())
      expect(
        scope(() => same.get(name)!.sub(tensor).abs().amax().item()),
        name,
      ).toBe(0);
    expect(() => exportLanguage(opened, out)).toThrow('is not empty');
    decoder.free();
    opened.model.free();
  });
});

test('a baseline trains the decoder alone', async () => {
  const { run, result, text } = await train('baseline', tinyLanguage({ baseline: true }));
  expect(result.evaluation).toEqual({ sentences: expect.any(Number), perplexity: expect.any(Number) });
  expect(text).not.toContain('→');
  const opened = await openLanguage(run.directory);
  await expect(opened.texts.read(['a sentence'])).rejects.toThrow('a baseline has no symbols');
  expect(await opened.texts.write(undefined, { maxTokens: 5 })).toHaveLength(1);
  opened.model.free();
});

test('walks of one step train too', async () => {
  const { run, result } = await train('short', tinyLanguage({ length: 1 }));
  expect(result.evaluation?.perplexity).toBeGreaterThan(1);
  const opened = await openLanguage(run.directory);
  const { walks } = await opened.texts.read(['the cat is cheap']);
  expect(walks[0]!.walk).toHaveLength(1);
  opened.model.free();
});

test('collapse is warned of', async () => {
  // Heads so flat that no sentence differs from another.
  const { text } = await train(
    'flat',
    tinyLanguage({ encoder: { sharpness: 1e-6 }, training: { steps: 3, rate: 1e-6, encoderRate: 1e-9 } }),
  );
  expect(text).toMatch(/warning: the model ignores its symbols: walks tell -?0\.\d+ nats of a sentence/);
});

describe('refused before anything is written', () => {
  const fault = async (config: LanguageConfig, input: string, settings: TextInput['settings'] = {}) => {
    const before = fs.readdirSync(folder.path()).sort();
    const error = await prepareLanguage(config, { input, settings }, { cache }).then(
      () => new Error('nothing'),
      (error: Error) => error,
    );
    expect(fs.readdirSync(folder.path()).sort()).toEqual(before);
    expect(error.name).toMatch(/^(User|Safetensors)Error$/);
    // How to convert a pickle takes lines of its own.
    if (error.name === 'UserError') expect(error.message).not.toContain('\n');
    return error.message;
  };

  test('corpora and sizes', async () => {
    fs.writeFileSync(folder.path('empty.txt'), '');
    fs.writeFileSync(folder.path('few.txt'), 'one sentence\nanother one\n');
    expect(await fault(tinyLanguage(), folder.path('empty.txt'))).toContain('holds no sentence');
    expect(await fault(tinyLanguage(), folder.path('few.txt'))).toMatch(/none of them for (valid|test)/);
    expect(await fault(tinyLanguage(), given.input, { textColumn: 'text', labelColumn: 'stars' })).toMatch(
      /text|stars/,
    );
    expect(await fault(tinyLanguage({ decoder: { width: 15 } }), given.input)).toBe(
      'decoder.width is 15: expected a multiple of decoder.heads, 2',
    );
    expect(() => tinyLanguage({ symbols: 1 })).toThrow();
  });

  test('models', async () => {
    const pickled = folder.path('pickled');
    fs.mkdirSync(pickled);
    fs.writeFileSync(`${pickled}/config.json`, JSON.stringify({ model_type: 'gpt2' }));
    fs.writeFileSync(`${pickled}/pytorch_model.bin`, 'PK');
    fs.copyFileSync(folder.path('whole', 'tokenizer.json'), `${pickled}/tokenizer.json`);
    expect(await fault(tinyLanguage({ decoder: { name: pickled } }), given.input)).toMatch(/pickle/i);
    expect(await fault(tinyLanguage({ encoder: { name: './nowhere' } }), given.input)).toContain(
      './nowhere does not exist',
    );
    // A tokenizer with more tokens than the weights have rows.
    const opened = await openLanguage(folder.path('whole'));
    const small = folder.path('small');
    exportLanguage(opened, small);
    opened.model.free();
    const { trainByteBpe } = await import('@hidden-schema/text');
    const words = tinySentences().join(' ').repeat(3);
    fs.writeFileSync(`${small}/decoder/tokenizer.json`, trainByteBpe([words], 340).json);
    expect(await fault(tinyLanguage({ decoder: { name: `${small}/decoder` } }), given.input)).toMatch(
      /the tokenizer has \d+ tokens but the weights have 320; they do not belong together/,
    );
  });
});

test('a decoder goes on from exported weights', async () => {
  const opened = await openLanguage(folder.path('whole'));
  const out = folder.path('start');
  exportLanguage(opened, out);
  opened.model.free();
  const { run, result } = await train('continued', tinyLanguage({ decoder: { name: `${out}/decoder` } }));
  expect(result.state).toBe('finished');
  fs.rmSync(out, { recursive: true });
  // The run keeps what it needs of the folder it began with.
  const again = await openLanguage(run.directory);
  expect(again.model.decoder.vocabularySize).toBe(320);
  again.model.free();
});

test('the embedded MiniLM reads forty sentences', async () => {
  const file = writeTexts(folder.path('forty.tsv'), tinySentences(60));
  const config = tinyLanguage({
    encoder: { name: DEFAULT_ENCODER },
    training: { steps: 2, evaluateEvery: 2 },
  });
  const { run, result } = await train('minilm', config, { input: file, settings: {} });
  expect(result.evaluation?.mutual_information_exact).toBeGreaterThan(0);
  const opened = await openLanguage(run.directory);
  expect(opened.model.encoder.frozen).toBe(true);
  expect(opened.model.encoder.base.width).toBe(384);
  opened.model.free();
});
