import { hostReads } from '@hidden-schema/testing/host-reads';
import { onMeta, withDevice } from '@hidden-schema/testing/meta-device';
import { tinyReasoning } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguage, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { withoutKernels } from '@hidden-schema/torch';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { LanguageConfig } from '../src/config/language.ts';
import type { SyntheticConfig } from '../src/config/network.ts';
import type { ReasoningConfig } from '../src/config/tuples.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';
import { prepareReasoning } from '../src/tasks/tuples/prepare.ts';
import { ReasoningTask } from '../src/tasks/tuples/task.ts';
import type { Task, TaskTrainer } from '../src/train/task.ts';

const folder = temporaryFolder('device');
afterAll(folder.remove);
// Vectors that are made up belong in no other cache.
vi.stubEnv('HSN_CACHE', folder.path('cache'));
const texts = folder.path('texts.tsv');
const tuples = folder.path('tuples');
const corpus = tinyCorpus(folder.path('tiny'));
beforeAll(() => {
  writeTexts(texts);
  writePlanted(tuples, plantedTuples());
});

/** A trainer before its first step; prepared where that takes numbers that are no guesses. */
type Make = (prepare: boolean) => Promise<TaskTrainer>;

async function prepared({ trainer, preparation }: Task<unknown>, wanted: boolean): Promise<TaskTrainer> {
  while (wanted && preparation?.wanted) await preparation.advance({ onPart: () => undefined });
  return trainer;
}
const synthetic =
  (config: SyntheticConfig): Make =>
  () =>
    prepared(new SyntheticTask(config, corpus), false);
const inputs = (config: LanguageConfig) => prepareLanguage(config, { input: texts, settings: {} });
const language =
  (config: LanguageConfig): Make =>
  async (prepare) =>
    prepared(new LanguageTask(await inputs(config)), prepare && config.encoder.walks === 'pursuit');
const reasoning =
  (config: ReasoningConfig): Make =>
  async () =>
    prepared(new ReasoningTask(await prepareReasoning(config, tuples)), false);

/** Dropout in all of them, so that masks are drawn too. */
const written = { dropout: 0.1, wordDropout: 0.2 };
const pursuit = {
  encoder: { name: DEFAULT_ENCODER, walks: 'pursuit' },
  graph: { posterior: 'free', symbols: 'learnable', selfLoops: true },
  walk: { range: 'none', stays: true },
} as const;
const kinds: [string, Make][] = [
  ['a synthetic language, its graph in closed form', synthetic(tinyConfig())],
  [
    'a synthetic language, a network over pairs, sampled walks',
    synthetic(tinyConfig({ graph: { posterior: 'pairs' }, walk: { expectation: 'sampled' } })),
  ],
  ['texts', language(tinyLanguage({ decoder: written }))],
  [
    'texts, a free graph, the authors’ attention, one layer more',
    language(
      tinyLanguage({
        graph: { posterior: 'free', prior: 'power-law' },
        walk: { form: 'symmetric', constant: 0.1, range: 'none' },
        decoder: { ...written, wordDropoutBy: 'mask', symbolAttention: 'authors', layers: 2 },
      }),
    ),
  ],
  ['texts, a recurrent decoder', language(tinyLanguage({ decoder: { ...written, name: 'lstm' } }))],
  ['texts, a Llama', language(tinyLanguage({ decoder: { ...written, name: 'llama' } }))],
  ['texts in bfloat16', language(tinyLanguage({ decoder: written, training: { precision: 'bfloat16' } }))],
  ['texts, the pretrained encoder', language(tinyLanguage({ encoder: { name: DEFAULT_ENCODER } }))],
  ['texts, walks by pursuit', language(tinyLanguage({ ...pursuit, decoder: written }))],
  ['tuples', reasoning(tinyReasoning({ encoder: { dropout: 0.1 }, decoder: written }))],
];

/** Losses, norms of groups of gradients, expected links; whether a symbol is isolated. */
const mostReads = 9;
/** Walks by pursuit read four times more of what texts are placed by: scales, and weights of words. */
const mostOfPursuit = 13;
/** A frozen encoder's states of a batch, which are kept in memory: 16 texts of at most 12 tokens, each of 384 numbers. */
const mostStates = 16 * 12 * 384;

const deviceOf = (trainer: TaskTrainer): Set<string> =>
  new Set([
    ...[...trainer.model.namedTensors()].flatMap(([, tensor]) => [
      tensor.device,
      ...(tensor.grad ? [tensor.grad.device] : []),
    ]),
    ...[...trainer.optimizer.namedTensors()].map(([, tensor]) => tensor.device),
  ]);

describe.each(kinds)('%s', (name, make) => {
  test('forward, backward and update run on a device that is not the CPU', () =>
    onMeta(async () => {
      const trainer = await make(false);
      for (let step = 1; step <= 2; step++) expect(trainer.trainStep().step).toBe(step);
      expect(deviceOf(trainer)).toEqual(new Set(['meta']));
      trainer.free();
    }));

  // How wide the space of points is depends on the texts' vectors, which are made up there.
  test.skipIf(/pursuit/.test(name))(
    'a checkpoint of the CPU goes on elsewhere, with the same batches and draws',
    async () => {
      const here = await make(true);
      here.trainStep();
      const [state, model, optimizer] = [here.state(), here.model, here.optimizer];
      await onMeta(async () => {
        const there = await make(false);
        there.restore(state, new Map(model.namedTensors()), new Map(optimizer.namedTensors()));
        there.trainStep();
        withDevice('cpu', () => here.trainStep());
        expect(there.state()).toEqual(here.state());
        there.free();
      });
      here.free();
    },
  );

  test('a step reads few numbers back', async () => {
    const trainer = await make(true);
    trainer.trainStep();
    const { reads, numbers } = hostReads(() => trainer.trainStep());
    const single = /pursuit/.test(name) ? mostOfPursuit : mostReads;
    expect(reads).toBeLessThanOrEqual(single);
    expect(numbers).toBeLessThanOrEqual(/pre|pursuit/.test(name) ? mostStates : single);
    trainer.free();
  });

  test('libtorch’s operators give what the kernels do', async () => {
    const losses = async (within: <T>(body: () => T) => T) => {
      const trainer = await make(true);
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

describe('on a device that is not the CPU', () => {
  const networks: [string, () => Promise<Task<unknown>>][] = [
    ['of a synthetic language', async () => new SyntheticTask(tinyConfig(), corpus)],
    ['of texts', async () => new LanguageTask(await inputs(tinyLanguage()))],
    ['of tuples', async () => new ReasoningTask(await prepareReasoning(tinyReasoning(), tuples))],
  ];
  test.each(networks)('a network %s validates, reads walks, writes and is evaluated', (_, make) =>
    onMeta(async () => {
      const task = await make();
      task.trainer.trainStep();
      expect(task.trainer.validate()).toEqual(expect.any(Number));
      expect((await task.inspect()).figures).toBeDefined();
      expect(task.evaluate()).toBeDefined();
      task.trainer.free();
    }),
  );
});
