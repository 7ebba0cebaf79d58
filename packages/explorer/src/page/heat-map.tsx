import { type HeatLook, heatMarks } from '@hidden-schema/studies/drawing';
import { Drawn, Figure } from './figure.tsx';
import { type Inks, inksOf } from './graph/colours.ts';
import { decimal } from './labels.ts';
import { usePanel } from './panels/panel.ts';

interface HeatMapProps {
  name: string;
  caption: string;
  rows: readonly string[];
  columns: readonly string[];
  /** Rows of numbers from 0. */
  values: readonly (readonly number[])[];
  /** Full colour; the largest value unless said. */
  most?: number;
  /** Numbers are written into cells. */
  written?: boolean;
}

/** A matrix as coloured cells. */
export function HeatMap(props: HeatMapProps) {
  const { name, caption, rows, columns, values, most, written } = props;
  const table = () => [['', ...columns], ...rows.map((row, at) => [row, ...values[at]!])];
  const map = { rows, columns, values, most, ...(written ? { written: twoDigits } : {}) };
  const inks = inksOf(usePanel().dark);
  const { marks, width, height } = heatMarks(map, lookOf(inks));
  const size = [width, height] as const;
  return (
    <Figure {...{ name, caption, inks, size, width, height }} rows={table} class="heat" aria-label={caption}>
      <Drawn marks={marks} />
    </Figure>
  );
}

const twoDigits = (value: number) => value.toFixed(2);

const lookOf = ({ accent, ink, faint, ground }: Inks): HeatLook => ({
  ...{ cell: { width: 58, height: 22 }, size: 12, ink, faint },
  fill: (strength) => ({
    fill: accent,
    'fill-opacity': 0.06 + 0.94 * strength,
    ink: strength > 0.55 ? ground : ink,
  }),
  titleOf: (row, column, value) => `${row} · ${column}: ${decimal(value)}`,
});
