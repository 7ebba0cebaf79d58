import type { TextBatch } from '@hidden-schema/text';
import type { Tensor } from '@hidden-schema/torch';
import type { LanguageDecoder } from '@hidden-schema/transformers';
import type { LanguageConfig } from '../../config/language.ts';
import type { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import type { WalkEncoder } from '../../encoder/walk-queries.ts';
import type { HiddenSchemaNetwork } from '../../model.ts';

/** Texts as the network takes them, with a frozen encoder's states, or points, of them where they are known already. */
export type ReadTexts = Omit<TextBatch, 'labels' | 'rows'> & {
  states?: Tensor | undefined;
  points?: Tensor | undefined;
};

/** Natural language (Section 5). */
export interface LanguageKind {
  batch: ReadTexts;
  encoder: WalkEncoder | PursuitEncoder;
  decoder: LanguageDecoder;
  config: LanguageConfig;
}

/** The network of texts. */
export type LanguageNetwork = HiddenSchemaNetwork<LanguageKind>;
