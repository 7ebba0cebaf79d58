import { type Generator, stack, type Tensor } from '@hidden-schema/torch';
import type { LanguageDecoder } from '../decoder/index.ts';
import { maskOfLengths } from '../encoder/text-encoder.ts';
import { idsTensor, LanguageNetwork } from '../language/model.ts';
import { objective, type Terms } from '../objective/objective.ts';
import { annealedAt, betaAt } from '../objective/schedule.ts';
import type { PaddedIds } from '../text/index.ts';
import { WalkableGraph } from '../walk/index.ts';
import { asLanguage, type ReasoningConfig } from './config.ts';
import { joinedScores, type TwoPartEncoder } from './encoder.ts';

// Shapes: B tuples, T tokens, L walk steps, K symbols.

/** Tuples as the network takes them. */
export interface TupleBatch {
  rows: Int32Array;
  /** [s, r] and [s, r, o] for the encoder. */
  prefix: PaddedIds;
  whole: PaddedIds;
  /** s, r, o for the decoder, and how many of its tokens come before o. */
  decoder: PaddedIds;
  prefixes: readonly number[];
}

/** The encoder's outputs where they are known already. */
export interface KnownStates {
  prefix?: Tensor | undefined;
  whole?: Tensor | undefined;
}

/** Hidden Schema Network over tuples (Section 6, step I): the object is read into a walk and written again. */
export class ReasoningNetwork extends LanguageNetwork {
  declare readonly encoder: TwoPartEncoder;

  constructor(
    config: ReasoningConfig,
    parts: { encoder: TwoPartEncoder; decoder: LanguageDecoder; sentences: number },
    generator: Generator,
  ) {
    super(asLanguage(config), parts, generator);
  }

  /** One pass over a batch at a training step. */
  reconstruct(
    batch: TupleBatch,
    step: number,
    known: KnownStates = {},
    beta = betaAt(this.config.objective.beta, step),
  ): Terms & { tokens: number } {
    const { graph, walk } = this.config;
    const links = this.whileHeld(step, () => this.graph.links());
    const adjacency = links.sample(this.generator, {
      hard: graph.hard,
      temperature: annealedAt(graph.temperature, step),
    });
    const walkable = new WalkableGraph(adjacency, walk.isolated);
    const scores = this.whileHeld(step, () => this.tupleScores(batch, known));
    const posterior = this.posterior(scores, walkable);
    const relaxation = { hard: walk.hard, temperature: annealedAt(walk.temperature, step) };
    const schema = stack(posterior.sample(this.generator, relaxation), 1); // e_{j_1:j_L} [B, L, K]
    const { perSentence, tokens } = this.objectNll(batch, schema);
    const parts = {
      logLikelihood: perSentence.neg(),
      posterior,
      walkPrior: this.walkPrior.on(walkable),
      links,
      graphPrior: this.graphPrior,
    };
    return { ...objective(parts, beta, this.objectiveOptions(batch.rows.length)), tokens };
  }

  /** −log p(o|s, r, z) of each tuple; without a schema COMET's −log p(o|s, r). */
  objectNll(batch: TupleBatch, schema: Tensor | undefined) {
    const rate = this.config.decoder.wordDropout;
    const dropped = schema !== undefined && rate > 0 && this.training;
    return this.decoder.nll(idsTensor(batch.decoder), schema, [...batch.decoder.lengths], {
      prefix: batch.prefixes,
      ...(dropped ? { wordDropout: { rate, how: 'replace' as const, generator: this.generator } } : {}),
    });
  }

  /** h of whole walks. [B, L, K] */
  tupleScores(batch: Pick<TupleBatch, 'prefix' | 'whole'>, known: KnownStates = {}): Tensor {
    return joinedScores(
      this.firstScores(batch.prefix, known.prefix),
      this.secondScores(batch.whole, known.whole),
    );
  }

  firstScores(prefix: PaddedIds, hidden?: Tensor): Tensor {
    return this.encoder.firstScores(hidden ?? this.states(prefix), maskOf(prefix));
  }

  secondScores(whole: PaddedIds, hidden?: Tensor): Tensor {
    return this.encoder.secondScores(hidden ?? this.states(whole), maskOf(whole));
  }

  /** The shared encoder's outputs. [B, T, D] */
  states(ids: PaddedIds): Tensor {
    return this.encoder.hidden(idsTensor(ids), maskOf(ids));
  }
}

const maskOf = ({ lengths, width }: PaddedIds): Tensor => maskOfLengths(lengths, width);
