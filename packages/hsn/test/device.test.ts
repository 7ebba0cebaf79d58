import { onMeta } from '@hidden-schema/testing/meta-device';
import { tinyReasoning } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguage, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { hostReads, withoutKernels } from '@hidden-schema/torch';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LanguageConfig } from '../src/config/language.ts';
import type { SyntheticConfig } from '../src/config/network.ts';
import type { ReasoningConfig } from '../src/config/tuples.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';
import { prepareReasoning } from '../src/tasks/tuples/prepare.ts';
import { ReasoningTask } from '../src/tasks/tuples/task.ts';
import type { TaskTrainer } from '../src/train/task.ts';

const folder = temporaryFolder('device');
afterAll(folder.remove);
const texts = folder.path('texts.tsv');
const tuples = folder.path('tuples');
const corpus = tinyCorpus(folder.path('tiny'));
beforeAll(() => {
  writeTexts(texts);
  writePlanted(tuples, plantedTuples());
});

const synthetic = (config: SyntheticConfig) => async () => new SyntheticTask(config, corpus).trainer;
const language = (config: LanguageConfig) => async () => {
  const prepared = await prepareLanguage(config, { input: texts, settings: {} });
  return new LanguageTask(prepared).trainer;
};
const reasoning = (config: ReasoningConfig) => async () =>
  new ReasoningTask(await prepareReasoning(config, tuples)).trainer;

/** Dropout in all of them, so that masks are drawn too. */
const written = { dropout: 0.1, wordDropout: 0.2 };
const kinds: [string, () => Promise<TaskTrainer>, number][] = [
  ['a synthetic language, its graph in closed form', synthetic(tinyConfig()), 12],
  [
    'a synthetic language, a network over pairs, sampled walks',
    synthetic(tinyConfig({ graph: { posterior: 'pairs' }, walk: { expectation: 'sampled' } })),
    12,
  ],
  ['texts', language(tinyLanguage({ decoder: written })), 12],
  [
    'texts, a free graph, the authors’ attention, one layer more',
    language(
      tinyLanguage({
        graph: { posterior: 'free', prior: 'power-law' },
        walk: { form: 'symmetric', constant: 0.1, range: 'none' },
        decoder: { ...written, wordDropoutBy: 'mask', symbolAttention: 'authors', layers: 2 },
      }),
    ),
    12,
  ],
  ['texts, a recurrent decoder', language(tinyLanguage({ decoder: { ...written, name: 'lstm' } })), 12],
  ['texts, a Llama', language(tinyLanguage({ decoder: { ...written, name: 'llama' } })), 12],
  [
    'texts in bfloat16',
    language(tinyLanguage({ decoder: written, training: { precision: 'bfloat16' } })),
    12,
  ],
  ['texts, the pretrained encoder', language(tinyLanguage({ encoder: { name: DEFAULT_ENCODER } })), 12],
  [
    'texts, walks by pursuit',
    language(
      tinyLanguage({
        encoder: { name: DEFAULT_ENCODER, walks: 'pursuit' },
        graph: { posterior: 'free', symbols: 'learnable', selfLoops: true },
        walk: { range: 'none', stays: true },
      }),
    ),
    12,
  ],
  ['tuples', reasoning(tinyReasoning({ encoder: { dropout: 0.1 }, decoder: written })), 12],
];

const deviceOf = (trainer: TaskTrainer): Set<string> =>
  new Set([
    ...[...trainer.model.namedTensors()].flatMap(([, tensor]) => [
      tensor.device,
      ...(tensor.grad ? [tensor.grad.device] : []),
    ]),
    ...[...trainer.optimizer.namedTensors()].map(([, tensor]) => tensor.device),
  ]);

describe.each(kinds)('%s', (_, make, most) => {
  test('forward, backward and update run on a device that is not the CPU', () =>
    onMeta(async () => {
      const trainer = await make();
      for (let step = 1; step <= 2; step++) expect(trainer.trainStep().step).toBe(step);
      expect(deviceOf(trainer)).toEqual(new Set(['meta']));
      trainer.free();
    }));

  test(`a step reads at most ${most} numbers back`, async () => {
    const trainer = await make();
    trainer.trainStep();
    const before = hostReads();
    trainer.trainStep();
    const { reads, numbers } = hostReads();
    expect(reads - before.reads).toBeLessThanOrEqual(most);
    expect(numbers - before.numbers).toBe(reads - before.reads);
    trainer.free();
  });

  test('libtorch’s operators give what the kernels do', async () => {
    const losses = async (within: <T>(body: () => T) => T) => {
      const trainer = await make();
      const found = [1, 2, 3].map(() => within(() => trainer.trainStep()));
      trainer.free();
      return found.map(({ loss, gradient_norm }) => [loss, gradient_norm]);
    };
    const [own, plain] = [await losses((body) => body()), await losses(withoutKernels)];
    for (const [step, figures] of plain.entries())
      for (const [at, figure] of figures.entries())
        expect(Math.abs(figure! / own[step]![at]! - 1)).toBeLessThan(1e-3);
  });
});
