import fc from 'fast-check';
import { call, cat, Generator, nn, Tensor } from '../src/index.ts';
import { guarded, native } from '../src/native.ts';
import type { Wanted } from './operator-arguments.ts';
import { type Calls, calls, mostly } from './operator-cases.ts';

/** Widths of heads are multiples of it. */
const lanes = 16;
/** Widths whose root is exact, so that both sides round alike; 8 is none of the kernel's. */
const width = mostly(fc.constantFrom(16, 16, 64, 0), fc.constant(8));
const few = fc.constantFrom(0, 1, 2, 3, 5);
const rows = fc.constantFrom(0, 1, 2, 5, 15, 16, 17);
const masks = ['none', 'keys', 'pairs', 'whole', 'one'] as const;
const options = fc.record({
  p: mostly(fc.constantFrom(0, 0, 0.3, 1), fc.constant(1.5)),
  mask: fc.constantFrom(...masks),
  hidden: fc.constantFrom(-1e9, Number.NEGATIVE_INFINITY),
  wide: fc.constantFrom(1, 1, 2, 3),
});

interface Sizes {
  readonly B: number;
  readonly H: number;
  readonly T: number;
  readonly S: number;
}

function maskOf({ B, H, T, S }: Sizes, kind: (typeof masks)[number], hidden: number): Wanted[] {
  if (kind === 'none') return [];
  const shape = { keys: [B, 1, 1, S], pairs: [T, S], whole: [B, H, T, S], one: [] }[kind];
  return [{ shape, value: (choices) => (choices.below(4) === 0 ? hidden : 0) }];
}

interface Attending {
  readonly mask: Tensor | undefined;
  readonly p: number;
  readonly seed: number;
}

/** By libtorch's operators alone; dropout's mask is drawn from the same seed. */
function attend(q: Tensor, k: Tensor, v: Tensor, { mask, p, seed }: Attending): Tensor {
  if (!(p >= 0 && p <= 1)) throw new Error('no probability');
  // Two that are not libtorch's to know: heads of keys are shared out evenly, and vectors are of 16.
  const shared = k.dim(1) === 0 ? 1 : q.dim(1) / k.dim(1);
  const each = (x: Tensor): Tensor => call('repeat_interleave.self_int', x, shared, 1);
  const scores = q.matmul(each(k).transpose(2, 3)).mul(1 / Math.sqrt(q.dim(3)));
  const weights = (mask ? scores.add(mask) : scores).softmax(3);
  const drawn = new Tensor(
    native.dropoutMask(weights.shape, p, new Generator(seed).handle, 0),
    'dropoutMask',
  );
  return (p > 0 ? weights.mul(drawn) : weights).matmul(each(v));
}

const attention = calls({
  sizes: [few, few, rows, rows, width],
  options,
  build: ([B = 0, G = 0, T = 0, S = 0, d = 0], { p, mask, hidden, wide }, { seed, trained }) => {
    const H = G * wide;
    return {
      wanted: [
        { shape: [B, H, T, d] },
        { shape: [B, G, S, d] },
        { shape: [B, G, S, d] },
        ...maskOf({ B, H, T, S }, mask, hidden),
      ],
      restricted: d % lanes !== 0 || (mask !== 'none' && trained[3]!),
      fused: ([q, k, v, added]) => [call('engine::attention', q!, k!, v!, added, p, new Generator(seed))],
      composed: ([q, k, v, added]) => [attend(q!, k!, v!, { mask: added, p, seed })],
    };
  },
});

const selfAttention = calls({
  sizes: [few, fc.constantFrom(1, 2, 3), rows, width],
  options,
  build: ([B = 0, H = 1, T = 0, d = 0], { p, mask, hidden }, { seed, trained }) => ({
    wanted: [{ shape: [B, T, 3 * H * d] }, ...maskOf({ B, H, T, S: T }, mask, hidden)],
    restricted: d % lanes !== 0 || (mask !== 'none' && trained[1]!),
    fused: ([x, added]) => [call('engine::self_attention', x!, H, added, p, new Generator(seed))],
    composed: ([x, added]) => {
      const [q, k, v] = x!.chunk(3, -1).map((part) => nn.splitHeads(part, H));
      return [nn.joinHeads(attend(q!, k!, v!, { mask: added, p, seed }))];
    },
  }),
});

/** Memory that the tensors of a step share, which a step must refuse. */
const sharing = ['nothing', 'both moments', 'a moment and the weight', 'a part'] as const;

function shared([w, m, v]: readonly [Tensor, Tensor, Tensor], how: (typeof sharing)[number]): Tensor[] {
  if (w.size === 0) return [w, m, v];
  if (how === 'both moments') return [w, m, m];
  if (how === 'a moment and the weight') return [w, w.detach(), v];
  if (how !== 'a part') return [w, m, v];
  // Two runs of one buffer, the second from the middle of the first.
  const buffer = cat([w.reshape(-1), w.reshape(-1)]);
  const run = (from: number): Tensor => buffer.narrow(0, from, w.size).reshape(...w.shape);
  return [run(0), run(Math.floor(w.size / 2)), v];
}

const [rate, beta1, beta2, epsilon, decay] = [0.01, 0.9, 0.99, 1e-3, 0.1];

function adamStep(w: Tensor, m: Tensor, v: Tensor, given: { count: number; decoupled: boolean }): void {
  const { count, decoupled } = given;
  guarded('adam', () =>
    native.adamStep(
      ...([[w.handle], [m.handle], [v.handle]] as const),
      ...([rate, beta1, beta2, epsilon, decay] as const),
      ...([count, decoupled, true] as const),
    ),
  );
}

const adam = calls({
  sizes: [few, fc.constantFrom(0, 1, 17, 33)],
  options: fc.record({
    count: fc.constantFrom(1, 2, 1000),
    decoupled: fc.boolean(),
    sharing: mostly(fc.constant(sharing[0]), fc.constantFrom(...sharing)),
  }),
  build: ([i = 0, j = 0], { count, decoupled, sharing: how }) => ({
    wanted: [
      { shape: [i, j] },
      { shape: [i, j] },
      { shape: [i, j] },
      { shape: [i, j], value: (c) => c.below(9) / 8 },
    ],
    fused: ([w, g, m, v]) => {
      const copies = [w!, m!, v!].map((x) => x.detach().contiguous().clone()) as [Tensor, Tensor, Tensor];
      const [a, b, c] = shared(copies, how);
      a!.setGrad(g!.detach());
      adamStep(a!, b!, c!, { count, decoupled });
      return [a!, b!, c!];
    },
    composed: ([w, g, m, v]) => {
      if (how !== 'nothing' && w!.size > 0) throw new Error('memory is shared');
      const slope = decoupled ? g!.detach() : g!.detach().add(w!.detach().mul(decay));
      const first = m!
        .detach()
        .mul(beta1)
        .add(slope.mul(1 - beta1));
      const second = v!
        .detach()
        .mul(beta2)
        .add(slope.mul(slope).mul(1 - beta2));
      const root = second
        .div(1 - beta2 ** count)
        .sqrt()
        .add(epsilon);
      const kept = decoupled ? w!.detach().mul(1 - rate * decay) : w!.detach();
      return [
        kept.sub(
          first
            .div(1 - beta1 ** count)
            .mul(rate)
            .div(root),
        ),
        first,
        second,
      ];
    },
  }),
});

export const largeOperators: Readonly<Record<string, Calls>> = {
  attention,
  self_attention: selfAttention,
  adam,
};
