import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { client, type Run } from '../client.ts';
import { csv } from '../csv.ts';
import { download } from '../download.ts';
import { decimal } from '../labels.ts';
import { usePolling } from '../loading.ts';
import { Empty, Failure, Waiting } from '../parts.tsx';
import { type Curve, curvesOf, type Row } from './curves.ts';
import type { PanelProps } from './panel.ts';

/** Live curves of training: every number that is logged. */
export function TrainingPanel({ dark }: PanelProps) {
  const { rows, state, fault } = useMetrics();
  if (fault !== null && rows.length === 0) return <Failure message={fault} />;
  if (state === null) return <Waiting what="Reading the metrics …" />;
  const curves = curvesOf(rows);
  if (curves.length === 0)
    return (
      <Empty>
        {state === 'running'
          ? 'Training has begun; the first numbers come soon.'
          : 'This run has no metrics.'}
      </Empty>
    );
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = [names, ...rows.map((row) => names.map((name) => row[name] ?? null))];
  return (
    <>
      <p class="faint split">
        <span>
          {rows.length} rows{state === 'running' ? ', live' : ''}
        </span>
        <button type="button" onClick={() => download('metrics.csv', 'text/csv', csv(table))}>
          CSV
        </button>
      </p>
      <div class="charts">
        {curves.map((curve) => (
          <Chart key={`${curve.axis} ${curve.name}`} curve={curve} dark={dark} />
        ))}
      </div>
    </>
  );
}

interface Metrics {
  rows: Row[];
  state: Run['state'] | null;
  fault: string | null;
}

function useMetrics(): Metrics {
  const [metrics, setMetrics] = useState<Metrics>({ rows: [], state: null, fault: null });
  const rows = useRef<Row[]>([]);
  usePolling(async (signal) => {
    try {
      const answer = await client.metrics(rows.current.length, signal);
      // A resumed run has cut its metrics back: begin again.
      const kept = answer.from === rows.current.length ? rows.current : [];
      rows.current = answer.rows.length > 0 || kept.length === 0 ? [...kept, ...answer.rows] : kept;
      setMetrics({ rows: rows.current, state: answer.state, fault: null });
      if (rows.current.length < answer.total) return 0;
      return answer.state === 'running' ? 2000 : 10_000;
    } catch (error) {
      if (!signal.aborted) setMetrics((last) => ({ ...last, fault: (error as Error).message }));
      return 3000;
    }
  });
  return metrics;
}

const HEIGHT = 150;

function Chart({ curve, dark }: { curve: Curve; dark: boolean }) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  useEffect(() => {
    const element = holder.current!;
    const made = new uPlot(options(curve, dark, element.clientWidth, setAt), dataOf(curve), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [dark]);
  useEffect(() => plot.current?.setData(dataOf(curve)), [curve.x.length]);
  const last = curve.y.length - 1;
  const shown = at ?? last;
  return (
    <figure class="chart" data-metric={curve.name}>
      <figcaption>
        {curve.name.replaceAll('_', ' ')}
        <span class="number">
          {decimal(curve.y[shown] ?? Number.NaN)}{' '}
          <span class="faint">{`${curve.axis} ${curve.x[shown]}`}</span>
        </span>
      </figcaption>
      <div ref={holder} class="plot" />
    </figure>
  );
}

const dataOf = ({ x, y }: Curve): uPlot.AlignedData => [x, y];

function options(
  curve: Curve,
  dark: boolean,
  width: number,
  onMove: (at: number | null) => void,
): uPlot.Options {
  const ink = dark ? '#93a1b5' : '#5d6a7c';
  const grid = { stroke: dark ? '#2a323e' : '#e6eaef', width: 1 };
  const axis = { stroke: ink, grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
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
      { stroke: dark ? '#6ea8fe' : '#2f6fd0', width: 1.75, points: { show: curve.x.length < 30, size: 4 } },
    ],
    hooks: { setCursor: [(plot) => onMove(plot.cursor.idx ?? null)] },
  };
}
