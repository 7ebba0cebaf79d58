/** An axis: where values lie, and which of them are told. */
export interface Scale {
  ticks: readonly { at: number; label: string }[];
  /** Where a value lies. */
  place(value: number): number;
  /** Which value lies there. */
  value(place: number): number;
}

export interface ScaleOptions {
  /** Pixels at the ends. */
  from: number;
  to: number;
  /** Told values, about. */
  ticks: number;
  /** The values at the ends; round ones around the data unless given. */
  range?: readonly [number, number] | undefined;
  /** Round ends reach to zero. */
  zero?: boolean;
}

/** Even steps. */
export function linearScale(values: readonly number[], options: ScaleOptions): Scale {
  const { from, to, range } = options;
  const [least, most] = range ?? extentOf(options.zero ? [0, ...values] : values);
  const step = roundStep((most - least || Math.abs(most) || 1) / options.ticks);
  const low = range ? least : Math.floor(least / step + 1e-9) * step;
  const high = range ? most : Math.ceil(most / step - 1e-9) * step;
  const span = high - low || 1;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.max(0, Math.floor(high / step + 1e-9) - first + 1);
  const multiples = Array.from({ length: count }, (_, at) => first + at);
  return {
    ticks: multiples.map((n) => ({ at: n * step, label: labelOf(n * step, step) })),
    place: (value) => from + ((value - low) / span) * (to - from),
    value: (place) => low + ((place - from) / (to - from)) * span,
  };
}

/** Powers of ten, and a little room at both ends. */
export function logScale(values: readonly number[], { from, to }: ScaleOptions): Scale {
  const positive = values.filter((value) => value > 0);
  const [least, most] = positive.length === 0 ? [1, 10] : endsOf(positive);
  const [low, high] = [Math.log10(least / 1.25), Math.log10(most * 1.25)];
  const powers = Array.from(
    { length: Math.max(0, Math.floor(high) - Math.ceil(low) + 1) },
    (_, at) => 10 ** (Math.ceil(low) + at),
  );
  return {
    ticks: powers.map((at) => ({ at, label: labelOf(at, at) })),
    place: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    value: (place) => 10 ** (low + ((place - from) / (to - from)) * (high - low)),
  };
}

const endsOf = (values: readonly number[]): [number, number] => [
  values.reduce((a, b) => Math.min(a, b)),
  values.reduce((a, b) => Math.max(a, b)),
];

/** Smaller numbers are none. */
const TINY = 1e-200;

function extentOf(values: readonly number[]): [number, number] {
  if (values.length === 0) return [0, 1];
  const [least, most] = endsOf(values);
  const size = Math.max(Math.abs(least), Math.abs(most));
  if (most - least > 1e-9 * size && size > TINY) return [least, most];
  // One value alone gets room on both sides.
  const room = size > TINY ? size / 2 : 1;
  return [least - room, most + room];
}

/** The least of 1, 2 or 5 times a power of ten that is not much smaller. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((times) => times * power).find((round) => round >= 0.8 * step)!;
}

function labelOf(value: number, step: number): string {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (digits > 5) return value === 0 ? '0' : value.toExponential(1);
  if (Math.abs(value) >= 1e6) return value.toLocaleString('en', { notation: 'compact' });
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
