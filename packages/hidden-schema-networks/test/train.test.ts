import fs from 'node:fs';
import { SYNTHETIC_DEFAULTS, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinySentences } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  readMetrics,
  type Settings,
  type StepMetrics,
  synthetic,
  type TrainEvent,
  texts,
  train,
  tuples,
} from '../src/index.ts';

const folder = temporaryFolder('library-train');
afterAll(folder.remove);

const small = {
  encoder: { name: 'transformer', width: 16, layers: 1, heads: 2 },
  decoder: { width: 16, layers: 1, heads: 2, vocabularySize: 320 },
  training: { steps: 6, batch: 16, warmup: 1, logEvery: 1, evaluateEvery: 3 },
} satisfies Settings;
const sizes = { symbols: 6, length: 3, settings: small, meanings: false };
const file = folder.path('texts.tsv');

beforeAll(() => fs.writeFileSync(file, `${tinySentences(120).join('\n')}\n`));

/** What happened, without what depends on how often it is said. */
function order(events: readonly TrainEvent[]): string[] {
  const names = events.flatMap((event) => {
    if (event.type === 'note') return [];
    return 'state' in event && event.state !== 'going' ? [`${event.type} ${event.state}`] : [event.type];
  });
  return names.filter((name, at) => name !== names[at - 1]);
}

const weights = (run: string, step: number) =>
  fs.readFileSync(`${run}/checkpoints/step-${step}/model.safetensors`).toString('base64');

describe('events of a training', () => {
  const events: TrainEvent[] = [];
  const steps: StepMetrics[] = [];
  const out = folder.path('whole');

  beforeAll(async () => {
    const onEvent = (event: TrainEvent) => void events.push(event);
    const onStep = (step: StepMetrics) => void steps.push(step);
    vi.stubEnv('HSN_CACHE', folder.path('cache'));
    await train(texts(file), { ...sizes, out, onEvent, onStep, meanings: true });
    vi.unstubAllEnvs();
  });

  test('come in the order of the stages', () => {
    expect(order(events)).toEqual([
      // Hashed, then tokenised, since the cache is empty.
      ...['read begins', 'read', 'read ends', 'read begins', 'read', 'read ends'],
      ...['run', 'discover begins', 'discover', 'discover ends'],
      ...['train begins', 'train', 'validation', 'train', 'validation', 'train ends'],
      ...['evaluate begins', 'evaluate', 'evaluate ends', 'ended'],
      ...['describe begins', 'describe', 'describe ends'],
    ]);
  });

  test('give every step, and each stage to its end', () => {
    const going = events.filter((event) => event.type === 'train' && event.state === 'going');
    expect(going).toHaveLength(6);
    expect(going.map((event) => 'step' in event && event.step)).toEqual(steps);
    const ends = events.filter((event) => 'state' in event && event.state === 'ends');
    for (const { type, done, total } of ends as Extract<TrainEvent, { state: string }>[])
      if (type !== 'discover') expect([type, done]).toEqual([type, total]);
  });

  test('are what the run notes', () => {
    const logged = readMetrics(`${out}/metrics.jsonl`).rows.filter(
      ({ validation }) => validation !== undefined,
    );
    const seen = events.flatMap((event) => (event.type === 'validation' ? [event] : []));
    expect(seen.map(({ step, objective }) => [step, objective])).toEqual(
      logged.map(({ step, validation }) => [step, validation]),
    );
    const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []));
    expect(notes.some((text) => text.startsWith('corpus: '))).toBe(true);
    expect(notes.join('\n')).not.toMatch(/(?<![\w-])--[a-z]/);
  });
});

describe('resume', () => {
  test('after a stop gives the weights of a training without one, with or without the source', async () => {
    for (const [at, source] of [texts(file), undefined].entries()) {
      const out = folder.path(`stopped-${at}`);
      const stop = new AbortController();
      const stopped = await train(texts(file), {
        ...{ ...sizes, out, signal: stop.signal },
        onStep: ({ step }) => step === 4 && stop.abort(),
      });
      expect(stopped).toMatchObject({ state: 'stopped', step: 4 });
      const options = source ? sizes : { meanings: false };
      const resumed = await train(source, { ...options, out, resume: true });
      expect(resumed).toMatchObject({ state: 'finished', step: 6 });
      expect(weights(out, 6)).toBe(weights(folder.path('whole'), 6));
    }
  });

  test('goes on to the decoder after symbols were discovered', async () => {
    const out = folder.path('discovered');
    const events: TrainEvent[] = [];
    const first = await train(texts(tinySentences(120).map((text) => text.split('\t')[1]!)), {
      ...{ ...sizes, out, stage: 'discover', onEvent: (event) => void events.push(event) },
      settings: { ...small, encoder: { name: 'fast' } },
    });
    expect(first).toMatchObject({ state: 'discovered', step: 0 });
    const found = order(events).filter((name) => !/^(read|encode)( |$)/.test(name));
    expect(found).toEqual(['run', 'discover begins', 'discover', 'discover ends', 'discovered', 'ended']);
    // An earlier run of this test may have left the vectors in the cache, which a note then says.
    const cached = events.some(
      (event) => event.type === 'note' && /vectors of .* in the cache/.test(event.text),
    );
    expect(order(events).includes('encode ends')).toBe(!cached);
    const second = await train(undefined, { out, resume: true, meanings: false });
    expect(second).toMatchObject({ state: 'finished', step: 6 });
    expect(second.figures!.perplexity).toBeGreaterThan(1);
  });

  test('refuses other settings unless it is forced, in options', async () => {
    const out = folder.path('stopped-0');
    const other = { out, resume: true, settings: { training: { steps: 8 } }, meanings: false };
    const refused = train(undefined, other);
    await expect(refused).rejects.toThrow(
      `${out} was trained with other settings:\n  training.steps: 6 → 8\n  resume without them, or add the option force: true to go on with them`,
    );
    expect(await train(undefined, { ...other, force: true })).toMatchObject({ step: 8 });
  });
});

describe('faults speak of options', () => {
  const faults: [string, () => Promise<unknown>, string][] = [
    [
      'a run that is there',
      () => train(texts(file), { ...sizes, out: folder.path('whole') }),
      'continue it with the option resume: true, replace it with the option force: true, or choose another folder',
    ],
    [
      'symbols that are chosen anew',
      () => train(undefined, { out: folder.path('whole'), resume: true, symbols: 'auto' }),
      "the option symbols: 'auto' and the option seeds are for a new run of texts; leave them out",
    ],
    [
      'a stage without walks',
      () =>
        train(texts(file), {
          ...sizes,
          out: folder.path('none'),
          stage: 'discover',
          settings: { baseline: true },
        }),
      "the option stage: 'discover' needs walks that are read by pursuit",
    ],
    [
      'texts that are too few',
      () => train(texts(['one']), { ...sizes, out: folder.path('none') }),
      "or find symbols alone with the option stage: 'discover'",
    ],
    ['no source', () => train(undefined, { out: folder.path('none') }), 'which texts? give texts(file)'],
  ];
  test.each(faults)('%s', async (_, body, message) => {
    await expect(body()).rejects.toThrow(message);
    await expect(body()).rejects.toThrow(/^(?!.*(?<![\w-])--[a-z])/s);
    expect(fs.existsSync(folder.path('none'))).toBe(false);
  });
});

test('a synthetic language', async () => {
  const drawn = { ...SYNTHETIC_DEFAULTS, nodes: 8, tokens: 12, bag: 2, sentences: 200 };
  writeSyntheticCorpus(drawn, folder.path('corpus'));
  const trained = await train(synthetic(folder.path('corpus')), {
    out: folder.path('synthetic'),
    settings: { encoder: { width: 16, hidden: 16, heads: 2 }, training: { steps: 3 } },
    meanings: false,
  });
  expect(trained).toMatchObject({ state: 'finished', step: 3, figures: { auc: expect.any(Number) } });
  expect(fs.existsSync(folder.path('synthetic', 'MODEL.md'))).toBe(true);
});

test('tuples', async () => {
  const planted = plantedTuples({ kinds: 3, relations: 2, events: 12 });
  writePlanted(folder.path('tuples'), planted);
  const options = { symbols: 8, length: 4, out: folder.path('reasoning') };
  const settings = { ...small, training: { ...small.training, steps: 3 } };
  const trained = await train(tuples(folder.path('tuples')), { ...options, settings });
  expect(trained).toMatchObject({ state: 'finished', step: 3, figures: { tuples: planted.test.length } });
});
