import { useRef, useState } from 'preact/hooks';
import type { Client, Run } from '../client.ts';
import { Downloads } from '../downloads.tsx';
import { TableHead } from '../figure.tsx';
import { inksOf } from '../inks.ts';
import { latest, useLoaded, usePolling } from '../loading.ts';
import { Empty, Failure, Show, Waiting } from '../parts.tsx';
import { Chart } from './chart.tsx';
import { curvesOf, type Row } from './curves.ts';
import type { PanelProps } from './panel.ts';

/** Live curves of training: every number that is logged; symbols in use; sentences written again. */
export function TrainingPanel(props: PanelProps) {
  const { client, run, dark } = props;
  const { rows, state, fault } = useMetrics(client, run.id);
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
  return (
    <>
      <Summary {...{ run, rows, state }} />
      <div class="charts">
        {curves.map((curve) => (
          <Chart
            key={`${curve.axis} ${curve.name}`}
            name={curve.name}
            axis={curve.axis}
            lines={[{ ...curve, colour: inksOf(dark).accent }]}
            dark={dark}
          />
        ))}
      </div>
      {run.opened?.features.includes('samples') ? <Samples {...props} /> : null}
    </>
  );
}

function Summary({ run, rows, state }: { run: Run; rows: Row[]; state: string }) {
  const used = rows.findLast((row) => typeof row.symbols_used === 'number')?.symbols_used;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = () => [names, ...rows.map((row) => names.map((name) => row[name] ?? null))];
  return (
    <p class="faint split">
      <span>
        {rows.length.toLocaleString('en')} rows{state === 'running' ? ', live' : ''}
        {typeof used === 'number' ? (
          <span data-used={used}>
            {' · '}
            {used} of {String(run.config.symbols ?? run.opened?.symbols)} symbols in use
          </span>
        ) : null}
      </span>
      <Downloads name="metrics" rows={table} />
    </p>
  );
}

const SAMPLES = 5;

/** What the checkpoint makes of validation sentences: read, then written again from the walk alone. */
function Samples({ client, run, change }: PanelProps) {
  const loaded = useLoaded(`${run.id} ${run.opened?.step}`, (signal) => client.samples(SAMPLES, signal));
  const rows = () => [
    ['text', 'walk', 'written'],
    ...(latest(loaded)?.samples ?? []).map(({ text, walk, written }) => [text, walk.join(' '), written]),
  ];
  return (
    <section class="reconstructions" aria-label="Reconstructions">
      <TableHead name="reconstructions" rows={rows}>
        Read and written again, step {run.opened?.step.toLocaleString('en')}
      </TableHead>
      <Show of={loaded} what="Writing …">
        {({ samples }) => (
          <ul class="examples">
            {samples.map(({ text, walk, written }, at) => (
              <li key={at}>
                <button
                  type="button"
                  class="sentence"
                  title="Show its walk"
                  onClick={() => change({ panel: 'sentence', text })}
                >
                  <span class="sentence-text">{text}</span>
                  <span class="walk-line number">{walk.join(' → ')}</span>
                  <span class="sentence-text written">{written || '(nothing)'}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Show>
    </section>
  );
}

interface Metrics {
  rows: Row[];
  state: Run['state'] | null;
  fault: string | null;
}

function useMetrics(client: Client, id: string): Metrics {
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
  }, id);
  return metrics;
}
