import { Figure } from './figure.tsx';
import { FONT, type Inks } from './inks.ts';
import { decimal } from './labels.ts';

interface HeatMapProps {
  name: string;
  caption: string;
  dark: boolean;
  rows: readonly string[];
  columns: readonly string[];
  /** Rows of numbers from 0. */
  values: readonly (readonly number[])[];
  /** Full colour; the largest value unless said. */
  most?: number;
  /** Numbers are written into cells. */
  written?: boolean;
}

const CELL = { width: 58, height: 22 };
const LETTER = 6.4;

/** A matrix as coloured cells. */
export function HeatMap(props: HeatMapProps) {
  const { name, caption, dark, rows, columns, values } = props;
  const table = () => [['', ...columns], ...rows.map((row, at) => [row, ...values[at]!])];
  return (
    <Figure name={name} caption={caption} dark={dark} rows={table}>
      {(svg, inks) => {
        const side = Math.min(150, 16 + LETTER * Math.max(...rows.map((row) => shown(row, 20).length), 4));
        const width = side + CELL.width * columns.length + 64;
        const head = 26 + 4.2 * Math.max(...columns.map((column) => shown(column, 16).length));
        const height = head + CELL.height * rows.length + 4;
        return (
          <div class="scroll-x">
            <svg
              ref={svg}
              class="heat"
              viewBox={`0 0 ${width} ${height}`}
              width={width}
              height={height}
              role="img"
              aria-label={caption}
              font-family={FONT}
              font-size="12"
            >
              <Heads {...{ columns, side, head, inks }} />
              <Cells {...{ ...props, side, head, inks }} />
            </svg>
          </div>
        );
      }}
    </Figure>
  );
}

interface Places {
  /** Width of the rows' names and height of the columns'. */
  side: number;
  head: number;
  inks: Inks;
}

const Heads = ({ columns, side, head, inks }: Places & { columns: readonly string[] }) => (
  <>
    {columns.map((column, at) => (
      <text
        key={at}
        fill={inks.faint}
        transform={`translate(${side + (at + 0.4) * CELL.width} ${head - 8}) rotate(-38)`}
      >
        {shown(column, 16)}
        <title>{column}</title>
      </text>
    ))}
  </>
);

function Cells({ rows, columns, values, most, written, side, head, inks }: HeatMapProps & Places) {
  const full = most ?? Math.max(...values.flat(), 1e-12);
  return (
    <>
      {rows.map((row, r) => {
        const y = head + r * CELL.height;
        return (
          <g key={r}>
            <text x={side - 8} y={y + 15} text-anchor="end" fill={inks.ink}>
              {shown(row, 20)}
            </text>
            {columns.map((column, c) => {
              const value = values[r]![c]!;
              const share = Math.min(1, value / full);
              const x = side + c * CELL.width;
              const cell = { width: CELL.width - 2, height: CELL.height - 2, rx: 3 };
              return (
                <g key={c}>
                  <rect x={x} y={y} {...cell} fill={inks.line} fill-opacity="0.45" />
                  <rect x={x} y={y} {...cell} fill={inks.accent} fill-opacity={share.toFixed(3)}>
                    <title>{`${row} · ${column}: ${decimal(value)}`}</title>
                  </rect>
                  {written ? (
                    <text
                      x={x + CELL.width / 2 - 1}
                      y={y + 15}
                      text-anchor="middle"
                      font-size="11"
                      fill={share > 0.55 ? inks.ground : inks.ink}
                    >
                      {value.toFixed(2)}
                    </text>
                  ) : null}
                </g>
              );
            })}
          </g>
        );
      })}
    </>
  );
}

/** Text of bounded length; XML allows no control characters. */
function shown(text: string, most: number): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
}
