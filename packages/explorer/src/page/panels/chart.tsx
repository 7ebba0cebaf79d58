import { type Curve, drawCurves, plotCurves, type Scale } from '@hidden-schema/studies/drawing';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Downloads, Drawn } from '../figure.tsx';
import { FONT, inksOf } from '../graph/colours.ts';
import { decimal } from '../labels.ts';
import { usePanel } from './panel.ts';

/** One quantity of one run. */
export interface Line {
  name: string;
  colour: string;
  x: readonly number[];
  y: readonly number[];
}

interface ChartProps {
  /** What is measured. */
  name: string;
  axis: string;
  lines: readonly Line[];
}

const HEIGHT = 150;
/** Points of a curve that are few enough to be seen one by one. */
const FEW = 12;

/** One quantity over steps: a line, or one for each run. Drag to see a part, click twice to see all again. */
export function Chart({ name, axis, lines }: ChartProps) {
  const { dark } = usePanel();
  const [at, setAt] = useState<number | null>(null);
  const title = name.replaceAll('_', ' ');
  const only = lines.length === 1 ? lines[0]! : null;
  const shown = only ? (at === null ? only.x.length - 1 : nearest(only.x, at)) : null;
  const figure = { title, xLabel: axis, yLabel: '', series: curvesOf(lines), width: 640, height: 360 };
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
          svg={() => drawCurves({ ...figure, inks: inksOf(dark) })}
          rows={() => [
            ['run', axis, name],
            ...lines.flatMap((line) => line.x.map((x, i) => [line.name, x, line.y[i]!])),
          ]}
        />
      </figcaption>
      {lines.some(({ x }) => x[0] !== x.at(-1)) ? <Plot {...{ lines, title, at }} onPoint={setAt} /> : null}
    </figure>
  );
}

const curvesOf = (lines: readonly Line[]): Curve[] =>
  lines.map(({ name, colour, x, y }) => ({
    name: lines.length > 1 ? name : '',
    ...{ colour, plain: x.length > FEW, points: x.map((step, i) => [step, y[i]!] as const) },
  }));

type Range = readonly [number, number];

interface PlotProps extends Pick<ChartProps, 'lines'> {
  title: string;
  /** The step that is pointed at. */
  at: number | null;
  onPoint(at: number | null): void;
}

function Plot({ lines, title, at, onPoint }: PlotProps) {
  const { holder, width } = useWidth();
  const [zoom, setZoom] = useState<Range | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  const inks = inksOf(usePanel().dark);
  const frame = { left: 48, right: Math.max(60, width - 10), top: 8, bottom: HEIGHT - 22 };
  const plot = { series: curvesOf(lines), xRange: zoom ?? extentOf(lines), inks };
  const { marks, x, y } = plotCurves(plot, frame, 11);
  const stepAt = (event: PointerEvent) => x.value(Math.min(frame.right, Math.max(frame.left, event.offsetX)));
  const onUp = (event: PointerEvent) => {
    const to = stepAt(event);
    // A click is no drag.
    if (from !== null && Math.abs(x.place(to) - x.place(from)) > 8)
      setZoom([Math.min(from, to), Math.max(from, to)]);
    setFrom(null);
  };
  return (
    <div ref={holder} class="plot">
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={title}
        font-family={FONT}
        onPointerMove={(event) => onPoint(stepAt(event))}
        onPointerLeave={() => onPoint(null)}
        onPointerDown={(event) => setFrom(stepAt(event))}
        onPointerUp={onUp}
        onDblClick={() => setZoom(null)}
      >
        <Drawn marks={marks} />
        {at === null ? null : <Pointed {...{ lines, at, from, x, y }} ink={inks.faint} />}
      </svg>
    </div>
  );
}

interface PointedProps {
  lines: readonly Line[];
  at: number;
  /** Where a drag began. */
  from: number | null;
  x: Scale;
  y: Scale;
  ink: string;
}

/** The step that is pointed at, with the points of all curves there, and the part that is being chosen. */
function Pointed({ lines, at, from, x, y, ink }: PointedProps) {
  const place = x.place(at);
  const start = from === null ? place : x.place(from);
  const [left, width] = [Math.min(start, place), Math.abs(place - start)];
  const [top, height] = [8, HEIGHT - 30];
  return (
    <g pointer-events="none">
      <rect x={left} y={top} width={width} height={height} fill={ink} fill-opacity="0.15" />
      <path d={`M${place} ${top}v${height}`} stroke={ink} stroke-dasharray="3 3" />
      {lines.map((line, n) => {
        const i = nearest(line.x, at);
        if (line.x.length === 0) return null;
        return <circle key={n} cx={x.place(line.x[i]!)} cy={y.place(line.y[i]!)} r="5" fill={line.colour} />;
      })}
    </g>
  );
}

function extentOf(lines: readonly Line[]): Range {
  const ends = lines.flatMap(({ x }) => (x.length > 0 ? [x[0]!, x.at(-1)!] : []));
  return ends.length === 0 ? [0, 1] : [Math.min(...ends), Math.max(...ends)];
}

/** The place of the value that is nearest, among values in order. */
function nearest(values: readonly number[], to: number): number {
  const after = values.findIndex((value) => value >= to);
  if (after <= 0) return after < 0 ? values.length - 1 : 0;
  return values[after]! - to < to - values[after - 1]! ? after : after - 1;
}

/** How wide an element is, whenever that changes. */
function useWidth() {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = holder.current!;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { holder, width };
}
