// Language runs that train adapters on a pretrained decoder.
import fs from 'node:fs';
import { exportLanguage } from '@hidden-schema/studies';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguage, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, noGrad, openSafetensors, scope, type Tensor } from '@hidden-schema/torch';
import {
  Gpt2Decoder,
  type LanguageDecoder,
  LlamaDecoder,
  openDecoder,
  writeModelFolder,
} from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LanguageConfig } from '../src/config/language.ts';
import { loadCheckpoint } from '../src/run/checkpoint.ts';
import { Run } from '../src/run/run.ts';
import { Session } from '../src/run/session.ts';
import { openLanguage } from '../src/tasks/language/open.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { createLanguageRun } from '../src/tasks/language/text-record.ts';

const folder = temporaryFolder('language-lora');
afterAll(folder.remove);
const cache = folder.path('cache');
const input = folder.path('texts.tsv');
const tokenizer = trainByteBpe(tinySentences(), 320).json;
const vocab_size = 320;
const makers: Record<string, (generator: Generator) => LanguageDecoder> = {
  gpt2: (generator) =>
    new Gpt2Decoder({ vocab_size, n_positions: 64, n_embd: 16, n_layer: 2, n_head: 2 }, generator),
  llama: (generator) => {
    const sizes = { hidden_size: 16, intermediate_size: 24, num_hidden_layers: 2, num_attention_heads: 2 };
    return new LlamaDecoder({ vocab_size, max_position_embeddings: 64, ...sizes }, generator);
  },
};
beforeAll(() => {
  writeTexts(input);
  for (const [name, make] of Object.entries(makers)) {
    const decoder = make(new Generator(4));
    writeModelFolder(folder.path(name), {
      config: decoder.configOf(),
      tensors: decoder.namedTensors(),
      tokenizer,
    });
    decoder.free();
  }
});

const prepare = (config: LanguageConfig) => prepareLanguage(config, { input, settings: {} }, { cache });

/** Trains until a step, from the start or from where the run was. */
async function train(name: string, config: LanguageConfig, stop: number, resume = false) {
  const prepared = await prepare(config);
  const run = resume
    ? Run.open(folder.path(name), { write: true })
    : createLanguageRun(folder.path(name), prepared);
  const task = new LanguageTask(prepared);
  const { signal } = new AbortController();
  Object.defineProperty(signal, 'aborted', { get: () => task.trainer.step >= stop });
  try {
    return await new Session(run, task, { resume, signal, output: { write: () => true } }).train();
  } finally {
    run.close();
    prepared.close();
  }
}

const settings = (name: string, lora: LanguageConfig['decoder']['lora']) =>
  tinyLanguage({ decoder: { name: folder.path(name), lora } });

function logits(decoder: LanguageDecoder): Tensor {
  const schema = walkTensor([[0, 3, 5]])
    .oneHot(6)
    .to('float32');
  return noGrad(() => decoder.train(false).logits(decoder.hidden(walkTensor([[1, 7, 30, 4]]), schema)));
}
const gap = (a: Tensor, b: Tensor): number => scope(() => noGrad(() => a.sub(b).abs().amax().item()));

describe.each(['gpt2', 'llama'])('adapters on a pretrained %s', (name) => {
  const run = `${name}-run`;

  test('learn alone, also where a run goes on after a stop', async () => {
    const config = settings(name, { rank: 3, alpha: 6 });
    expect(await train(run, config, 2)).toMatchObject({ state: 'stopped', step: 2 });
    const target = name === 'gpt2' ? 'transformer.h.0.attn.c_attn' : 'model.layers.0.self_attn.q_proj';
    const adapter = `decoder.${target}.lora_B.weight`;
    const early = scope(() =>
      loadCheckpoint(Run.open(folder.path(run)), 2)
        .model.get(adapter)!
        .toNumbers(),
    );
    expect(await train(run, config, Number.POSITIVE_INFINITY, true)).toMatchObject({ state: 'finished' });
    // The run holds all its weights: the folder it began with may go.
    const own = openSafetensors(folder.path(name, 'model.safetensors'));
    const before = new Map([...own.names].map((path) => [path, own.get(path).toNumbers()]));
    fs.renameSync(folder.path(name), folder.path(`${name}-gone`));
    const { model } = await openLanguage(folder.path(run), { checkpoint: 'last' });
    const after = new Map(model.decoder.namedTensors());
    for (const [path, values] of before) expect(after.get(path)!.toNumbers(), path).toEqual(values);
    expect(early.some((value) => value !== 0)).toBe(true);
    expect(after.get(adapter.slice('decoder.'.length))!.toNumbers()).not.toEqual(early);
    fs.renameSync(folder.path(`${name}-gone`), folder.path(name));
    model.free();
  });

  test('are part of the weights when exported', async () => {
    const opened = await openLanguage(folder.path(run), { checkpoint: 'last' });
    const out = folder.path(`${name}-out`);
    exportLanguage(opened, out);
    const again = openDecoder(`${out}/decoder`, new Generator(0));
    expect([...again.namedTensors()].some(([path]) => path.includes('lora'))).toBe(false);
    const expected = logits(opened.model.decoder);
    expect(gap(logits(again), expected)).toBeLessThan(1e-5);
    // Without them the decoder says something else.
    const plain = new Map(opened.model.decoder.namedTensors());
    noGrad(() => again.load(new Map([...again.namedTensors()].map(([path]) => [path, plain.get(path)!]))));
    expect(gap(logits(again), expected)).toBeGreaterThan(1e-5);
    again.free();
    opened.model.free();
  });
});

test('the optimiser knows nothing of what does not learn', async () => {
  const prepared = await prepare(settings('gpt2', { rank: 2, alpha: 2, targets: ['mlp.c_fc'] }));
  const { trainer } = new LanguageTask(prepared);
  const names = trainer.optimizer.groups.flatMap(({ parameters }) => parameters.map(([path]) => path));
  const ofDecoder = names.filter((path) => path.startsWith('decoder.'));
  expect(ofDecoder.length).toBeGreaterThan(0);
  for (const path of ofDecoder) expect(path).toMatch(/\.psa\.|\.mlp\.c_fc\.lora_[AB]\./);
  trainer.free();
  prepared.close();
});

test('adapters that cannot be are refused in one line', async () => {
  const fault = (config: LanguageConfig) => prepare(config).catch((error: Error) => error);
  const targets = ['c_attn', 'q_proj'];
  expect(await fault(settings('gpt2', { rank: 2, alpha: 2, targets }))).toMatchObject({
    name: 'UserError',
    message: 'lora: no layer is called q_proj; there are c_attn, c_proj, c_fc',
  });
  expect(await fault(tinyLanguage({ decoder: { lora: {} } }))).toMatchObject({
    name: 'UserError',
    message: expect.stringMatching(
      /^decoder\.lora leaves .* gpt2 starts from scratch: name a pretrained one/,
    ),
  });
});
