import { UserError } from '@hidden-schema/base';
import type { TextCorpus } from '@hidden-schema/text/corpus';
import { textKey } from '@hidden-schema/text/text-keys';
import { call, scope, Tensor, withoutGrad } from '@hidden-schema/torch';
import type { LanguageConfig } from '../config/language.ts';
import { countLikelyLinks } from '../graph/likely.ts';
import type { HiddenSchemaNetwork, ModelSpec } from '../model.ts';
import { Replicas } from '../train/replicas.ts';
import type { PreparationWatch } from '../train/task.ts';
import { type Discovered, freeDiscovered, type WalkCounts, walkCounts } from './encode.ts';
import { DiscoveryStage, type FittedDictionary, type FittedSymbols, fitDictionary } from './fit.ts';
import { type DiscoveryOptions, discoveryOptions } from './options.ts';
import type { Passages } from './passages.ts';
import { ownPart } from './point-source.ts';
import { fitSharedSpace } from './point-space.ts';
import { columnsOf, type PointSpace, pieceCounts, type SparseRows, toPoints } from './points.ts';
import type { PursuitEncoder } from './pursuit-encoder.ts';
import { RowSpool, SparseSpool } from './scratch.ts';
import { type Seed, type SeedMatches, seedDirections } from './seeds.ts';
import { CorpusPoints, type PassageVectors } from './vectors/corpus-vectors.ts';
import type { VectorRows } from './vectors/vector-file.ts';
import { followWords } from './word-following.ts';

// Shapes: N training texts, L steps, K symbols.

/** What a corpus is discovered from beside its tokens. */
export interface DiscoveryInputs extends PassageVectors {
  /** The encoder's pieces of words that are counted. */
  pieces: Int32Array;
  /** Symbols that are asked for by name and words; they have the first numbers. */
  seeds: readonly Seed[];
  /** Passages with the words of seeds; nothing where there are no seeds. */
  seedMatches: SeedMatches | undefined;
}

type CheckedConfig = Pick<LanguageConfig, 'symbols' | 'length' | 'seed' | 'encoder' | 'graph' | 'walk'> & {
  discovery: FitSettings & Partial<Pick<LanguageConfig['discovery'], 'follow' | 'wordWeight' | 'passages'>>;
};

/** Settings that symbols are found with. */
type FitSettings = Pick<
  LanguageConfig['discovery'],
  'density' | 'neighbours' | 'diffusionSteps' | 'falseDiscoveryRate'
>;

/** Refuses, before anything is encoded, what no symbols can be found in. */
export function checkDiscovery(config: CheckedConfig, texts: number): void {
  const { symbols, encoder, graph, walk, discovery } = config;
  if (encoder.name === 'transformer' || encoder.name === 'lstm' || !encoder.frozen)
    throw new UserError(
      'encoder.walks: pursuit reads walks in the space of a pretrained encoder that stays as it is; name one with encoder.frozen: true, or take encoder.walks: queries',
    );
  if (graph.posterior !== 'free' || graph.symbols !== 'learnable' || graph.selfLoops !== walk.stays)
    throw new UserError(
      'encoder.walks: pursuit needs graph.posterior: free and graph.symbols: learnable, and graph.selfLoops where walk.stays is true',
    );
  if (discovery.follow === 'words' && discovery.wordWeight === 0)
    throw new UserError(
      'discovery.follow: words needs the words of texts, and discovery.wordWeight is 0; leave it out, or take discovery.follow: rest',
    );
  if (discovery.passages && (discovery.follow === 'words' || !walk.stays))
    throw new UserError(
      'discovery.passages needs walks that follow what is left of a text and may end early; take discovery.follow: rest and walk.stays: true, or discovery.passages: false',
    );
  discoveryOptions(fitOptions(config));
  if (texts < symbols) throw tooFewTexts(symbols, texts, 'training texts');
}

/** Refuses fewer different training texts than symbols: equal ones are one point. */
export function checkDifferent({ store, splits: { train } }: TextCorpus, symbols: number): void {
  const different = new Set<bigint>();
  for (const row of train) {
    different.add(textKey(store.row(row).hash));
    if (different.size >= symbols) return;
  }
  throw tooFewTexts(symbols, different.size, `different texts among the ${train.length} that train`);
}

function tooFewTexts(symbols: number, texts: number, what: string): UserError {
  const ask = Math.max(2, Math.round(Math.sqrt(texts)));
  const fewer =
    texts < 2 ? 'at least 2 are needed' : `at most ${texts} symbols can be found, such as --symbols ${ask}`;
  return new UserError(
    `${symbols} symbols need at least as many texts, got ${texts} ${what}: ${fewer}; or give more texts`,
  );
}

/** What is discovered from and for: the corpus, its settings, and the network that takes in what is found. */
export interface DiscoveryTarget {
  readonly config: LanguageConfig;
  readonly corpus: TextCorpus;
  readonly model: Network & { readonly encoder: object };
}

/** The first stage: finds symbols and graph in the encoder's space and hands them to the network, without a decoder. */
export class Discovery extends DiscoveryStage {
  /** Each process reads its part of the texts. */
  readonly together = true;
  readonly #training: DiscoveryTarget;
  readonly #inputs: DiscoveryInputs;
  readonly #replicas: Replicas;

  constructor(training: DiscoveryTarget, inputs: DiscoveryInputs, replicas: Replicas) {
    super();
    this.#training = training;
    this.#inputs = inputs;
    this.#replicas = replicas;
  }

  /** All stages at once: what is stopped on the way begins again. */
  async advance({ signal, onPart }: PreparationWatch): Promise<Record<string, number>> {
    const { config, corpus, model } = this.#training;
    const { pieces, seedMatches, passages } = this.#inputs;
    const replicas = this.#replicas;
    const { space, points } = trainingPoints(config, corpus, this.#inputs, replicas);
    let fitted: FittedDictionary | undefined;
    const directions = seedMatches && seedDirections(seedMatches, points, replicas);
    try {
      fitted = await fitDictionary(points, {
        ...fitOptions(config),
        ...(directions ? { seeds: directions } : {}),
        ...(signal ? { signal } : {}),
        replicas,
        onStage: ({ done, stage, ...figures }) => onPart(done, figures),
      });
      const encoder = model.encoder as PursuitEncoder;
      const { discovered, explained } = fitted;
      encoder.place(space, pieces);
      encoder.placeStanding(discovered);
      const rows = corpus.splits.train;
      const followed = passages.countsOf(rows)
        ? await this.#joined(encoder, discovered)
        : encoder.steps && followWords(encoder, discovered, { corpus, points, replicas });
      const counts = followed?.counts ?? walkCounts(discovered, points, replicas);
      adopt(model, { ...discovered, ...followed }, counts);
      followed?.linkProbabilities.free();
      this.finish();
      return { explained, links: countLikelyLinks(model.graph.links().matrix()) };
    } finally {
      points.free();
      directions?.free();
      if (fitted) freeDiscovered(fitted.discovered);
    }
  }

  /** The graph of whole texts, of which few corpora have several passages. */
  async #joined(encoder: PursuitEncoder, discovered: FittedDictionary['discovered']) {
    const { joinedGraph } = await import('./joined-graph.ts');
    const placed = new CorpusPoints(encoder, this.#inputs);
    const rows = this.#training.corpus.splits.train;
    return joinedGraph(discovered, { placed, rows, replicas: this.#replicas });
  }
}

/** The passages of the training texts, as they are read. */
export function* trainingTexts(
  { splits }: Pick<TextCorpus, 'splits'>,
  passages: Passages,
): Generator<string> {
  for (const passage of passages.rowsOf(splits.train)) yield passages.text(passage);
}

/** Passages that become points together: a whole number of blocks. */
const placedAtOnce = 16_384;

/** This process's passages of training texts as points, and the space that all of them make. */
export function trainingPoints(
  config: Pick<LanguageConfig, 'seed' | 'discovery'>,
  { splits }: Pick<TextCorpus, 'splits'>,
  { vectors, passages, pieces }: Pick<DiscoveryInputs, 'vectors' | 'passages' | 'pieces'>,
  replicas = Replicas.alone,
): { space: PointSpace; points: RowSpool } {
  const all = passages.rowsOf(splits.train);
  const count = all.length;
  const part = ownPart(count, replicas);
  const blocks: Int32Array[] = [];
  for (let first = part.first; first < part.end; first += placedAtOnce)
    blocks.push(all.subarray(first, Math.min(first + placedAtOnce, part.end)));
  const spool = pieces.length > 0 ? new SparseSpool() : undefined;
  const columns = columnsOf(pieces);
  for (const rows of blocks) spool?.add(pieceCounts(passages.tokens(rows), columns));
  const { wordWeight } = config.discovery;
  const words = spool && { columns: columns.size, texts: count, blocks: () => spool.blocks() };
  try {
    const given = { count, width: vectors.width, vectors: () => vectorBlocks(vectors, blocks), words };
    const space = fitSharedSpace(given, { seed: config.seed, wordWeight }, replicas);
    const width = vectors.width + (space.words?.mean.dim(0) ?? 0);
    const points = new RowSpool({ count, width, ...part });
    const counted = spool?.blocks();
    for (const own of vectorBlocks(vectors, blocks))
      scope(() => points.add(toPoints(space, own, counted?.next().value as SparseRows | undefined)));
    return { space, points };
  } finally {
    spool?.free();
  }
}

/** Vectors of some rows after the other; each is freed when the next is asked for. */
function* vectorBlocks(vectors: VectorRows, blocks: readonly Int32Array[]): Generator<Tensor> {
  for (const rows of blocks) {
    const own = vectors.rows(rows);
    yield own;
    own.free();
  }
}

/** The settings of a run that its symbols are found with. */
export function fitOptions(
  config: Pick<LanguageConfig, 'symbols' | 'length' | 'seed'> & {
    walk: Pick<LanguageConfig['walk'], 'stays'>;
    discovery: FitSettings;
  },
): Partial<DiscoveryOptions> {
  const { density, neighbours, diffusionSteps, falseDiscoveryRate } = config.discovery;
  const { symbols, length, seed, walk } = config;
  const found = { density, neighbours, diffusionSteps, falseDiscoveryRate };
  return { symbols, length, seed, stays: walk.stays, ...found };
}

/** What of a network is set by discovery. */
type Network = Pick<HiddenSchemaNetwork<ModelSpec>, 'symbols' | 'graph' | 'walkPrior' | 'shape'>;

/** Gives the network what was found: symbols, log-odds of links, and a prior that expects the walks there are. */
export function adopt(
  model: Network,
  discovered: Pick<Discovered, 'symbols' | 'linkProbabilities'>,
  counts: Pick<WalkCounts, 'steps' | 'stays'>,
): void {
  withoutGrad(() => {
    model.symbols.vectors!.copy_(discovered.symbols);
    const { graph, walkPrior } = model;
    graph.adopt(discovered.linkProbabilities);
    const { steps, stays } = counts;
    walkPrior.start?.copy_(logShares(steps[0]!));
    const rows = Math.min(walkPrior.weights?.dim(0) ?? 0, steps.length - 1);
    for (let i = 0; i < rows; i++) {
      const [at, stayed] = [steps[i + 1]!, stays[i + 1]!];
      const arrivals = walkPrior.stays ? logShares(at.map((count, k) => count - stayed[k]!)) : logShares(at);
      walkPrior.weights!.select(0, i).copy_(arrivals);
      const before = { at: steps[i]!, stayed, links: graph.links().matrix() };
      walkPrior.stays?.select(0, i).copy_(stayWeights(arrivals, before));
    }
  });
}

/**
 * s for which a walk on symbol j stays as often as walks do: e^s_j f_j A_jj / Σ_k f_k A_jk = λ/(1 − λ) over other symbols k,
 * λ being the share of those at j that stay, half a text added to either. [K]
 */
function stayWeights(
  logs: Tensor,
  { at, stayed, links }: { at: Float64Array; stayed: Float64Array; links: Tensor },
): Tensor {
  const odds = Float32Array.from(stayed, (count, j) => Math.log((count + 0.5) / (at[j]! - count + 0.5)));
  const own = call('diagonal', links, 0, 0, 1);
  const away = links.matmul(logs.exp().unsqueeze(1)).squeeze(1).sub(own.mul(logs.exp()));
  return Tensor.fromArray(odds, [odds.length]).add(away.clamp(1e-12).log()).sub(logs).sub(own.log());
}

/** log of the share of walks that are on each symbol at a step, every symbol counted once more. [K] */
function logShares(counts: ArrayLike<number>): Tensor {
  const symbols = counts.length;
  const texts = Array.from(counts).reduce((sum, count) => sum + count, 0);
  const logs = Float32Array.from(counts, (count) => Math.log((count + 1) / (texts + symbols)));
  return Tensor.fromArray(logs, [symbols]);
}

/** Frees what was found. */
export function release({ discovered, encoded }: FittedSymbols): void {
  freeDiscovered(discovered);
  for (const tensor of Object.values(encoded) as Tensor[]) tensor.free();
}
