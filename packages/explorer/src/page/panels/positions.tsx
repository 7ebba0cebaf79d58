import { Figure } from '../figure.tsx';
import { type Inks, inksOf } from '../graph/colours.ts';
import { percent } from '../labels.ts';
import { usePanel } from './panel.ts';

const WIDTH = 400;
const HEIGHT = 84;
const FLOOR = 66;

/** Where in the walk a symbol stands, as bars. */
export function Positions({ values }: { values: readonly number[] }) {
  const inks = inksOf(usePanel().dark);
  const rows = () => [['step', 'share of sentences'], ...values.map((value, at) => [at + 1, value])];
  return (
    <Figure
      name="positions"
      caption="Usage by position in the walk"
      rows={rows}
      size={[WIDTH, HEIGHT]}
      inks={inks}
      class="positions"
      aria-label="Usage by position"
      font-size="11"
    >
      {values.map((_, at) => (
        <Column key={at} {...{ values, at, inks }} />
      ))}
      <path d={`M0 ${FLOOR + 0.5}H${WIDTH}`} stroke={inks.line} />
    </Figure>
  );
}

/** The bar of one step; numbers stand only where there is room for them. */
function Column({ values, at, inks }: { values: readonly number[]; at: number; inks: Inks }) {
  const width = WIDTH / values.length;
  const value = values[at]!;
  const height = (50 * value) / Math.max(...values, 1e-9);
  const middle = (at + 0.5) * width;
  const bar = Math.min(width * 0.7, 64);
  return (
    <g>
      <rect x={middle - bar / 2} y={FLOOR - height} width={bar} height={height} rx={2} fill={inks.accent}>
        <title>{`step ${at + 1}: ${percent(value)}`}</title>
      </rect>
      {values.length <= 8 ? (
        <text x={middle} y={FLOOR - height - 4} text-anchor="middle" fill={inks.faint}>
          {percent(value)}
        </text>
      ) : null}
      {values.length <= 24 ? (
        <text x={middle} y={HEIGHT - 4} text-anchor="middle" fill={inks.faint}>
          {at + 1}
        </text>
      ) : null}
    </g>
  );
}
