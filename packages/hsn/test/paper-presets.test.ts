// The presets that say what appendices E and F.1 say: against a table of the paper's values, and trained for some steps.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, openSafetensors } from '@hidden-schema/torch';
import { BertEncoder, bertConfigSchema, Gpt2Decoder, writeModelFolder } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notSaid, ofOtherChoices, presetDepartures } from '../../../checks/departure-reasons.ts';
import { presetFiles, presetText } from '../../../checks/preset-files.ts';
import { presetCorpus } from '../../../paper/src/reproduction/presets/synthetic.ts';
import { lookOf } from '../../../paper/src/verb/reproduce-flags.ts';
import type { LanguageConfig } from '../src/config/language.ts';
import { loadConfig, type RunConfig, settingValues, syntheticConfig } from '../src/config/settings.ts';
import { linkProbabilities } from '../src/graph/likely.ts';
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
import { WalkPrior } from '../src/walk/processes.ts';
import { ATTACHED_E2, CORPUS_E2, DEVIATION, ESTIMATE_F2, printedIn, UNMENTIONED } from './paper-appendix.ts';

const root = new URL('../../../experiments/', import.meta.url);
const preset = (name: string) =>
  loadConfig(fs.readFileSync(fileURLToPath(new URL(name, root)), 'utf8'), name) as Record<string, unknown>;

const sizes = [50, 100].flatMap((symbols) => [5, 20].map((length) => [symbols, length] as const));

describe('presets', () => {
  test('are the files of experiments/', () => {
    for (const file of presetFiles)
      expect(fs.readFileSync(fileURLToPath(new URL(file.name, root)), 'utf8'), file.name).toBe(
        presetText(file),
      );
  });

  const ofPaper = presetFiles.filter(({ name }) => name.includes('/paper-'));
  const shortName = (name: string) => name.replace(/^.*\/(.*)\.yaml$/, '$1');
  const listedOf = (name: string) =>
    presetDepartures.filter(({ files }) => files.split(', ').includes(shortName(name)));

  /** Settings with another value than the appendices print and departures.md lists, and settings that neither has. */
  function unlisted(name: string, values: Readonly<Record<string, string>>): string[] {
    const printed: Record<string, unknown> = { ...printedIn(name) };
    for (const { setting, value } of listedOf(name)) printed[setting] = value;
    const said = (key: string) =>
      notSaid.has(key) || notSaid.has(`${values.model} ${key}`) || ofOtherChoices.test(key);
    return [...new Set([...Object.keys(values), ...Object.keys(printed)])].filter((key) =>
      key in printed ? values[key] !== String(printed[key]) : !said(key),
    );
  }

  test.each(ofPaper.map(({ name }) => name))(
    '%s differs from the appendices in nothing that is not listed',
    (name) => {
      const values = settingValues(preset(name) as RunConfig);
      expect(unlisted(name, values)).toEqual([]);
      for (const [key, value] of Object.entries(UNMENTIONED))
        if (key in values) expect(values[key], key).toBe(String(value));
      const printed = printedIn(name);
      for (const { setting, value } of listedOf(name))
        expect(String(printed[setting]), `${setting} is listed and no departure`).not.toBe(value);
      // Whatever is changed is noticed: a value that the paper prints, one of a listed departure, a setting that is new.
      for (const key of [...Object.keys(printed), 'graph.new'])
        expect(unlisted(name, { ...values, [key]: `${values[key]}0` })).toEqual([key]);
    },
  );

  test('every departure that is listed is of a file', () => {
    const names = ofPaper.map(({ name }) => shortName(name));
    for (const { files } of presetDepartures)
      for (const file of files.split(', ')) expect(names).toContain(file);
  });

  test('have the corpora of appendix E.2', () => {
    const asked = { sentences: 100_000, seed: 1 };
    expect(presetCorpus('paper', 'barabasi', asked)).toMatchObject({
      ...CORPUS_E2,
      length: 11,
      graph: 'barabasi',
    });
    const erdos = { graphOptions: { probability: 0.5 }, length: 10, graph: 'erdos' };
    expect(presetCorpus('paper', 'erdos', asked)).toMatchObject({ ...CORPUS_E2, ...erdos });
    expect(presetFiles.find(({ name }) => name === 'synthetic/paper-erdos.yaml')!.commands[0]).toContain(
      '--probability 0.5 --length 10 --tokens 1000 --sentences 100000',
    );
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
      `language/paper-ptb-${symbols}-${length}.yaml`,
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
    ['paper', 'barabasi', 11],
    ['paper', 'erdos', 10],
    ['authors', 'barabasi', 11],
  ] as const)('%s, %s', (which, graph, length) => {
    const drawn = { ...SYNTHETIC_DEFAULTS, graph, length, sentences: 600 };
    expect(drawn).toMatchObject({ nodes: 100, tokens: 1000, bag: 2, disjoint: false });
    writeSyntheticCorpus(drawn, folder.path(which, graph), { force: true });
    const config = syntheticConfig(preset(`synthetic/${which}-${graph}.yaml`) as RunConfig);
    const corpus = readSyntheticCorpus(folder.path(which, graph));
    const { trainer, model } = new SyntheticTask(config, corpus);
    const { nodes, data } = corpus.truth!;
    const edges = data.reduce((sum, link) => sum + link, 0) / 2;
    if (graph === 'barabasi') expect(edges).toBe(ATTACHED_E2 * (nodes - ATTACHED_E2));
    expect(deviation(model.encoder.embedding.weight.toNumbers())).toBeCloseTo(DEVIATION, 4);
    const before = linkProbabilities(model);
    for (let step = 0; step < 2; step++) expect(trainer.trainStep().loss).toBeGreaterThan(0);
    const after = linkProbabilities(model);
    expect(after.filter((p, i) => p !== before[i]).length, 'links move').toBeGreaterThan(9000);
    trainer.free();
  });
});

describe('what appendices print beside settings', () => {
  test('weights of the walk prior start at a deviation of 0.01 (F.1)', () => {
    const prior = new WalkPrior('inhomogeneous', { nodes: 500, length: 20 }, new Generator(1));
    for (const weights of [prior.start!, prior.weights!]) {
      const values = weights.toNumbers();
      expect(deviation(values)).toBeGreaterThan(0.9 * DEVIATION);
      expect(deviation(values)).toBeLessThan(1.1 * DEVIATION);
    }
    prior.free();
  });

  test('perplexity is estimated from 100 walks on each of 10 graphs (F.2)', async () => {
    const quick = { limit: 1, walks: 1, graphs: 1 };
    expect(await lookOf({ out: 'x' }, quick)).toMatchObject(ESTIMATE_F2);
  });
});

/** Root of the mean square. */
const deviation = (values: readonly number[]): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

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
