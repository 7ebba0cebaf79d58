import { openSafetensors, SafetensorsError } from '@hidden-schema/torch';
import { decoderClaims as configClaims, isDecoderName } from '@hidden-schema/transformers/decoder-config';
import {
  type Claim,
  checkClaims,
  claim,
  type Shapes,
  shapesOf,
} from '@hidden-schema/transformers/model-folder';
import type { LanguageConfig } from '../config/language.ts';
import type { SyntheticConfig } from '../config/network.ts';
import { isRival, type RivalConfig } from '../config/rivals.ts';
import type { RunConfig } from '../config/settings.ts';
import type { ReasoningConfig } from '../config/tuples.ts';
import { nameOfToday } from '../tensor-names.ts';
import { MODEL } from './checkpoint.ts';
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
  for (const step of steps.sort((a, b) => b - a))
    try {
      const weights = openSafetensors(files.path('checkpoints', `step-${step}`, MODEL));
      const shapes = shapesOf(weights, nameOfToday);
      weights.close();
      return shapes;
    } catch (error) {
      if (!(error instanceof SafetensorsError)) throw error;
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
  if (config.model === 'optimus') return [claim('2 × latent', 2 * config.latent, head, 0)];
  if (config.model === 'ivae') {
    const { hidden, latent } = config;
    return [
      claim('hidden', hidden, head, 0),
      claim('latent', latent, /^draw\.weight$/, 0),
      claim('hidden + latent', hidden + latent, /^mix\.weight$/, 1),
    ];
  }
  return [
    claim('code', config.code, head, 0),
    claim('symbols', config.symbols, /^codes$/, 0),
    claim('length', config.length, /^encoder\.walk\.queries$/, 0),
    claim('prior', config.prior, /^prior\.output\.weight$/, 1),
  ];
}

function syntheticClaims({ symbols, encoder, graph }: SyntheticConfig): Claim[] {
  const head = /^encoder\.head\.weight$/;
  return [
    ...(symbols === undefined ? [] : [claim('symbols', symbols, head, 0)]),
    claim('encoder.width', encoder.width, head, 1),
    claim('encoder.blocks', encoder.blocks, /^encoder\.blocks\.(\d+)\./),
    claim('encoder.hidden', encoder.hidden, /^encoder\.blocks\.0\.expand\.weight$/, 0),
    ...graphClaims(graph),
  ];
}

function graphClaims(graph: SyntheticConfig['graph'] | LanguageConfig['graph']): Claim[] {
  const { posterior, symbols, hidden, layers, symbolDimension } = graph;
  if (posterior !== 'pairs' && posterior !== 'inner') return [];
  const first = posterior === 'pairs' ? /^graph\.first\.weight$/ : /^graph\.embed\.layers\.0\.weight$/;
  const claims = [claim('graph.hidden', hidden, first, 0)];
  if (posterior === 'pairs') claims.push(claim('graph.layers', layers, /^graph\.rest\.layers\.(\d+)\./));
  if (symbols === 'learnable')
    claims.push(claim('graph.symbolDimension', symbolDimension, /^symbols\.vectors$/, 1));
  return claims;
}

/** Where walks are read by pursuit, symbols are vectors and each step has its sharpness. */
function pursuitClaims({ symbols, length, graph }: LanguageConfig | ReasoningConfig): Claim[] {
  const vectors = /^symbols\.vectors$/;
  return [
    claim('symbols', symbols, vectors, 0),
    claim('graph.symbolDimension', graph.symbolDimension, vectors, 1),
    claim('length', length, /^encoder\.sharpness$/, 0),
  ];
}

function networkClaims(config: LanguageConfig | ReasoningConfig): Claim[] {
  if (!config.baseline && config.encoder.walks === 'pursuit') return pursuitClaims(config);
  const { model, symbols, length } = config;
  // Walks over tuples have two halves, each with queries of its own.
  const [key, queries] =
    model === 'reasoning' ? (['length / 2', length / 2] as const) : (['length', length] as const);
  return [
    claim('symbols', symbols, /^encoder\.walk\.start\.weight$/, 0),
    claim(key, queries, /^encoder\.walk\.queries$/, 0),
    ...graphClaims(config.graph),
  ];
}

/** Settings of encoder and decoder, of any model of texts. */
type TextModels = LanguageConfig | ReasoningConfig | RivalConfig;

function encoderClaims({ encoder: { name, width, layers } }: Pick<TextModels, 'encoder'>): Claim[] {
  if (name !== 'transformer' && name !== 'lstm') return [];
  return [
    claim('encoder.width', width, /^encoder\.text\.embedding\.weight$/, 1),
    claim('encoder.layers', layers, /^encoder\.text\.(?:blocks|layers)\.(\d+)\./),
  ];
}

function decoderClaims({ decoder }: Pick<TextModels, 'decoder'>): Claim[] {
  const { name, width, layers, longest } = decoder;
  if (!isDecoderName(name)) {
    const rank = 'lora' in decoder ? decoder.lora?.rank : undefined;
    const adapter = /^decoder\..*\.lora_A\.weight$/;
    return rank === undefined ? [] : [claim('decoder.lora.rank', rank, adapter, 0)];
  }
  const table = /^decoder\.(?:transformer\.wte|model\.embed_tokens|model\.shared|wte)\.weight$/;
  const blocks = /^decoder\.(?:transformer\.h|model\.(?:decoder\.)?layers)\.(\d+)\./;
  const claims = [claim('decoder.width', width, table, 1)];
  if (name !== 'lstm') claims.push(claim('decoder.layers', layers, blocks));
  if (name === 'gpt2')
    claims.push(claim('decoder.longest + 2', longest + 2, /^decoder\.transformer\.wpe\.weight$/, 0));
  return claims;
}

function pathClaims({ path: { kind, hidden, width, layers, encoder } }: ReasoningConfig): Claim[] {
  const output = /^network\.output\.weight$/;
  const claims: Claim[] = [];
  if (kind === 'lstm' || kind === 'mlp') claims.push(claim('path.hidden', hidden, output, 1));
  if (kind === 'transformer')
    claims.push(
      claim('path.width', width, output, 1),
      claim('path.layers', layers, /^network\.blocks\.(\d+)\./),
    );
  if (encoder.name === 'transformer' && kind !== 'mlp')
    claims.push(
      claim('path.encoder.width', encoder.width, /^text\.embedding\.weight$/, 1),
      claim('path.encoder.layers', encoder.layers, /^text\.blocks\.(\d+)\./),
    );
  return claims;
}

/** Of the decoder's config.json, which run.json keeps; settings that are no decoder's are refused when it is made. */
function recordedClaims(record: unknown): Claim[] {
  const { decoder } = (record ?? {}) as { decoder?: unknown };
  const { model_type = 'gpt2' } = (decoder ?? {}) as { model_type?: unknown };
  const name = String(model_type);
  const claims = isDecoderName(name) ? configClaims(name, decoder) : [];
  return claims.map(({ key, tensor, ...claim }) => ({
    ...claim,
    key: `decoder.${key}`,
    tensor: new RegExp(tensor.source.replace('^', '^decoder\\.')),
  }));
}
