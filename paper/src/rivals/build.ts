import { UserError } from '@hidden-schema/base/errors';
import type { RivalConfig } from '@hidden-schema/hsn/config/rivals';
import { type DecoderSource, decoderReading } from '@hidden-schema/hsn/tasks/language/build';
import { Generator } from '@hidden-schema/torch/random';
import type { SymbolOptions } from '@hidden-schema/transformers/symbol-attention';
import type { TextEncoder } from '@hidden-schema/transformers/text-encoder';
import { Ivae } from './ivae.ts';
import { Optimus } from './optimus.ts';
import type { Rival } from './rival.ts';
import { Vq } from './vq.ts';

/** What a rival is made of beside its settings. */
interface RivalSources {
  encoder: TextEncoder;
  frozen: boolean;
  decoderVocabulary: number;
  decoder: DecoderSource;
}

/** How the decoder reads a latent: numbers in one place, or the vectors of codes in several. */
function latentOptions(config: RivalConfig): SymbolOptions {
  const { symbolDeviation: deviation } = config.decoder;
  if (config.model === 'vq')
    return { symbols: config.code, vectors: true, positionScale: config.decoder.symbolPositions, deviation };
  const reading = config.model === 'ivae' ? 'embedding' : readings[config.injection];
  return { symbols: config.latent, vectors: true, positions: false, deviation, reading };
}

const readings = { memory: 'attention', embedding: 'embedding', both: 'both' } as const;

/** A rival from its settings, encoder and vocabularies, with weights as drawn by the seed. */
export function makeRival(
  config: RivalConfig,
  { encoder: text, frozen, decoderVocabulary: vocabulary, decoder: source }: RivalSources,
  generator: Generator = new Generator(config.seed),
): Rival {
  const reads = { vocabulary, symbols: latentOptions(config) };
  const decoder = decoderReading(config.decoder, reads, generator, source);
  const parts = { text, frozen, decoder };
  if (config.model === 'optimus') return new Optimus(config, parts, generator);
  return config.model === 'ivae' ? new Ivae(config, parts, generator) : new Vq(config, parts, generator);
}

/** Refuses what several processes cannot do alike. */
export function checkRivalProcesses(config: RivalConfig, processes: number): void {
  if (processes > 1 && config.model === 'vq' && config.codebook === 'ema' && config.restart > 0)
    throw new UserError(
      'codes that begin again are drawn from one batch, and several processes hold parts of it; set restart: 0 or codebook: loss, or train in one process',
    );
}
