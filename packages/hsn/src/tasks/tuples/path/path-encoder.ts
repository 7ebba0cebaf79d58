import { UserError } from '@hidden-schema/base';
import { idsTensor, type PaddedIds, rowsOfPadded } from '@hidden-schema/text/text-batches';
import { cat, full, type Generator, noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers/pretrained';
import { StateCache } from '@hidden-schema/transformers/state-cache';
import { maskOfLengths, type TextEncoder, TransformerText } from '@hidden-schema/transformers/text-encoder';
import type { ReasoningConfig } from '../../../config/tuples.ts';
import { vectorRows } from '../../../discovery/vectors/text-vectors.ts';
import type { Tokenizers } from '../../language/build.ts';
import { withRelationRows } from '../relation-rows.ts';
import { type TupleTokens, withRelations } from '../tokens.ts';
import type { TupleWalks } from '../walks.ts';
import type { PathContext } from './path-model.ts';

/** What path networks see of (s, r) beside the first half of its walk. */
export interface PathContexts {
  /** D of the states. */
  readonly width: number;
  /** The encoder where it is trained along. */
  readonly trained: TextEncoder | undefined;
  of(rows: Int32Array, tokens: TupleTokens): PathContext;
  free(): void;
}

/** Megabytes of a frozen encoder's states of (s, r) that are kept. */
const keptStates = 1000;

/** Opens what a path model's settings name: vectors of event and relation for mlp, else a second encoder of (s, r). */
export async function openPathContext(
  config: ReasoningConfig,
  { tokenizers, relations }: { tokenizers: Tokenizers; relations: readonly string[] },
  walks: TupleWalks,
  generator: Generator,
): Promise<PathContexts> {
  if (config.path.kind === 'mlp') return new VectorContexts(walks);
  return new EncodedContexts(await openPrefixEncoder(config, tokenizers, relations, generator), walks.tokens);
}

/** A second encoder: left as it is, or trained along. */
interface PrefixEncoder {
  text: TextEncoder;
  frozen: boolean;
}

/** Opens it by name; it reads the tokens of the network's own encoder, so that tuples are tokenised once. */
async function openPrefixEncoder(
  { path }: ReasoningConfig,
  tokenizers: Tokenizers,
  relations: readonly string[],
  generator: Generator,
): Promise<PrefixEncoder> {
  const { name, frozen, width, layers, heads } = path.encoder;
  if (name === 'transformer') {
    const sizes = { vocabulary: tokenizers.encoder.vocabulary, width, layers, heads, hidden: 4 * width };
    return { text: new TransformerText({ ...sizes, positions: 512, dropout: 0 }, generator), frozen: false };
  }
  const opened = await openPretrainedEncoder(name);
  const same = withRelations(opened.tokenizer, relations).hash === tokenizers.encoder.hash;
  if (!same)
    throw new UserError(
      `path.encoder.name: ${name} has another vocabulary than the network's encoder; name the same one, or transformer`,
    );
  const text = await withRelationRows(opened.encoder, opened.tokenizer, relations);
  for (const [, tensor] of text.namedTensors()) tensor.requireGrad(!frozen);
  return { text: text.train(!frozen), frozen };
}

/** States of (s, r) by a second encoder; those of the network's own tuples are kept where it is frozen. */
class EncodedContexts implements PathContexts {
  readonly #encoder: PrefixEncoder;
  readonly #known: TupleTokens;
  readonly #cache: StateCache | undefined;

  constructor(encoder: PrefixEncoder, known: TupleTokens) {
    this.#encoder = encoder;
    this.#known = known;
    if (encoder.frozen) this.#cache = new StateCache(encoder.text.width, keptStates);
  }

  get width(): number {
    return this.#encoder.text.width;
  }

  get trained(): TextEncoder | undefined {
    return this.#encoder.frozen ? undefined : this.#encoder.text;
  }

  of(rows: Int32Array, tokens: TupleTokens): PathContext {
    const ids = tokens.prefix(rows);
    const mask = maskOfLengths(ids.lengths, ids.width);
    // Tokens of another table have row numbers of their own.
    if (!this.#cache || tokens !== this.#known) return { hidden: this.#states(ids), mask };
    const { table } = tokens;
    const prefixes = rows.map((row) => table.head[row]! * table.relations.length + table.relation[row]!);
    return { hidden: this.#cache.states(prefixes, ids, (some) => this.#states(some)), mask };
  }

  /** The encoder's outputs for (s, r); constants where it is frozen. */
  #states(ids: PaddedIds): Tensor {
    const { text, frozen } = this.#encoder;
    const read = (): Tensor => text.hidden(idsTensor(ids), maskOfLengths(ids.lengths, ids.width));
    return frozen ? noGrad(() => scope(read)) : read();
  }

  free(): void {
    if (this.#encoder.frozen) this.#encoder.text.free();
  }
}

/** Unit vectors of event and relation side by side, as one state of (s, r), with components of about 1. [B, 1, 2·D] */
class VectorContexts implements PathContexts {
  readonly trained = undefined;
  readonly #walks: TupleWalks;

  constructor(walks: TupleWalks) {
    this.#walks = walks;
  }

  get width(): number {
    return 2 * this.#walks.model.encoder.base.width;
  }

  of(rows: Int32Array, tokens: TupleTokens): PathContext {
    const { base, frozen } = this.#walks.model.encoder;
    const read = (ids: PaddedIds) => vectorRows(base, rowsOfPadded(ids), frozen);
    const hidden = noGrad(() =>
      scope(() =>
        cat([read(tokens.events(rows)), read(tokens.relationsAlone(rows))], 1)
          .mul(Math.sqrt(base.width))
          .unsqueeze(1),
      ),
    );
    return { hidden, mask: full([rows.length, 1], 1) };
  }

  /** The network's own encoder is not this one's to free. */
  free(): void {}
}
