import type { EncoderPrecision } from '@hidden-schema/torch';

/** What computes the dear parts of a model on this processor. */
export interface Kernels {
  /** The vector instructions that libtorch's own operators use, as it says itself. */
  readonly vectors: string | null;
  /** The version of oneDNN that libtorch was built with. */
  readonly onednn: string | null;
  /** Who computes attention, and the update of weights. */
  readonly attention: string;
  readonly update: string;
  /** What this processor multiplies bfloat16 with; none where it does not. */
  readonly bfloat16: readonly string[];
  /** Precisions of frozen encoders that this processor has packed products for. */
  readonly encoder: readonly EncoderPrecision[];
}

/** The libtorch that pip's PyTorch of today brings. */
const newest = [2, 13] as const;
/** Since when libtorch has a fused attention, and a fused Adam for processors. */
const since = { attention: [2, 0], adam: [2, 4] } as const;

/** Flags of /proc/cpuinfo that stand for products in bfloat16: x86's, and Arm's. */
const bfloat16Flags = ['amx_bf16', 'avx512_bf16', 'bf16'];

/** Attention and updates are this program's own with every libtorch; the rest is what libtorch was built with. */
export function kernelsOf(
  config: string,
  cpuinfo: string,
  packed: Partial<Record<EncoderPrecision, boolean>> = {},
): Kernels {
  const flags = new Set(/^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(/\s+/));
  return {
    vectors: /CPU capability usage: (\S+)/.exec(config)?.[1] ?? null,
    onednn: /(?:MKL-DNN|oneDNN) v(\d+(?:\.\d+)*)/.exec(config)?.[1] ?? null,
    attention: 'ours, a head in one pass',
    update: 'ours, Adam in one pass',
    bfloat16: bfloat16Flags.filter((flag) => flags.has(flag)),
    encoder: (['float32', 'bfloat16', 'int8'] as const).filter((precision) => packed[precision]),
  };
}

/** Who multiplies for frozen encoders, and what encoder.precision can be without loss of time. */
export function encoderLine({ encoder }: Kernels): string {
  if (encoder.length === 0)
    return "frozen encoders: libtorch's products; this processor has no AVX-512 for ours, and encoder.precision would cost time";
  return `frozen encoders: ours, weights packed once, in ${encoder.join(', ')} (encoder.precision)`;
}

/** Whether training.precision: bfloat16 can pay here, and why. */
export function bfloat16Line({ bfloat16, onednn }: Kernels): string {
  if (bfloat16.length === 0)
    return 'this processor has no unit for it: training.precision: bfloat16 would cost time';
  const unit = `this processor multiplies it (${bfloat16.join(', ')})`;
  return onednn ? `${unit}, through oneDNN ${onednn}` : `${unit}, but this libtorch has no oneDNN that would`;
}

/** What pip's libtorch would bring on this processor, beside the one in use. */
export function anotherWouldBring(version: string, blas: string | null, kernels: Kernels): string[] {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const before = ([x, y]: readonly [number, number]) => major < x || (major === x && minor < y);
  if (!before(newest)) return ['nothing that is known: this one is as new as pip’s'];
  const products = blas === 'mkl' ? [] : ['MKL for matrix products'];
  const unit = kernels.bfloat16.join(', ');
  const half = unit
    ? `a newer oneDNN for bfloat16 on ${unit}`
    : 'nothing for bfloat16, which this processor has no unit for';
  const fused = [before(since.attention) && 'fused attention', before(since.adam) && 'fused Adam'].filter(
    Boolean,
  );
  const own = fused.length > 0 ? [`${fused.join(' and ')}, in whose place ours run`] : [];
  return [`pip’s ${newest.join('.')}: ${[...products, half, ...own].join('; ')}`];
}
