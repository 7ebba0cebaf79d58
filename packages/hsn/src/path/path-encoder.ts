import { UserError } from '@hidden-schema/base';
import { idsTensor, type PaddedIds } from '@hidden-schema/text';
import { type Generator, noGrad, scope, type Tensor } from '@hidden-schema/torch';
import {
  maskOfLengths,
  openPretrainedEncoder,
  type TextEncoder,
  TransformerText,
} from '@hidden-schema/transformers';
import type { ReasoningConfig } from '../config/tuples.ts';
import type { Tokenizers } from '../tasks/language/build.ts';
import { withRelationRows } from '../tasks/tuples/relation-rows.ts';
import { withRelations } from '../tasks/tuples/tokens.ts';
import type { PathContext } from './path-model.ts';

/** The second encoder, for (s, r) alone: left as it is, or trained along. */
export interface PrefixEncoder {
  text: TextEncoder;
  frozen: boolean;
}

/** Opens it by name; it reads the tokens of the network's own encoder, so that tuples are tokenised once. */
export async function openPrefixEncoder(
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

/** The encoder's outputs for (s, r); constants where it is frozen. */
export function contextOf({ text, frozen }: PrefixEncoder, ids: PaddedIds): PathContext {
  const mask = maskOfLengths(ids.lengths, ids.width);
  const read = (): Tensor => text.hidden(idsTensor(ids), mask);
  return { hidden: frozen ? noGrad(() => scope(read)) : read(), mask };
}
