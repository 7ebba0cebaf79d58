import { UserError } from '@hidden-schema/base';
import type { TextCorpus } from '@hidden-schema/text';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import type { LanguageConfig } from '../../config/language.ts';
import type { Discovered } from '../../discovery/encode.ts';
import { type FittedSymbols, fitSymbols } from '../../discovery/fit.ts';
import { type DiscoveryOptions, discoveryOptions } from '../../discovery/options.ts';
import { columnsOf, pieceCounts } from '../../discovery/pieces.ts';
import { fitPointSpace, type PointSpace, pointDefaults, toPoints } from '../../discovery/point-space.ts';
import type { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import type { PreparationWatch } from '../../train/task.ts';
import { DiscoveryStage } from '../discovery-stage.ts';
import type { DiscoverySizes } from './build.ts';
import { storedTokens, vectorRows } from './corpus-vectors.ts';
import { type Seed, seedDirections } from './seeds.ts';
import type { LanguageTraining } from './training.ts';

// Shapes: N training texts, L steps, K symbols.

/** Whether walks are read by pursuit; a baseline has none. */
export const pursues = (config: Pick<LanguageConfig, 'baseline' | 'encoder'>): boolean =>
  !config.baseline && config.encoder.walks === 'pursuit';

/** What a corpus is discovered from beside its tokens. */
export interface DiscoveryInputs {
  /** Of all texts, by row. [N, D] */
  vectors: Tensor;
  /** The encoder's pieces of words that are counted. */
  pieces: Int32Array;
  /** Symbols that are asked for by name and words; they have the first numbers. */
  seeds: readonly Seed[];
}

type CheckedConfig = Pick<LanguageConfig, 'symbols' | 'length' | 'seed' | 'encoder' | 'graph'> & {
  discovery: Pick<LanguageConfig['discovery'], 'density'>;
};

/** Refuses, before anything is encoded, what no symbols can be found in. */
export function checkDiscovery(config: CheckedConfig, texts: number): void {
  const { symbols, length, seed, encoder, graph, discovery } = config;
  if (encoder.name === 'transformer' || encoder.name === 'lstm' || !encoder.frozen)
    throw new UserError(
      'encoder.walks: pursuit reads walks in the space of a pretrained encoder that stays as it is; name one with encoder.frozen: true, or take encoder.walks: queries',
    );
  if (graph.posterior !== 'free' || graph.symbols !== 'learnable' || graph.selfLoops)
    throw new UserError(
      'encoder.walks: pursuit needs graph.posterior: free, graph.symbols: learnable and graph.selfLoops: false',
    );
  discoveryOptions({ symbols, length, seed, density: discovery.density });
  if (texts < symbols)
    throw new UserError(
      `${symbols} symbols need at least as many training texts, got ${texts}; ask for fewer with --symbols, or give more texts`,
    );
}

/** Symbols as wide as the points they are found among. */
export function inSpace<C extends { graph: { symbolDimension: number } }>(
  config: C,
  symbolDimension: number,
): C {
  return { ...config, graph: { ...config.graph, symbolDimension } };
}

/** Sizes of the space that a corpus is discovered in. */
export function discoverySizes(pieces: number, texts: number): DiscoverySizes {
  return { pieces, dimensions: Math.min(pointDefaults.wordDimensions, pieces, texts) };
}

/** The first stage: finds symbols and graph in the encoder's space and hands them to the network, without a decoder. */
export class Discovery extends DiscoveryStage {
  readonly #training: LanguageTraining;
  readonly #inputs: DiscoveryInputs;

  constructor(training: LanguageTraining, inputs: DiscoveryInputs) {
    super(training.config.length);
    this.#training = training;
    this.#inputs = inputs;
  }

  /** All sweeps at once, in seconds: what is stopped on the way begins again. */
  async advance({ signal, onPart }: PreparationWatch): Promise<Record<string, number>> {
    const { config, corpus, model } = this.#training;
    const { pieces, seeds } = this.#inputs;
    const { space, points } = trainingPoints(config, corpus, this.#inputs);
    let fitted: FittedSymbols | undefined;
    const directions = seeds.length > 0 ? seedDirections(seeds, corpus, points) : undefined;
    try {
      fitted = await fitSymbols(points, {
        ...fitOptions(config),
        ...(directions ? { seeds: directions } : {}),
        ...(signal ? { signal } : {}),
        onSweep: ({ sweep, explained, restarted, links }) => onPart(sweep, { explained, restarted, links }),
      });
      (model.encoder as PursuitEncoder).place(space, pieces);
      adopt(model, fitted.discovered, fitted.encoded.walks);
      this.finish();
      return { explained: fitted.sweeps.at(-1)!.explained, links: fitted.sweeps.at(-1)!.links };
    } finally {
      points.free();
      directions?.free();
      if (fitted) release(fitted);
    }
  }
}

/** The training texts of a corpus as points, and the space that they make. [N, S] */
export function trainingPoints(
  config: Pick<LanguageConfig, 'seed' | 'discovery'>,
  { store, splits }: Pick<TextCorpus, 'store' | 'splits'>,
  { vectors, pieces }: Pick<DiscoveryInputs, 'vectors' | 'pieces'>,
): { space: PointSpace; points: Tensor } {
  const own = scope(() => vectorRows(vectors, splits.train));
  const counts =
    pieces.length > 0 ? pieceCounts(storedTokens(store, splits.train), columnsOf(pieces)) : undefined;
  const { wordWeight } = config.discovery;
  const space = fitPointSpace(own, counts, { seed: config.seed, wordWeight });
  const points = toPoints(space, own, counts);
  own.free();
  return { space, points };
}

/** The settings of a run that its symbols are found with. */
export function fitOptions({ symbols, length, seed, discovery }: LanguageConfig): Partial<DiscoveryOptions> {
  return { symbols, length, seed, density: discovery.density };
}

/** What of a network is set by discovery. */
type Network = Pick<LanguageTraining['model'], 'symbols' | 'graph' | 'walkPrior' | 'shape'>;

/** Gives the network what was found: symbols, log-odds of links, and a prior that expects the walks [N, L] there are. */
export function adopt(
  model: Network,
  discovered: Pick<Discovered, 'symbols' | 'linkProbabilities'>,
  walks: Tensor,
): void {
  noGrad(() =>
    scope(() => {
      model.symbols.vectors!.copy_(discovered.symbols);
      const { graph, walkPrior } = model;
      graph.adopt(discovered.linkProbabilities);
      const [start, ...later] = logShares(walks, model.shape.symbols);
      walkPrior.start?.copy_(start!);
      for (let i = 0; i < Math.min(walkPrior.weights?.dim(0) ?? 0, later.length); i++)
        walkPrior.weights!.select(0, i).copy_(later[i]!);
    }),
  );
}

/** log of the share of walks that are on each symbol at each step, every symbol counted once more. L tensors [K] */
function logShares(walks: Tensor, symbols: number): Tensor[] {
  const [texts, length] = walks.shape as [number, number];
  const nodes = walks.toNumbers();
  return Array.from({ length }, (_, step) => {
    const counts = new Float32Array(symbols).fill(1);
    for (let text = 0; text < texts; text++) counts[nodes[text * length + step]!]!++;
    return Tensor.fromArray(
      counts.map((count) => Math.log(count / (texts + symbols))),
      [symbols],
    );
  });
}

/** Frees what was found. */
export function release({ discovered, encoded }: FittedSymbols): void {
  discovered.symbols.free();
  discovered.linkProbabilities.free();
  for (const tensor of Object.values(encoded) as Tensor[]) tensor.free();
}
