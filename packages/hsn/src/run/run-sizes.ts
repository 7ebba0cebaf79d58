import { openSafetensors, SafetensorsError } from '@hidden-schema/torch';
import { type Claim, checkClaims, type Shapes, shapesOf } from '@hidden-schema/transformers/claims';
import { decoderKind } from '@hidden-schema/transformers/registry';
import type { LanguageConfig } from '../config/language.ts';
import type { SyntheticConfig } from '../config/network.ts';
import { isRival, type RivalConfig } from '../config/rivals.ts';
import type { RunConfig } from '../config/settings.ts';
import type { ReasoningConfig } from '../config/tuples.ts';
import { nameOfToday } from '../tensor-names.ts';
import { MODEL } from './manifest.ts';
import type { RunFiles } from './run-files.ts';

/** Refuses a run whose settings state other sizes than its last checkpoint has, before a model is built from them. */
export function checkRunSizes(
  files: RunFiles,
  config: RunConfig,
  record: Readonly<Record<string, unknown>>,
): void {
  const shapes = lastShapes(files);
  // Weights that are no model's are told of by whoever loads them.
  if (!shapes || ![...shapes.keys()].some((name) => modelParts.test(name))) return;
  checkClaims(shapes, claimsOf(config), files.path('config.yaml'));
  if (config.model !== 'synthetic' && !(config.model === 'reasoning' && config.part === 'path'))
    checkClaims(shapes, recordedClaims(record.text ?? record.tuples), files.path('run.json'));
}

/** What the names of a model's tensors begin with. */
const modelParts = /^(encoder|decoder|network)\./;

/** Of the last checkpoint that can be read; damaged ones are told of by whoever loads them. */
function lastShapes(files: RunFiles): Shapes | undefined {
  const names = files.list('checkpoints');
  const steps = names.flatMap((name) => /^step-(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  for (const step of steps.sort((a, b) => b - a)) {
    try {
      const weights = openSafetensors(files.path('checkpoints', `step-${step}`, MODEL));
      const shapes = shapesOf(weights, nameOfToday);
      weights.close();
      return shapes;
    } catch (error) {
      if (!(error instanceof SafetensorsError)) throw error;
    }
  }
  return undefined;
}

function claimsOf(config: RunConfig): Claim[] {
  if (config.model === 'synthetic') return syntheticClaims(config);
  if (config.model === 'reasoning' && config.part === 'path') return pathClaims(config);
  const own = isRival(config) ? rivalClaims(config) : networkClaims(config);
  return [...own, ...encoderClaims(config), ...decoderClaims(config)];
}

/** The sizes of a latent: what the encoder's queries give. */
function rivalClaims(config: RivalConfig): Claim[] {
  const head = /^encoder\.walk\.start\.weight$/;
  if (config.model === 'optimus')
    return [{ key: '2 × latent', value: 2 * config.latent, tensor: head, axis: 0 }];
  if (config.model === 'ivae')
    return [
      { key: 'hidden', value: config.hidden, tensor: head, axis: 0 },
      { key: 'latent', value: config.latent, tensor: /^draw\.weight$/, axis: 0 },
      { key: 'hidden + latent', value: config.hidden + config.latent, tensor: /^mix\.weight$/, axis: 1 },
    ];
  return [
    { key: 'code', value: config.code, tensor: head, axis: 0 },
    { key: 'symbols', value: config.symbols, tensor: /^codes$/, axis: 0 },
    { key: 'length', value: config.length, tensor: /^encoder\.walk\.queries$/, axis: 0 },
    { key: 'prior', value: config.prior, tensor: /^prior\.output\.weight$/, axis: 1 },
  ];
}

function syntheticClaims({ symbols, encoder, graph }: SyntheticConfig): Claim[] {
  const head = /^encoder\.head\.weight$/;
  return [
    ...(symbols === undefined ? [] : [{ key: 'symbols', value: symbols, tensor: head, axis: 0 }]),
    { key: 'encoder.width', value: encoder.width, tensor: head, axis: 1 },
    { key: 'encoder.blocks', value: encoder.blocks, tensor: /^encoder\.blocks\.(\d+)\./ },
    {
      key: 'encoder.hidden',
      value: encoder.hidden,
      tensor: /^encoder\.blocks\.0\.expand\.weight$/,
      axis: 0,
    },
    ...graphClaims(graph),
  ];
}

function graphClaims({
  posterior,
  symbols,
  ...graph
}: SyntheticConfig['graph'] | LanguageConfig['graph']): Claim[] {
  const { hidden, layers, symbolDimension } = graph;
  if (posterior !== 'pairs' && posterior !== 'inner') return [];
  const learned = /^symbols\.vectors$/;
  const first = posterior === 'pairs' ? /^graph\.first\.weight$/ : /^graph\.embed\.layers\.0\.weight$/;
  return [
    { key: 'graph.hidden', value: hidden, tensor: first, axis: 0 },
    ...(posterior === 'pairs'
      ? [{ key: 'graph.layers', value: layers, tensor: /^graph\.rest\.layers\.(\d+)\./ }]
      : []),
    ...(symbols === 'learnable'
      ? [{ key: 'graph.symbolDimension', value: symbolDimension, tensor: learned, axis: 1 }]
      : []),
  ];
}

/** Where walks are read by pursuit, symbols are vectors and each step has its sharpness. */
function pursuitClaims({ symbols, length, graph }: LanguageConfig | ReasoningConfig): Claim[] {
  const vectors = /^symbols\.vectors$/;
  return [
    { key: 'symbols', value: symbols, tensor: vectors, axis: 0 },
    { key: 'graph.symbolDimension', value: graph.symbolDimension, tensor: vectors, axis: 1 },
    { key: 'length', value: length, tensor: /^encoder\.sharpness$/, axis: 0 },
  ];
}

function networkClaims(config: LanguageConfig | ReasoningConfig): Claim[] {
  if (!config.baseline && config.encoder.walks === 'pursuit') return pursuitClaims(config);
  const { model, symbols, length } = config;
  // Walks over tuples have two halves, each with queries of its own.
  const queries =
    model === 'reasoning' ? { key: 'length / 2', value: length / 2 } : { key: 'length', value: length };
  return [
    { key: 'symbols', value: symbols, tensor: /^encoder\.walk\.start\.weight$/, axis: 0 },
    { ...queries, tensor: /^encoder\.walk\.queries$/, axis: 0 },
    ...graphClaims(config.graph),
  ];
}

/** Settings of encoder and decoder, of any model of texts. */
type TextModels = LanguageConfig | ReasoningConfig | RivalConfig;

function encoderClaims({ encoder: { name, width, layers } }: Pick<TextModels, 'encoder'>): Claim[] {
  if (name !== 'transformer' && name !== 'lstm') return [];
  return [
    { key: 'encoder.width', value: width, tensor: /^encoder\.text\.embedding\.weight$/, axis: 1 },
    { key: 'encoder.layers', value: layers, tensor: /^encoder\.text\.(?:blocks|layers)\.(\d+)\./ },
  ];
}

function decoderClaims({ decoder }: Pick<TextModels, 'decoder'>): Claim[] {
  const { name, width, layers, longest } = decoder;
  if (!decoderKind(name)) {
    const rank = 'lora' in decoder ? decoder.lora?.rank : undefined;
    const adapter = /^decoder\..*\.lora_A\.weight$/;
    return rank === undefined ? [] : [{ key: 'decoder.lora.rank', value: rank, tensor: adapter, axis: 0 }];
  }
  const table = /^decoder\.(?:transformer\.wte|model\.embed_tokens|model\.shared|wte)\.weight$/;
  const places = /^decoder\.transformer\.wpe\.weight$/;
  return [
    { key: 'decoder.width', value: width, tensor: table, axis: 1 },
    ...(name === 'lstm'
      ? []
      : [
          {
            key: 'decoder.layers',
            value: layers,
            tensor: /^decoder\.(?:transformer\.h|model\.(?:decoder\.)?layers)\.(\d+)\./,
          },
        ]),
    ...(name === 'gpt2' ? [{ key: 'decoder.longest + 2', value: longest + 2, tensor: places, axis: 0 }] : []),
  ];
}

function pathClaims({ path: { kind, hidden, width, layers, encoder } }: ReasoningConfig): Claim[] {
  const output = /^network\.output\.weight$/;
  return [
    ...(kind === 'lstm' || kind === 'mlp'
      ? [{ key: 'path.hidden', value: hidden, tensor: output, axis: 1 }]
      : []),
    ...(kind === 'transformer'
      ? [
          { key: 'path.width', value: width, tensor: output, axis: 1 },
          { key: 'path.layers', value: layers, tensor: /^network\.blocks\.(\d+)\./ },
        ]
      : []),
    ...(encoder.name === 'transformer' && kind !== 'mlp'
      ? [
          { key: 'path.encoder.width', value: encoder.width, tensor: /^text\.embedding\.weight$/, axis: 1 },
          { key: 'path.encoder.layers', value: encoder.layers, tensor: /^text\.blocks\.(\d+)\./ },
        ]
      : []),
  ];
}

/** Of the decoder's config.json, which run.json keeps; settings that are no decoder's are refused when it is made. */
function recordedClaims(record: unknown): Claim[] {
  const { decoder } = (record ?? {}) as { decoder?: unknown };
  const { model_type = 'gpt2' } = (decoder ?? {}) as { model_type?: unknown };
  const claims = decoderKind(String(model_type))?.claims(decoder) ?? [];
  return claims.map(({ key, tensor, ...claim }) => ({
    ...claim,
    key: `decoder.${key}`,
    tensor: new RegExp(tensor.source.replace('^', '^decoder\\.')),
  }));
}
