import { cat, type Generator, rand, type Tensor, zeros } from '@hidden-schema/torch';

// Shapes: B sentences, T tokens, L walk steps, D width.

/**
 * Word dropout on the decoder's input (appendix F.1), so that it cannot lean on the words alone. A dropped word keeps
 * its position; the first token, which starts the sentence, is never dropped.
 */
export interface WordDropout {
  /** Probability of dropping a word. */
  rate: number;
  /** replace: the word's embedding goes. mask: no query may look at the word, as in the authors' program. */
  how: 'replace' | 'mask';
  /** replace: the token that comes instead; without it the embedding is zero. */
  token?: number;
  generator: Generator;
}

/** Which input tokens are dropped, as 0 and 1. [B, T] */
export function droppedWords(batch: number, length: number, { rate, generator }: WordDropout): Tensor {
  if (!(rate >= 0 && rate < 1)) throw new RangeError(`a word dropout rate lies in [0, 1), got ${rate}`);
  const first = zeros([batch, 1]);
  if (length === 1) return first;
  const rest = rand([batch, length - 1], generator)
    .lt(rate)
    .to('float32');
  return cat([first, rest], 1);
}

/** Token embeddings [B, T, D] with those of dropped words replaced by `filler` [D], or by nothing. */
export function replaceWords(embedded: Tensor, dropped: Tensor, filler: Tensor | undefined): Tensor {
  const gone = dropped.to(embedded.dtype).unsqueeze(-1);
  const kept = embedded.mul(gone.neg().add(1));
  return filler ? kept.add(gone.mul(filler)) : kept;
}

/** A mask that hides dropped words from every query and leaves the L symbols in sight. [B, 1, 1, L + T] */
export function hidingMask(dropped: Tensor, symbols: number, like: Tensor): Tensor {
  const words = zeros(dropped.shape, { dtype: like.dtype, device: like.device }).maskedFill(
    dropped.gt(0),
    Number.NEGATIVE_INFINITY,
  );
  const all = symbols === 0 ? words : cat([zeros([dropped.dim(0), symbols], optionsOf(like)), words], 1);
  return all.unsqueeze(1).unsqueeze(1);
}

function optionsOf(like: Tensor): { dtype: Tensor['dtype']; device: string } {
  return { dtype: like.dtype, device: like.device };
}
