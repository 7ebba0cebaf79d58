// The presets that say what appendices E and F.1 say: against a table of the paper's values, and trained for some steps.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, openSafetensors } from '@hidden-schema/torch';
import { BertEncoder, bertConfigSchema, Gpt2Decoder, writeModelFolder } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LanguageConfig } from '../src/config/language.ts';
import { loadConfig, type RunConfig, syntheticConfig } from '../src/config/settings.ts';
import { linkProbabilities } from '../src/graph/link-records.ts';
import { Session } from '../src/run/session.ts';
import type { LanguageNetwork } from '../src/tasks/language/network.ts';
import { openLanguage } from '../src/tasks/language/open.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { createLanguageRun } from '../src/tasks/language/text-record.ts';
import { readSyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import { SYNTHETIC_DEFAULTS } from '../src/tasks/synthetic/corpus/synthetic.ts';
import { writeSyntheticCorpus } from '../src/tasks/synthetic/corpus/writer.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';

const root = new URL('../../../experiments/', import.meta.url);
const preset = (name: string) =>
  loadConfig(fs.readFileSync(fileURLToPath(new URL(name, root)), 'utf8'), name) as Record<string, unknown>;

/** Settings by their dotted names. */
function flat(value: unknown, name = ''): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return { [name]: value };
  return Object.assign(
    {},
    ...Object.entries(value).map(([key, inner]) => flat(inner, name ? `${name}.${key}` : key)),
  );
}

/** Appendix E.2: what it says of both graphs. */
const synthetic = {
  symbols: 100,
  'encoder.width': 256,
  'encoder.blocks': 2,
  'encoder.heads': 2,
  'encoder.hidden': 256,
  'encoder.dropout': 0.2,
  'encoder.readout': 'queries',
  'encoder.teacher': 'none',
  'graph.posterior': 'pairs',
  'graph.hidden': 256,
  'graph.layers': 1,
  'graph.prior': 'bernoulli',
  'graph.temperature': 0.75,
  'graph.klWeight': 'one',
  'walk.prior': 'uniform',
  'walk.temperature': 0.75,
  'walk.range': 'none',
  'walk.expectation': 'sampled',
  'objective.kind': 'information',
  'objective.aggregation': 'mean',
  'objective.beta.kind': 'constant',
  'objective.beta.to': 1,
  'objective.klThreshold': 0,
  'training.batch': 256,
  'training.rate': 1e-4,
  'training.graphRate': 1e-4,
  'training.steps': Math.round((200 * 70_000) / 256),
  'training.clip': 'none',
  'training.schedule': 'constant',
};

/** Appendix F.1. */
const language = {
  'encoder.name': 'google-bert/bert-base-uncased',
  'encoder.frozen': false,
  'encoder.walks': 'queries',
  'decoder.name': 'openai-community/gpt2',
  'decoder.wordDropout': 0.3,
  'decoder.symbolAttention': 'paper',
  'decoder.symbolPositions': 1,
  'graph.posterior': 'pairs',
  'graph.layers': 2,
  'graph.hidden': 512,
  'graph.prior': 'bernoulli',
  'graph.p': 0.5,
  'graph.temperature': 1,
  'graph.klWeight': 'one',
  'walk.prior': 'inhomogeneous',
  'walk.temperature': 1,
  'walk.range': 'none',
  'objective.kind': 'information',
  'objective.aggregation': 'mean',
  'objective.beta.kind': 'cyclical',
  'objective.beta.to': 1,
  'objective.klThreshold': 0.1,
  'objective.graphKlThreshold': 0.1,
  'warmStart.steps': 0,
  'warmStart.hold': 0,
  'training.batch': 32,
  'training.rate': 1e-5,
  'training.symbolRate': 1,
  'training.encoderRate': 1e-5,
  'training.graphRate': 1e-5,
  'training.steps': Math.ceil((100 * 38_219) / 32),
  'training.clip': 'none',
  'training.schedule': 'constant',
};

const sizes = [50, 100].flatMap((symbols) => [5, 20].map((length) => [symbols, length] as const));

describe('the paper’s values', () => {
  test.each([
    ['barabasi', 0.2],
    ['erdos', 0.6],
  ])('synthetic/paper-%s.yaml', (name, p) => {
    expect(flat(preset(`synthetic/paper-${name}.yaml`))).toMatchObject({ ...synthetic, 'graph.p': p });
  });

  test.each(sizes)('language/paper-%d-%d.yaml', (symbols, length) => {
    const config = preset(`language/paper-${symbols}-${length}.yaml`);
    expect(flat(config)).toMatchObject({ ...language, symbols, length });
    expect(config.objective).not.toHaveProperty('capacity');
    expect(config.decoder).not.toHaveProperty('lora');
  });
});

const folder = temporaryFolder('paper-presets');
afterAll(folder.remove);
const input = folder.path('texts.tsv');
const vocabulary = 320;

/** BERT and GPT-2 in Hugging Face's layout, some thousand times smaller. */
beforeAll(() => {
  writeTexts(input);
  const tokenizer = trainByteBpe(tinySentences(), vocabulary).json;
  const config = bertConfigSchema.parse({
    model_type: 'bert',
    vocab_size: vocabulary,
    hidden_size: 16,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    intermediate_size: 24,
    max_position_embeddings: 64,
  });
  const bert = new BertEncoder(config, new Generator(3));
  writeModelFolder(folder.path('bert'), { config: { ...config }, tensors: bert.namedTensors(), tokenizer });
  const shape = { vocab_size: vocabulary, n_positions: 64, n_embd: 16, n_layer: 2, n_head: 2 };
  const gpt2 = new Gpt2Decoder(shape, new Generator(4));
  writeModelFolder(folder.path('gpt2'), {
    config: gpt2.configOf(),
    tensors: gpt2.namedTensors(),
    tokenizer,
  });
  bert.free();
  gpt2.free();
});

describe('a preset trains', () => {
  test.each(sizes)('HSN(%d, %d)', async (symbols, length) => {
    const { encoder, decoder, training, ...rest } = preset(
      `language/paper-${symbols}-${length}.yaml`,
    ) as LanguageConfig;
    const config: LanguageConfig = {
      ...rest,
      encoder: { ...encoder, name: folder.path('bert'), longest: 48 },
      decoder: { ...decoder, name: folder.path('gpt2'), longest: 48 },
      training: { ...training, steps: 3, batch: 8, evaluateEvery: 3, logEvery: 1 },
    };
    const prepared = await prepareLanguage(config, { input, settings: {} }, { cache: folder.path('cache') });
    const run = createLanguageRun(folder.path(`run-${symbols}-${length}`), prepared);
    try {
      const task = new LanguageTask(prepared);
      await new Session(run, task, { output: { write: () => true } }).train();
      expect(task.trainer.step).toBe(3);
    } finally {
      run.close();
      prepared.close();
    }
    const { model } = await openLanguage(run.directory, { checkpoint: 'last' });
    expect(tunedLayers(model), 'BERT is tuned too').toBeGreaterThan(10);
    model.free();
  });
});

describe('a synthetic preset trains', () => {
  test.each([
    ['barabasi', 11],
    ['erdos', 10],
  ] as const)('%s', (graph, length) => {
    const drawn = { ...SYNTHETIC_DEFAULTS, graph, length, sentences: 600 };
    expect(drawn).toMatchObject({ nodes: 100, tokens: 1000, bag: 2, disjoint: false });
    writeSyntheticCorpus(drawn, folder.path(graph));
    const config = syntheticConfig(preset(`synthetic/paper-${graph}.yaml`) as RunConfig);
    const { trainer, model } = new SyntheticTask(config, readSyntheticCorpus(folder.path(graph)));
    const before = linkProbabilities(model);
    for (let step = 0; step < 2; step++) expect(trainer.trainStep().loss).toBeGreaterThan(0);
    const after = linkProbabilities(model);
    expect(after.filter((p, i) => p !== before[i]).length, 'links move').toBeGreaterThan(9000);
    trainer.free();
  });
});

/** Weights of the encoder that are no longer those of the folder. */
function tunedLayers(model: LanguageNetwork): number {
  const weights = openSafetensors(folder.path('bert', 'model.safetensors'));
  const tuned = new Map(model.encoder.base.namedTensors());
  try {
    return weights.names.filter((name) => {
      const now = tuned.get(name)?.toNumbers();
      return (
        now !== undefined &&
        weights
          .get(name)
          .toNumbers()
          .some((value, i) => value !== now[i])
      );
    }).length;
  } finally {
    weights.close();
  }
}
