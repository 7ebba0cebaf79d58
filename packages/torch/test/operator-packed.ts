import fc from 'fast-check';
import { layerNorm } from '../src/functional.ts';
import { call, callMany, cat, linear, noGrad, Tensor, zeros } from '../src/index.ts';
import * as packed from '../src/packed.ts';
import { anySize, type Draw } from './operator-arguments.ts';
import { byErf, type Calls, calls, few, mostly } from './operator-cases.ts';

// Operators of packed weights (packed.h, encoder-layer.h) against libtorch's own on the numbers that are packed.

const activations = [
  (x: Tensor) => x,
  byErf,
  (x: Tensor) => x.gelu('tanh'),
  (x: Tensor) => x.relu(),
] as const;

const names: readonly packed.Activation[] = ['none', 'gelu', 'gelu_tanh', 'relu'];

/** Packed weights have no gradient, so what is trained is refused. */
const restricted = ({ trained }: Draw<unknown>): boolean => trained.some(Boolean);

/** The bytes of each row and what they stand for: low + scale·q. */
function bytesOfRows(x: Tensor): Tensor {
  if (x.size === 0) return x;
  const low = call('amin', x, [-1], true);
  const span = call('amax', x, [-1], true).sub(low);
  const times = call('where.self', span.ge(1e-30), full(255, span).div(span), zeros(span.shape));
  const bytes = call('floor', x.sub(low).mul(times).add(0.5)).clamp(0, 255);
  return bytes.mul(span.div(255)).add(low);
}

const full = (value: number, like: Tensor): Tensor => zeros(like.shape).add(value);

/** The bytes of a weight's rows by their largest number. */
function bytesOfWeight(weight: Tensor): Tensor {
  if (weight.size === 0) return weight;
  const most = call('amax', weight.abs(), [-1], true);
  const scale = call('where.self', most.ge(1e-30), most.div(127), full(1, most));
  return call('round', weight.div(scale)).mul(scale);
}

interface Packing {
  precision: number;
  activation: number;
  rows: readonly number[];
  bias: boolean;
}

const packing = fc.record({
  precision: mostly(fc.constantFrom(0, 1, 2), fc.constantFrom(-1, 3)),
  activation: mostly(fc.constantFrom(0, 1, 2, 3), fc.constantFrom(-1, 4)),
  rows: fc.constantFrom([1], [2], [7], [3, 5], [0], [100]),
  bias: fc.boolean(),
});
const wide = fc.oneof(anySize, fc.constantFrom(63, 64, 65, 130));

/** What a packed layer computes, from the numbers that it multiplies: eighths are bfloat16 as they are. */
function composedLinear([x, w, b]: readonly Tensor[], { precision, activation }: Packing): Tensor {
  if (precision < 0 || precision > 2 || activation < 0 || activation > 3) throw new Error('no such kind');
  const [rows, weight] = precision === 2 ? [bytesOfRows(x!), bytesOfWeight(w!)] : [x!, w!];
  return activations[activation]!(linear(rows, weight, b));
}

const packedLinear = calls({
  sizes: [wide, wide],
  options: packing,
  build: ([n = 0, m = 0], options, draw) => ({
    wanted: [{ shape: [...options.rows, n] }, { shape: [m, n] }, ...(options.bias ? [{ shape: [m] }] : [])],
    restricted: restricted(draw),
    scale: 16,
    fused: ([x, w, b]) => {
      const [data, table] = callMany('engine::pack_linear', w!, b, options.precision);
      const layer = { data: data!, table: table!, inputs: w!.dim(1), outputs: w!.dim(0) };
      if (names[options.activation]) return [packed.packedLinear(x!, layer, names[options.activation])];
      return [call('engine::packed_linear', x!, data!, table!, w!.dim(0), options.activation)];
    },
    composed: (given) => noGrad(() => [composedLinear(given, options)]),
  }),
});

/** The weight as it can be read back from its panels. */
const packLinear = calls({
  sizes: [wide, wide],
  options: fc.constantFrom(0, 1),
  build: ([n = 0, m = 0], precision, draw) => ({
    wanted: [{ shape: [m, n] }, { shape: [m] }],
    restricted: restricted(draw),
    fused: ([w, b]) => {
      const [data, table] = callMany('engine::pack_linear', w!, b!, precision);
      const [outputs, inputs] = w!.shape as [number, number];
      const columns = data!.permute(0, 2, 1, 3).reshape(data!.dim(0) * 64, data!.dim(1) * data!.dim(3));
      return [
        columns.narrow(0, 0, outputs).narrow(1, 0, inputs).to('float32'),
        table!.select(0, 0).narrow(0, 0, outputs),
      ];
    },
    composed: ([w, b]) =>
      noGrad(() => [
        linear(w!, zeros([w!.dim(1), w!.dim(1)]).add(call('eye', w!.dim(1)))),
        b!.mul(1).add(zeros([w!.dim(0)])),
      ]),
  }),
});

/** Lengths of texts; now and then ends that are none. */
const texts = fc.record({
  lengths: fc.array(fc.constantFrom(0, 1, 2, 7, 17, 60), { maxLength: 4 }),
  wrong: mostly(fc.constant('no'), fc.constantFrom('falls', 'beyond', 'short', 'empty')),
  precision: fc.constantFrom(0, 0, 1),
  activation: fc.constantFrom(0, 1, 2, 3),
  relative: fc.boolean(),
});

function endsOf({ lengths, wrong }: { lengths: readonly number[]; wrong: string }): Tensor {
  const ends = [0];
  for (const n of lengths) ends.push(ends.at(-1)! + n);
  if (wrong === 'falls') ends.splice(1, 0, 1000);
  if (wrong === 'beyond') ends.push(ends.at(-1)! + 1);
  if (wrong === 'short') ends.splice(0, 1, 1);
  const numbers = wrong === 'empty' ? [] : ends;
  return Tensor.fromArray(BigInt64Array.from(numbers, BigInt), [numbers.length]);
}

const total = (lengths: readonly number[]): number => lengths.reduce((sum, n) => sum + n, 0);
const epsilon = 1e-3;
/** Positions that relative scores are given for. */
const reach = 64;

interface LayerParts {
  heads: number;
  activation: number;
  relative: Tensor | undefined;
}

/** One text through a layer of BERT by libtorch's own operators. */
function composedLayer(
  x: Tensor,
  [qkv, bias, out, up, down, norm]: readonly Tensor[],
  parts: LayerParts,
): Tensor {
  const { heads, activation, relative } = parts;
  const [count, width] = x.shape as [number, number];
  const split = linear(x, qkv!, bias!)
    .reshape(count, 3, heads, width / heads)
    .permute(1, 2, 0, 3);
  const [q, k, v] = split.unbind(0);
  let scores = q!.mul(1 / Math.sqrt(width / heads)).matmul(k!.transpose(1, 2));
  if (relative) {
    const places = Array.from(
      { length: count * count },
      (_, at) => (at % count) - Math.floor(at / count) + reach - 1,
    );
    const index = Tensor.fromArray(Int32Array.from(places), [places.length]);
    scores = scores.add(relative.indexSelect(1, index).reshape(heads, count, count));
  }
  const attended = scores.softmax(-1).matmul(v!).permute(1, 0, 2).reshape(count, width);
  const none = zeros([width]);
  const middle = layerNorm(x.add(linear(attended, out!)), norm!, none, epsilon);
  return layerNorm(
    middle.add(linear(activations[activation]!(linear(middle, up!)), down!)),
    norm!,
    none,
    epsilon,
  );
}

const encoderLayer = calls({
  sizes: [fc.constantFrom(1, 2, 3), fc.constantFrom(1, 5, 64, 70)],
  options: texts,
  build: ([heads = 1, hidden = 1], options, draw) => {
    const { lengths, wrong, precision, activation } = options;
    const width = heads * 16;
    const small = (choices: { below(n: number): number }): number => (choices.below(33) - 16) / 64;
    return {
      wanted: [
        { shape: [total(lengths), width] },
        ...[[3 * width, width], [3 * width], [width, width], [hidden, width], [width, hidden]].map(
          (shape) => ({
            shape,
            value: small,
          }),
        ),
        { shape: [width] },
        ...(options.relative ? [{ shape: [heads, 2 * reach - 1] }] : []),
      ],
      restricted:
        restricted(draw) || wrong !== 'no' || draw.layouts[6] !== 'plain' || draw.layouts[7] !== 'plain',
      // In bfloat16 rows are rounded between products.
      scale: precision === 0 ? 50 : 4000,
      fused: ([x, qkv, bias, out, up, down, norm, relative]) => {
        const kind = precision === 0 ? 'float32' : 'bfloat16';
        const none = zeros([width]);
        const layer = {
          attention: packed.packLinear(qkv!, bias, kind),
          output: packed.packLinear(out!, undefined, kind),
          up: packed.packLinear(up!, undefined, kind),
          down: packed.packLinear(down!, undefined, kind),
          norms: [
            { weight: norm!, bias: none },
            { weight: norm!, bias: none },
          ] as const,
          ...{ heads, activation: names[activation]!, epsilon },
        };
        return [packed.encoderLayer(x!, endsOf(options), layer, relative)];
      },
      composed: ([x, ...weights]) =>
        noGrad(() => {
          if (wrong !== 'no') throw new Error('no ends of texts');
          let at = 0;
          const parts = lengths.flatMap((length) => {
            at += length;
            const text = x!.narrow(0, at - length, length);
            return length === 0
              ? []
              : [composedLayer(text, weights, { heads, activation, relative: weights[6] })];
          });
          return [parts.length === 0 ? x!.mul(1) : cat(parts, 0)];
        }),
    };
  },
});

const unitTextMeans = calls({
  sizes: [few],
  options: texts,
  build: ([width = 0], options, draw) => ({
    wanted: [{ shape: [total(options.lengths), width] }],
    restricted: restricted(draw) || options.wrong !== 'no',
    fused: ([x]) => [call('engine::unit_text_means', x!, endsOf(options))],
    composed: ([x]) =>
      noGrad(() => {
        if (options.wrong !== 'no') throw new Error('no ends of texts');
        let at = 0;
        const means = options.lengths.map((length) => {
          at += length;
          const sum = x!.narrow(0, at - length, length).sum(0);
          return sum.div(sum.mul(sum).sum().sqrt().clamp(1e-30)).unsqueeze(0);
        });
        return [means.length === 0 ? zeros([0, x!.dim(1)]) : cat(means, 0)];
      }),
  }),
});

export const packedOperators: Readonly<Record<string, Calls>> = {
  pack_linear: packLinear,
  packed_linear: packedLinear,
  encoder_layer: encoderLayer,
  unit_text_means: unitTextMeans,
};
