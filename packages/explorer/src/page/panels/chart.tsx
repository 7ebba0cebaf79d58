import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { Downloads } from '../downloads.tsx';
import { inksOf } from '../inks.ts';
import { decimal } from '../labels.ts';
import { type Line, lineSvg } from './line-svg.ts';

interface ChartProps {
  /** What is measured. */
  name: string;
  axis: string;
  lines: readonly Line[];
  dark: boolean;
}

const HEIGHT = 150;

/** One quantity over steps: a line, or one for each run. */
export function Chart({ name, axis, lines, dark }: ChartProps) {
  const { holder, at } = usePlot(lines, dark);
  const title = name.replaceAll('_', ' ');
  const only = lines.length === 1 ? lines[0]! : null;
  const shown = at ?? (only ? only.x.length - 1 : null);
  return (
    <figure class="chart" data-metric={name}>
      <figcaption>
        {title}
        {only && shown !== null ? (
          <span class="number">
            {decimal(only.y[shown] ?? Number.NaN)} <span class="faint">{`${axis} ${only.x[shown]}`}</span>
          </span>
        ) : null}
        <Downloads
          name={name}
          svg={() => lineSvg(title, axis, lines, inksOf(dark))}
          rows={() => [
            ['run', axis, name],
            ...lines.flatMap((line) => line.x.map((x, i) => [line.name, x, line.y[i]!])),
          ]}
        />
      </figcaption>
      <div ref={holder} class="plot" />
    </figure>
  );
}

/** Draws lines and follows their data; says which row is pointed at. */
function usePlot(lines: readonly Line[], dark: boolean) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const names = lines.map(({ name, colour }) => `${name} ${colour}`).join('\n');
  const rows = lines.reduce((sum, { x }) => sum + x.length, 0);
  useEffect(() => {
    const element = holder.current!;
    const made = new uPlot(options(lines, dark, element.clientWidth, setAt), dataOf(lines), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [dark, names]);
  useEffect(() => plot.current?.setData(dataOf(lines)), [rows, names]);
  return { holder, at };
}

/** All lines over the steps that any of them has. */
function dataOf(lines: readonly Line[]): uPlot.AlignedData {
  if (lines.length === 1) return [[...lines[0]!.x], [...lines[0]!.y]];
  const steps = [...new Set(lines.flatMap(({ x }) => [...x]))].sort((a, b) => a - b);
  const columns = lines.map(({ x, y }) => {
    const known = new Map(x.map((step, i) => [step, y[i]!]));
    return steps.map((step) => known.get(step) ?? null);
  });
  return [steps, ...columns];
}

function options(
  lines: readonly Line[],
  dark: boolean,
  width: number,
  onMove: (at: number | null) => void,
): uPlot.Options {
  const { faint, line } = inksOf(dark);
  const grid = { stroke: line, width: 1 };
  const axis = { stroke: faint, grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { x: { time: false } },
    axes: [
      { ...axis, size: 22, gap: 2 },
      { ...axis, size: 48, gap: 4, values: (_, ticks) => ticks.map((tick) => decimal(tick)) },
    ],
    series: [
      {},
      ...lines.map(({ colour, x }) => ({
        ...{ stroke: colour, width: 1.75, spanGaps: true },
        points: { show: x.length < 30, size: 4 },
      })),
    ],
    hooks: { setCursor: [(plot) => onMove(plot.cursor.idx ?? null)] },
  };
}
