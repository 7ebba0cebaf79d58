import {
  cat,
  type EncoderPrecision,
  encoderLayer,
  noGrad,
  type PackedLayer,
  packedProductsHere,
  scope,
  Tensor,
  unitTextMeans,
} from '@hidden-schema/torch';

// Shapes: S texts, N tokens of all of them, D width.

/** Texts that lie one after the other, without padding. */
export interface TokenRows {
  /** [N] int32 */
  readonly ids: Tensor;
  /** The place of each token in its text. [N] int32 */
  readonly places: Tensor;
}

/** An encoder's layers, packed, and what comes before them. */
export interface PackedParts {
  readonly layers: readonly PackedLayer[];
  /** What attention adds to scores by distance: see `encoderLayer`. */
  readonly relative?: Tensor | undefined;
  /** Token numbers → the first layer's input. [N, D] */
  embed(rows: TokenRows): Tensor;
}

/**
 * Whether products of packed weights pay. In float32 they need a processor's AVX-512, without which libtorch's products
 * are faster; the other precisions are what was asked for, and take packed weights everywhere. Heads have to fill vectors.
 */
export function packs(precision: EncoderPrecision, headWidth: number): boolean {
  return headWidth % 16 === 0 && (precision !== 'float32' || packedProductsHere().float32);
}

/** Texts as token numbers → unit means of their states. [S, D] */
export function packedVectors(
  { embed, layers, relative }: PackedParts,
  texts: readonly ArrayLike<number>[],
): Tensor {
  return noGrad(() =>
    scope(() => {
      const { ids, places, ends } = tokenRows(texts);
      const states = layers.reduce(
        (x, layer) => scope(() => encoderLayer(x, ends, layer, relative)),
        scope(() => embed({ ids, places })),
      );
      return unitTextMeans(states, ends);
    }),
  );
}

/** Texts of fewer tokens are read in bfloat16 where int8 is asked for: over so few, its rounding does not average out. */
const fewTokens = 9;

/** Vectors of texts, each read in the precision that suits its length, in their order. [S, D] */
export function byPrecision(
  texts: readonly Int32Array[],
  asked: EncoderPrecision,
  read: (texts: readonly Int32Array[], precision: EncoderPrecision) => Tensor,
): Tensor {
  const isShort = ({ length }: Int32Array) => length < fewTokens;
  if (asked !== 'int8' || !texts.some(isShort)) return read(texts, asked);
  if (texts.every(isShort)) return read(texts, 'bfloat16');
  const rows = [...texts.keys()];
  const [short, long] = [
    rows.filter((row) => isShort(texts[row]!)),
    rows.filter((row) => !isShort(texts[row]!)),
  ];
  const place = new Int32Array(texts.length);
  for (const [at, row] of [...short, ...long].entries()) place[row] = at;
  const of = (some: readonly number[]) => some.map((row) => texts[row]!);
  return noGrad(() =>
    scope(() =>
      cat([read(of(short), 'bfloat16'), read(of(long), 'int8')], 0).indexSelect(
        0,
        Tensor.fromArray(place, [place.length]),
      ),
    ),
  );
}

function tokenRows(texts: readonly ArrayLike<number>[]): TokenRows & { ends: Tensor } {
  const total = texts.reduce((sum, { length }) => sum + length, 0);
  const ids = new Int32Array(total);
  const places = new Int32Array(total);
  const ends = new BigInt64Array(texts.length + 1);
  let end = 0;
  for (const [n, text] of texts.entries()) {
    ids.set(text, end);
    for (let at = 0; at < text.length; at++) places[end + at] = at;
    end += text.length;
    ends[n + 1] = BigInt(end);
  }
  return {
    ids: Tensor.fromArray(ids, [total]),
    places: Tensor.fromArray(places, [total]),
    ends: Tensor.fromArray(ends, [ends.length]),
  };
}

/** Frees packed weights; norms are the encoder's own. */
export function freePacked({ layers, relative }: PackedParts): void {
  for (const { attention, output, up, down } of layers)
    for (const { data, table } of [attention, output, up, down]) {
      data.free();
      table.free();
    }
  relative?.free();
}
