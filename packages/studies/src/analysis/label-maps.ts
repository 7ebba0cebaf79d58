import { type LabelMaps, labelMaps } from '../evaluation/label-maps.ts';
import type { EncodedCorpus } from './encoded.ts';

/** Schema distributions of the encoded sentences, for each label (Section 5, appendix F.3). */
export function encodedLabelMaps({ walks, length, symbols, labelOf, labels }: EncodedCorpus): LabelMaps {
  return labelMaps(walks, length, symbols, labelOf, labels);
}
