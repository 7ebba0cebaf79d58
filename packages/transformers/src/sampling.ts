import { UserError } from '@hidden-schema/base';
import { type Generator, rand, Tensor, where } from '@hidden-schema/torch';

// Shapes: B sentences, V vocabulary, k candidates.

/** How the next token is drawn. */
export interface SamplingOptions {
  /** Divides the scores; 0, the default, takes the best token. */
  temperature?: number;
  /** Only the k best tokens. */
  topK?: number;
  /** Only the best tokens that together have this probability. */
  topP?: number;
  /** Above 1, tokens that are already there become less likely: positive scores are divided by it, others multiplied. */
  repetitionPenalty?: number;
}

export function checkSampling(options: SamplingOptions): void {
  const { temperature = 0, topK, topP, repetitionPenalty = 1 } = options;
  if (!(temperature >= 0 && Number.isFinite(temperature)))
    throw new UserError(`temperature is a number from 0 (always the best token), got ${temperature}`);
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1))
    throw new UserError(`top-k is a whole number from 1, got ${topK}`);
  if (topP !== undefined && !(topP > 0 && topP <= 1))
    throw new UserError(`top-p is a probability in (0, 1], got ${topP}`);
  if (!(repetitionPenalty > 0 && Number.isFinite(repetitionPenalty)))
    throw new UserError(`the repetition penalty is a positive number, got ${repetitionPenalty}`);
}

/** The next token of each sentence from scores [B, V]; each draw takes one number from the generator. */
export function nextTokens(
  logits: Tensor,
  seen: readonly ReadonlySet<number>[],
  options: SamplingOptions,
  generator: Generator | undefined,
): number[] {
  const { temperature = 0, topK, topP, repetitionPenalty = 1 } = options;
  const scores = repetitionPenalty === 1 ? logits : penalised(logits, seen, repetitionPenalty);
  if (temperature === 0) return scores.argmax(-1).toNumbers();
  if (!generator) throw new TypeError('drawing tokens needs a generator; temperature 0 does without');
  const vocabulary = scores.dim(1);
  const all = scores.to('float64').div(temperature);
  if (topK === undefined && (topP === undefined || topP === 1))
    return drawn(all.softmax(-1), generator).toNumbers();
  const { values, indices } = all.topk(Math.min(topK ?? vocabulary, vocabulary), -1); // [B, k], falling
  const probabilities = nucleus(values.softmax(-1), topP ?? 1);
  const choice = drawn(probabilities, generator).unsqueeze(1);
  return indices.gather(1, choice).squeeze(1).toNumbers();
}

/** Zeroes what lies behind the first tokens that reach `mass`; the best token always stays. */
function nucleus(falling: Tensor, mass: number): Tensor {
  if (mass === 1) return falling;
  const before = falling.cumsum(-1).sub(falling);
  return falling.mul(before.lt(mass).to(falling.dtype));
}

/** An index from each row of weights, by inverting the cumulative sum at one uniform number. [B] int64 */
function drawn(weights: Tensor, generator: Generator): Tensor {
  const cumulative = weights.cumsum(-1);
  const total = cumulative.narrow(-1, weights.dim(1) - 1, 1);
  const at = rand([weights.dim(0), 1], generator, { dtype: 'float64' }).mul(total);
  // Of a zero weight the sum does not rise, so the first index past the number always has weight.
  return cumulative.gt(at).to('int64').argmax(-1);
}

function penalised(logits: Tensor, seen: readonly ReadonlySet<number>[], penalty: number): Tensor {
  const [batch, vocabulary] = logits.shape as [number, number];
  const marks = new Uint8Array(batch * vocabulary);
  for (const [b, tokens] of seen.entries()) for (const token of tokens) marks[b * vocabulary + token] = 1;
  const there = Tensor.fromArray(marks, [batch, vocabulary]).gt(0);
  const lower = where(logits.gt(0), logits.div(penalty), logits.mul(penalty));
  return where(there, lower, logits);
}
