import { UserError } from '@hidden-schema/base';
import type { TextCorpus } from '@hidden-schema/text';
import { type LanguageConfig, usesPursuit } from '../config/language.ts';
import { Replicas } from '../train/replicas.ts';
import type { SymbolChoice } from './choose.ts';
import { Passages } from './passages.ts';
import { ownPart } from './point-source.ts';
import { tellingPieces } from './points.ts';
import { type Seed, SeedMatches } from './seeds.ts';
import {
  checkDifferent,
  checkDiscovery,
  type DiscoveryInputs,
  trainingPoints,
  trainingTexts,
} from './text-discovery.ts';
import { corpusVectors } from './vectors/corpus-vectors.ts';
import type { OpenedEncoder } from './vectors/text-vectors.ts';

/** What symbols are asked for, and who is told while texts become vectors. */
export interface DiscoveryAsked {
  /** Symbols that are asked for by name and words. */
  seeds?: readonly Seed[] | undefined;
  /** Whether as many symbols are looked for as the texts fall into; `symbols` of the settings stands aside. */
  chooseSymbols?: boolean;
  /** The processes that encode and discover together; this one alone unless given. */
  replicas?: Replicas | undefined;
  cache?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Hears of texts that become vectors, and where those came from. */
  onVectors?: ((done: number, total: number) => void) | undefined;
  onNote?: ((text: string) => void) | undefined;
}

/** The texts' vectors and telling pieces, from which symbols are found. */
export async function discoveryInputs(
  config: LanguageConfig,
  corpus: TextCorpus,
  opened: OpenedEncoder,
  { cache, signal, onVectors, onNote, seeds = [], replicas = Replicas.alone }: DiscoveryAsked,
): Promise<DiscoveryInputs> {
  const { store, splits } = corpus;
  checkDiscovery(config, splits.train.length);
  checkDifferent(corpus, config.symbols);
  const { longest } = config.encoder;
  const passages = await Passages.of(store, opened, { longest, cut: config.discovery.passages, signal });
  const seedMatches =
    seeds.length > 0 ? new SeedMatches(seeds, trainingTexts(corpus, passages)).check() : undefined;
  const all = passages.rowsOf(splits.train);
  const part = ownPart(all.length, replicas);
  const own = passages.tokens(all.subarray(part.first, part.end));
  const shared = { replicas, vocabulary: opened.tokenizer.vocabulary };
  const pieces = config.discovery.wordWeight > 0 ? tellingPieces(own, shared) : [];
  if (config.discovery.follow === 'words' && pieces.length === 0)
    throw new UserError(
      'discovery.follow: words needs words that several texts share and not all of them, and these have none; give more texts, or take discovery.follow: rest',
    );
  const vectors = await corpusVectors(store, passages, opened, {
    ...{ longest, replicas, cache, signal, onNote, onProgress: onVectors },
  });
  return { vectors, passages, pieces: Int32Array.from(pieces), seeds, seedMatches };
}

/** Refuses what only discovery can do, and seeds that there are too few symbols for. */
export function checkPursuitOptions(
  config: LanguageConfig,
  { seeds = [], chooseSymbols }: DiscoveryAsked,
): void {
  if (!usesPursuit(config) && (seeds.length > 0 || chooseSymbols))
    throw new UserError(
      `${seeds.length > 0 ? 'seeds are' : 'the number of symbols is'} for symbols that are discovered; leave encoder.walks and baseline as they are by default`,
    );
  if (!usesPursuit(config) && config.discovery.passages)
    throw new UserError(
      'discovery.passages is for symbols that are discovered; take encoder.walks: pursuit, or leave it out',
    );
  if (!usesPursuit(config) && config.encoder.precision !== 'float32')
    throw new UserError(
      `encoder.precision: ${config.encoder.precision} is for symbols that are discovered; take encoder.walks: pursuit, or float32`,
    );
  if (seeds.length > config.symbols)
    throw new UserError(
      `${seeds.length} seeds need as many symbols, got ${config.symbols}; ask for more with --symbols`,
    );
}

/** One for each step of a walk, and for each seed. */
export const fewestSymbols = ({ length }: LanguageConfig, { seeds = [] }: DiscoveryAsked): number =>
  Math.max(2, length, seeds.length);

/** As many symbols as the training texts fall into. */
export async function chosenSymbols(
  config: LanguageConfig,
  corpus: TextCorpus,
  inputs: DiscoveryInputs,
  replicas = Replicas.alone,
): Promise<SymbolChoice> {
  const { chooseSymbols } = await import('./choose.ts');
  const { points } = trainingPoints(config, corpus, inputs, replicas);
  try {
    return chooseSymbols(points, { seed: config.seed, fewest: config.symbols, replicas });
  } finally {
    points.free();
  }
}
