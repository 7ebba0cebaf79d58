import fs from 'node:fs';
import { loadConfig } from '@hidden-schema/hsn/config/settings';
import { open } from '@hidden-schema/hsn/open';
import { checkpointSteps } from '@hidden-schema/hsn/run/checkpoint';
import { readMetrics } from '@hidden-schema/hsn/run/metrics';
import { Run } from '@hidden-schema/hsn/run/run';
import { Session } from '@hidden-schema/hsn/run/session';
import { openLanguageCorpus } from '@hidden-schema/hsn/tasks/language/open';
import { textInput, textRecord } from '@hidden-schema/hsn/tasks/language/text-record';
import { prepareTextRun, type TextRunConfig, textRunConfig } from '@hidden-schema/hsn/text-run';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluateRival } from '../src/rivals/evaluation.ts';
import { openRival } from '../src/rivals/open.ts';

const folder = temporaryFolder('rival-runs');
afterAll(folder.remove);
const cache = folder.path('cache');
const input = folder.path('texts.tsv');
beforeAll(() => void writeTexts(input));

const sizes = [
  'encoder.name=lstm',
  'encoder.width=16',
  'encoder.layers=1',
  'decoder.width=16',
  'decoder.layers=1',
  'decoder.heads=2',
  'decoder.vocabularySize=320',
  'training.steps=6',
  'training.batch=16',
  'training.warmup=1',
  'training.logEvery=1',
  'training.evaluateEvery=3',
];
const small = {
  optimus: ['latent=4', 'beta.steps=4'],
  ivae: ['latent=4', 'hidden=8', 'dual.hidden=8', 'dual.updates=2'],
  vq: ['symbols=6', 'length=3', 'code=8', 'prior=8'],
};
type Kind = keyof typeof small;
const kinds = Object.keys(small) as Kind[];
const configOf = (model: Kind, ...more: string[]): TextRunConfig =>
  textRunConfig(loadConfig(`model: ${model}`, 'test', [...sizes, ...small[model], ...more]));

/** A run that is stopped after each of these steps, and continued by a session that reads all from its folder. */
async function trained(name: string, config: TextRunConfig, stops: readonly number[] = []): Promise<Run> {
  let run: Run | undefined;
  for (const stop of [...stops, Number.POSITIVE_INFINITY]) {
    const again = run && Run.open(run.directory, { write: true });
    const prepared = again
      ? await prepareTextRun(config, textInput(again), { cache, tokenizer: textRecord(again).tokenizer })
      : await prepareTextRun(config, { input, settings: {} }, { cache });
    const current: Run = again ?? prepared.create(folder.path(name));
    const task = prepared.task();
    const { signal } = new AbortController();
    Object.defineProperty(signal, 'aborted', { get: () => task.trainer.step >= stop });
    const output = { write: () => true };
    await new Session(current, task, { resume: run !== undefined, signal, output }).train();
    current.close();
    prepared.close();
    run = current;
  }
  return run!;
}

const weightsOf = (run: Run): Buffer =>
  fs.readFileSync(run.path('checkpoints', `step-${checkpointSteps(run).at(-1)}`, 'model.safetensors'));

describe.each(kinds)('a run of %s', (kind) => {
  test('is the same whether it was stopped or not, and can be opened, measured and written with', async () => {
    const whole = await trained(`${kind}-whole`, configOf(kind));
    const stopped = await trained(`${kind}-stopped`, configOf(kind), [2, 3]);
    expect(weightsOf(stopped).equals(weightsOf(whole))).toBe(true);
    const { rows } = readMetrics(whole.path('metrics.jsonl'));
    expect(rows[0]).toMatchObject({ reconstruction: expect.any(Number), kl: expect.any(Number) });
    expect(rows.find((row) => row.validation !== undefined)).toHaveProperty('information');

    const opened = await openRival(whole.directory, { checkpoint: 'last' });
    const corpus = await openLanguageCorpus(opened, { cache });
    const [figures, again] = [1, 2].map(() =>
      evaluateRival(opened.model, corpus, opened.texts.frames, { draws: 4 }),
    );
    expect(again).toEqual(figures);
    expect(figures!.sentences).toBe(corpus.splits.test.length);
    expect(figures!.perplexity_bound).toBeGreaterThan(figures!.perplexity_reconstruction);
    expect(figures!.mutual_information_exact).toBeLessThan(figures!.mutual_information_bound + 1e-6);
    corpus.close();

    const options = { maxTokens: 6, seed: 3, temperature: 1 };
    const latents = opened.texts.fromPrior(3, 7);
    const [first, second] = [
      await opened.texts.write(latents, options),
      await opened.texts.write(opened.texts.fromPrior(3, 7), options),
    ];
    expect(first).toHaveLength(3);
    expect(second).toEqual(first);
    const [like] = await opened.texts.write(await opened.texts.read(['the cat is cheap']), { maxTokens: 6 });
    const way = await opened.texts.between('the cat is cheap', 'a dog was terrible', {
      steps: 2,
      maxTokens: 6,
    });
    expect(way).toHaveLength(3);
    expect(way[0]).toBe(like);
    opened.model.free();
  });
});

test('what has no walks is refused by name, with what it can do', async () => {
  const run = await trained('refused', configOf('optimus', 'training.steps=1'));
  await expect(open(run.directory)).rejects.toThrow(
    'is a run of Optimus, which has no graph and no walks; it can do hsn eval, hsn generate (--like, --prior) and hsn interpolate',
  );
});

test.each([
  ['optimus', ['graph.p=0.1'], 'unknown key graph'],
  ['optimus', ['decoder.lora.rank=2'], 'unknown key decoder.lora'],
  ['ivae', ['injection=memory'], 'unknown key injection'],
  ['vq', ['latent=3'], 'unknown key latent'],
  ['vq', ['symbols=1'], 'symbols: expected a whole number of at least 2, got 1'],
  ['optimus', ['injection=both!'], 'injection: expected one of memory, embedding, both'],
] satisfies [Kind, string[], string][])('%s refuses %j', (kind, wrong, message) => {
  expect(() => configOf(kind, ...wrong)).toThrow(message);
});

test('settings that are not those of the weights are refused before a model is made of them', async () => {
  const run = await trained('edited', configOf('vq', 'training.steps=1'));
  const file = run.path('config.yaml');
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('symbols: 6', 'symbols: 9'));
  expect(() => Run.open(run.directory)).toThrow(/symbols is 9, but the weights hold 6/);
});
