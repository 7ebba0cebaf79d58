// Settings that state other sizes than the weights beside them have (fault 41).
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '@hidden-schema/base';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { type LanguageInput, tinyNetwork } from '@hidden-schema/testing/tiny-language';
import { tinyModels, withSize, writeTinyModel } from '@hidden-schema/testing/tiny-models';
import { Generator, liveTensors, type nn, scope, writeSafetensors } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { afterAll, describe, expect, test } from 'vitest';
import { languageConfig, loadConfig, type RunConfig } from '../src/config/settings.ts';
import { reasoningConfigSchema } from '../src/config/tuples.ts';
import { RunFiles } from '../src/run/run-files.ts';
import { checkRunSizes } from '../src/run/run-sizes.ts';
import { openSyntheticRun } from '../src/tasks/synthetic/open.ts';
import { makeReasoning } from '../src/tasks/tuples/build.ts';
import { makePath } from '../src/tasks/tuples/path/path-model.ts';

const folder = temporaryFolder('sizes');
afterAll(folder.remove);

const message = (body: () => unknown): string => {
  try {
    body();
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return (error as Error).message.replaceAll(folder.path(), 'ROOT');
  }
  throw new Error('expected a fault');
};

describe.each(tinyModels)('$name', (model) => {
  const made = folder.path(model.name);

  test('opens with its own settings, and is refused with any other size before it is built', () => {
    const config = writeTinyModel(model, made);
    model.open(made).free();
    const before = liveTensors().tensors;
    for (const [key, named] of Object.entries(model.keys)) {
      const huge = withSize(config, key, 2_000_000);
      fs.writeFileSync(path.join(made, 'config.json'), JSON.stringify(huge));
      const said = message(() => model.open(made));
      expect(said, key).toMatch(
        / but the weights hold \d+ \(.+\); settings and weights do not belong together/,
      );
      expect(said, key).toContain(`ROOT/${model.name}/config.json: ${named} is `);
    }
    expect(liveTensors().tensors).toBe(before);
  });
});

test('layers that the weights do not have at all', () => {
  const [bert] = tinyModels;
  const config = writeTinyModel(bert!, folder.path('bare'));
  scope(() => writeSafetensors(folder.path('bare', 'model.safetensors'), []));
  fs.writeFileSync(folder.path('bare', 'config.json'), JSON.stringify(config));
  expect(message(() => bert!.open(folder.path('bare')))).toContain(
    'num_hidden_layers is 2, but the weights hold 0 (no encoder.layer.N.)',
  );
});

/** A run's folder with a checkpoint of these tensors, without training. */
function checkpointOf(name: string, modules: Readonly<Record<string, nn.Module>>): string {
  const made = folder.path(name);
  fs.mkdirSync(path.join(made, 'checkpoints/step-3'), { recursive: true });
  const tensors = Object.entries(modules).flatMap(([prefix, module]) => [...module.namedTensors(prefix)]);
  writeSafetensors(path.join(made, 'checkpoints/step-3/model.safetensors'), tensors);
  return made;
}

/** Its own settings pass; each of these keys at a huge size does not. */
function expectClaims(made: string, config: RunConfig, record: object, keys: readonly string[]): void {
  const check = (settings: RunConfig) =>
    checkRunSizes(new RunFiles(made), settings, record as Record<string, unknown>);
  check(config);
  for (const key of keys)
    expect(
      message(() => check(withSize(config, key, 1e9))),
      key,
    ).toMatch(
      new RegExp(
        `/config\\.yaml: ${key.replaceAll('.', '\\.')}(?: / 2| \\+ 2)? is \\d+, but the weights hold \\d+`,
      ),
    );
}

describe('runs', () => {
  const network = ['symbols', 'length', 'encoder.width', 'encoder.layers', 'decoder.width', 'decoder.layers'];
  const cases: [string, LanguageInput, string[]][] = [
    [
      'pairs',
      { graph: { posterior: 'pairs', symbols: 'learnable' } },
      ['graph.hidden', 'graph.layers', 'graph.symbolDimension', 'decoder.longest'],
    ],
    ['inner', { graph: { posterior: 'inner' }, encoder: { name: 'lstm' } }, ['graph.hidden']],
    ['free', { graph: { posterior: 'free' }, decoder: { name: 'llama' } }, []],
  ];
  test.each(cases)('of a language model, %s', (name, settings, more) => {
    const model = tinyNetwork({ ...settings, encoder: { layers: 1, ...settings.encoder } });
    const made = checkpointOf(name, { '': model });
    const decoder = model.decoder.configOf();
    expectClaims(made, model.config, { text: { decoder } }, [...network, ...more]);
    const layers = decoder.model_type === 'llama' ? 'num_hidden_layers' : 'n_layer';
    const record = { text: { decoder: withSize(decoder, layers, 1e9) } };
    expect(message(() => checkRunSizes(new RunFiles(made), model.config, record))).toContain(
      `/run.json: decoder.${layers} is 1000000000, but the weights hold 1 (`,
    );
    model.free();
  });

  test('over tuples, and of path models', async () => {
    const config = reasoningConfigSchema.parse({
      ...{ model: 'reasoning', symbols: 6, length: 4 },
      encoder: { name: 'transformer', width: 16, layers: 1, heads: 2 },
      decoder: { width: 16, layers: 1, heads: 2 },
      path: {
        hidden: 8,
        width: 16,
        layers: 2,
        heads: 2,
        encoder: { name: 'transformer', width: 16, layers: 1 },
      },
    });
    const generator = new Generator(1);
    const sizes = { vocabulary: 20, width: 16, layers: 1, heads: 2, hidden: 64, positions: 16, dropout: 0 };
    const text = () => new TransformerText(sizes, generator);
    const parts = { encoder: text(), frozen: false, decoderVocabulary: 20, tuples: 5 };
    const model = await makeReasoning(config, parts, generator);
    expectClaims(checkpointOf('tuples', { '': model }), config, { tuples: {} }, network);
    for (const kind of ['lstm', 'transformer'] as const) {
      const { hidden, width, layers, heads, dropout } = config.path;
      const own = { symbols: 6, half: 2, context: 16, hidden, width, layers, heads, dropout };
      const made = checkpointOf(kind, { 'network.': makePath(kind, own, generator), 'text.': text() });
      const path: RunConfig = { ...config, part: 'path', path: { ...config.path, kind } };
      const keys = kind === 'lstm' ? ['path.hidden'] : ['path.width', 'path.layers'];
      expectClaims(made, path, {}, [...keys, 'path.encoder.width', 'path.encoder.layers']);
    }
  });

  test('with adapters', () => {
    const made = folder.path('adapters');
    const text = 'model: language\ndecoder: {name: some/gpt2, lora: {rank: 2}}';
    const config = languageConfig(loadConfig(text, 'test'));
    const model = tinyNetwork();
    checkpointOf('adapters', { '': model });
    const named = { ...config, symbols: 4, length: 3, graph: { ...config.graph, hidden: 4 } } as RunConfig;
    expect(message(() => checkRunSizes(new RunFiles(made), named, {}))).toContain(
      'decoder.lora.rank is 2, but the weights hold 0 (no decoder.….lora_A.weight)',
    );
  });

  test('of a synthetic language, by the command that opens it', () => {
    const kept = fileURLToPath(new URL('../../../fixtures/runs', import.meta.url));
    fs.cpSync(kept, folder.path('kept'), { recursive: true });
    const run = folder.path('kept/synthetic-0.1.0');
    const yaml = fs.readFileSync(`${run}/config.yaml`, 'utf8');
    fs.writeFileSync(`${run}/config.yaml`, `symbols: 1000000000\n${yaml}`);
    expect(message(() => openSyntheticRun(run))).toBe(
      'ROOT/kept/synthetic-0.1.0/config.yaml: symbols is 1000000000, but the weights hold 8 (encoder.head.weight is [8, 8]); settings and weights do not belong together, take those that were written together',
    );
    const config = loadConfig(yaml, 'test');
    expectClaims(run, config, {}, ['encoder.width', 'encoder.blocks', 'encoder.hidden']);
  });
});
