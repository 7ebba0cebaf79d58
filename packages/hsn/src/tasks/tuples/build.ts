import { UserError } from '@hidden-schema/base';
import type { Frames } from '@hidden-schema/text/text-batches';
import { loadTokenizer, type Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { Generator } from '@hidden-schema/torch';
import { BertEncoder } from '@hidden-schema/transformers/bert';
import type { LanguageDecoder } from '@hidden-schema/transformers/language-decoder';
import type { TextEncoder } from '@hidden-schema/transformers/text-encoder';
import { heldByWarmStart, usesPursuit } from '../../config/language.ts';
import type { ReasoningConfig } from '../../config/tuples.ts';
import { HiddenSchemaNetwork } from '../../model.ts';
import {
  type DecoderOrigin,
  decoderSource,
  framesOf,
  makeDecoder,
  openTextEncoder,
  type Tokenizers,
} from '../language/build.ts';
import { TwoPartEncoder } from './encoder.ts';
import type { ReasoningNetwork, TupleKind } from './network.ts';
import { decoderWithRelations, withRelationRows } from './relation-rows.ts';
import { TupleTokens, withRelations } from './tokens.ts';
import type { TupleTable } from './tuples.ts';
import { TwoPartPursuit } from './two-part-pursuit.ts';

/** A text encoder that knows the relations' tokens. */
export interface RelationEncoder {
  encoder: TextEncoder;
  tokenizer: Tokenizer;
  frozen: boolean;
  /** Of the tokenizer before relations were added: what a run notes. */
  hash: string;
}

/** Opens the encoder that settings name and adds the relations to it; `decoder` has them already. */
export async function openRelationEncoder(
  config: ReasoningConfig,
  relations: readonly string[],
  decoder: Tokenizer,
  generator: Generator,
): Promise<RelationEncoder> {
  const { encoder, tokenizer, frozen } = await openTextEncoder(config, decoder, generator);
  const known = withRelations(tokenizer, relations);
  if (encoder.tokenTable && !(encoder instanceof BertEncoder))
    throw new UserError(
      `encoder.name: ${config.encoder.name} has no rows for relations; name a BERT or an MPNet, or transformer`,
    );
  if (!(encoder instanceof BertEncoder)) return { encoder, tokenizer: known, frozen, hash: tokenizer.hash };
  const extended = await withRelationRows(encoder, tokenizer, relations);
  return { encoder: extended, tokenizer: known, frozen, hash: tokenizer.hash };
}

/** Where a decoder that is not made from the settings alone comes from; a pretrained one has no relations yet. */
type TupleDecoderSource =
  | { config: Record<string, unknown> }
  | { folder: string; relations: readonly string[] };

/** A network over tuples from its settings, encoder and vocabularies, with weights as drawn by the seed. */
export async function makeReasoning(
  config: ReasoningConfig,
  parts: { encoder: TextEncoder; frozen: boolean; decoderVocabulary: number; tuples: number } & {
    decoder?: TupleDecoderSource;
  },
  generator: Generator = new Generator(config.seed),
): Promise<ReasoningNetwork> {
  const { symbols, length } = config;
  const encoder = walkEncoder(config, parts, generator);
  const decoder = await decoderOf(config, parts.decoderVocabulary, generator, parts.decoder);
  // Relations keep the embeddings of their meanings; the adapters learn what follows them.
  const { lora } = config.decoder;
  if (lora) (await import('@hidden-schema/transformers/lora')).addLora(decoder, lora, generator);
  const { discovery, training, warmStart } = config;
  const hold = usesPursuit(config) ? (discovery.hold ?? training.steps) : heldByWarmStart(warmStart);
  const sizes = { symbols, length, sentences: parts.tuples, hold };
  return new HiddenSchemaNetwork<TupleKind>(config, { encoder, decoder, ...sizes }, generator);
}

function walkEncoder(
  config: ReasoningConfig,
  { encoder, frozen }: { encoder: TextEncoder; frozen: boolean },
  generator: Generator,
): TwoPartEncoder | TwoPartPursuit {
  const { symbols, length, discovery } = config;
  if (usesPursuit(config)) {
    const standing = config.walk.stays ? symbols : undefined;
    return new TwoPartPursuit(encoder, { length, sharpness: discovery.sharpness, standing });
  }
  const { dropout, sharpness } = config.encoder;
  return new TwoPartEncoder(encoder, { symbols, length, dropout, sharpness, frozen }, generator);
}

async function decoderOf(
  config: ReasoningConfig,
  vocabulary: number,
  generator: Generator,
  source?: TupleDecoderSource,
): Promise<LanguageDecoder> {
  const from = source && 'folder' in source ? { folder: source.folder } : source;
  const code = await decoderSource(config, from);
  const make = (from?: DecoderOrigin) => makeDecoder(config, vocabulary, generator, { ...code, ...from });
  if (!source || 'config' in source) return make();
  const { folder, relations } = source;
  return decoderWithRelations(make(), loadTokenizer(folder), relations, (own) => make({ config: own }));
}

export const tupleFrames = (tokenizers: Tokenizers): Frames => framesOf(tokenizers);

/** Tuples as tokens, no longer than the models read. */
export function tupleTokens(
  table: TupleTable,
  config: ReasoningConfig,
  tokenizers: Tokenizers,
  models: { encoder: TextEncoder; decoderPositions: number },
): Promise<TupleTokens> {
  // Start, end and, on the encoder's side, two special tokens take positions too.
  const encoder = { longest: Math.min(config.encoder.longest, models.encoder.positions) - 2 };
  const decoder = { longest: Math.min(config.decoder.longest, models.decoderPositions - 2) };
  return TupleTokens.of(table, tokenizers, tupleFrames(tokenizers), { encoder, decoder });
}
