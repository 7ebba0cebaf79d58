import type { PaddedIds } from '@hidden-schema/text';
import type { LanguageDecoder } from '@hidden-schema/transformers';
import type { ReasoningConfig } from '../../config/tuples.ts';
import type { HiddenSchemaNetwork } from '../../model.ts';
import type { ReadTuples, TwoPartEncoder } from './encoder.ts';
import type { TwoPartPursuit } from './two-part-pursuit.ts';

/** Tuples as the network takes them: what the encoder reads, and s, r, o for the decoder. */
export interface TupleBatch extends ReadTuples {
  decoder: PaddedIds;
  /** How many of the decoder's tokens come before o. */
  prefixes: readonly number[];
}

/** Tuples (Section 6, step I): the object is read into a walk and written again. With `baseline` COMET. */
export interface TupleKind {
  batch: TupleBatch;
  encoder: TwoPartEncoder | TwoPartPursuit;
  decoder: LanguageDecoder;
  config: ReasoningConfig;
}

export type ReasoningNetwork = HiddenSchemaNetwork<TupleKind>;
