import { UserError } from '@hidden-schema/base';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { KeyValueCache } from './cache.ts';
import type { LanguageDecoder } from './language-decoder.ts';

// Shapes: B prompts, W beams of each, S width of a symbol, V vocabulary.

export interface BeamOptions {
  /** Tokens that each text starts with, as many for all. */
  prompts: readonly (readonly number[])[];
  /** What the texts are about. [B, L, S] */
  schema?: Tensor;
  /** The token that ends a text. */
  end: number;
  maxNewTokens: number;
  /** W: texts kept of each prompt at every step, and given back. */
  width: number;
}

/** A text that a beam ended with. */
export interface BeamText {
  /** New tokens, without the one that ended it. */
  tokens: number[];
  /** log p of the new tokens and, where it ended by itself, of the end. */
  logProb: number;
}

interface Beam extends BeamText {
  /** Row of the cache that its tokens are in. */
  row: number;
}

/**
 * Beam search by the sum of log-probabilities, without a weight for length: the W most probable texts of each prompt,
 * the best first. A text that has ended keeps its place among the W until better ones drive it out.
 */
export function beamSearch(decoder: LanguageDecoder, options: BeamOptions): BeamText[][] {
  const { prompts, width, maxNewTokens } = options;
  const length = checked(options);
  const limit = Math.min(decoder.maxPositions, length + maxNewTokens);
  const cache = new KeyValueCache(limit);
  const training = decoder.training;
  decoder.train(false);
  try {
    const ended: BeamText[][] = prompts.map(() => []);
    let open: Beam[][] = prompts.map((_, row) => [{ tokens: [], logProb: 0, row }]);
    for (let at = length; at < limit && open.some((some) => some.length > 0); at++)
      open = noGrad(() =>
        scope(() => {
          const step =
            at === length ? firstStep(decoder, options, cache) : nextStep(decoder, options, cache, open);
          return open.map((beams, of) => grown(beams, ended[of]!, step, { width, end: options.end }));
        }),
      );
    return ended.map((done, of) =>
      [...done, ...open[of]!]
        .sort((a, b) => b.logProb - a.logProb)
        .slice(0, width)
        .map(({ tokens, logProb }) => ({ tokens, logProb })),
    );
  } finally {
    cache.free();
    decoder.train(training);
  }
}

function checked({ prompts, width }: BeamOptions): number {
  if (!(Number.isInteger(width) && width >= 1))
    throw new UserError(`the width of a beam is a whole number from 1, got ${width}`);
  const length = prompts[0]?.length ?? 0;
  if (length === 0 || prompts.some((prompt) => prompt.length !== length))
    throw new RangeError('a beam search needs prompts of one length, from 1');
  return length;
}

/** The most probable next tokens of every row of the cache, with log p. */
interface Scored {
  /** Places of the rows in `values` and `tokens`. */
  placeOf: ReadonlyMap<number, number>;
  count: number;
  values: readonly number[];
  tokens: readonly number[];
}

function scored(decoder: LanguageDecoder, states: Tensor, rows: readonly number[], width: number): Scored {
  const logs = decoder.logits(states).to('float32').logSoftmax(-1); // [rows, V]
  // One more than the beam, so that it stays full where the end is among them.
  const count = Math.min(width + 1, logs.dim(1));
  const { values, indices } = logs.topk(count, -1);
  return {
    placeOf: new Map(rows.map((row, place) => [row, place])),
    count,
    values: values.toNumbers(),
    tokens: indices.toNumbers(),
  };
}

function firstStep(
  decoder: LanguageDecoder,
  { prompts, schema, width }: BeamOptions,
  cache: KeyValueCache,
): Scored {
  const length = prompts[0]!.length;
  const ids = Tensor.fromArray(BigInt64Array.from(prompts.flat(), BigInt), [prompts.length, length]);
  const states = decoder.hidden(ids, schema, { cache });
  return scored(decoder, states.select(1, length - 1), [...prompts.keys()], width);
}

/** Reads the last token of every open beam, whose row becomes its place among all of them. */
function nextStep(
  decoder: LanguageDecoder,
  { schema, width }: BeamOptions,
  cache: KeyValueCache,
  open: readonly Beam[][],
): Scored {
  const all = open.flatMap((beams, of) => beams.map((beam) => ({ beam, of })));
  const from = all.map(({ beam }) => beam.row);
  cache.reorder(Tensor.fromArray(Int32Array.from(from), [from.length]));
  for (const [row, { beam }] of all.entries()) beam.row = row;
  const last = Tensor.fromArray(
    BigInt64Array.from(all, ({ beam }) => BigInt(beam.tokens.at(-1)!)),
    [all.length, 1],
  );
  const owners = Tensor.fromArray(
    Int32Array.from(all, ({ of }) => of),
    [all.length],
  );
  const states = decoder.hidden(last, schema?.indexSelect(0, owners), { cache });
  return scored(decoder, states.select(1, 0), [...all.keys()], width);
}

/** The best texts one token longer; those that end go over to `ended`. */
function grown(
  beams: readonly Beam[],
  ended: BeamText[],
  { placeOf, count, values, tokens }: Scored,
  { width, end }: { width: number; end: number },
): Beam[] {
  const longer: Beam[] = [];
  for (const { tokens: before, logProb, row } of beams) {
    const place = placeOf.get(row)!;
    for (let k = place * count; k < (place + 1) * count; k++) {
      const sum = logProb + values[k]!;
      if (tokens[k] === end) ended.push({ tokens: before, logProb: sum });
      else longer.push({ tokens: [...before, tokens[k]!], logProb: sum, row });
    }
  }
  ended.sort((a, b) => b.logProb - a.logProb).splice(width);
  // Nothing can rise: a text below the worst of a full list of ended ones has no way back.
  const least = ended.length === width ? ended.at(-1)!.logProb : Number.NEGATIVE_INFINITY;
  return longer
    .sort((a, b) => b.logProb - a.logProb)
    .slice(0, width)
    .filter(({ logProb }) => logProb > least);
}
