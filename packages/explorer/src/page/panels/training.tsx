import type { CsvCell as Cell } from '@hidden-schema/base/csv';
import { useRef, useState } from 'preact/hooks';
import type { Answer } from '../../shared/api.ts';
import type { Curve } from '../../shared/curves.ts';
import type { Client, Run } from '../client.ts';
import { Downloads } from '../downloads.tsx';
import { TableHead } from '../figure.tsx';
import { inksOf } from '../inks.ts';
import { latest, useLoaded, usePolling } from '../loading.ts';
import { Empty, Failure, Show, Waiting } from '../parts.tsx';
import { Chart } from './chart.tsx';
import type { PanelProps } from './panel.ts';

/** Live curves of training: every number that is logged; symbols in use; sentences written again. */
export function TrainingPanel(props: PanelProps) {
  const { client, run, dark } = props;
  const { curves, total, state, fault } = useCurves(client, run.id);
  if (fault !== null && total === 0) return <Failure message={fault} />;
  if (state === null) return <Waiting what="Reading the metrics …" />;
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
      <Summary {...{ client, run, curves, total, state }} />
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

type SummaryProps = Pick<Curves, 'curves' | 'total' | 'state'> & { client: Client; run: Run };

function Summary({ client, run, curves, total, state }: SummaryProps) {
  const used = curves.find(({ name }) => name === 'symbols_used')?.y.at(-1);
  return (
    <p class="faint split">
      <span>
        {total.toLocaleString('en')} rows{state === 'running' ? ', live' : ''}
        {typeof used === 'number' ? (
          <span data-used={used}>
            {' · '}
            {used} of {String(run.config.symbols ?? run.opened?.symbols)} symbols in use
          </span>
        ) : null}
      </span>
      <Downloads name="metrics" rows={() => allRows(client)} />
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

/** Every row that was logged, asked for piece by piece. */
async function allRows(client: Client): Promise<Cell[][]> {
  const rows: Answer<'metrics'>['rows'] = [];
  for (let total = 1; rows.length < total; ) {
    const answer = await client.metrics(rows.length);
    // A resumed run has cut its metrics back: begin again.
    if (answer.from < rows.length) rows.length = 0;
    for (const row of answer.rows) rows.push(row);
    total = answer.rows.length > 0 ? answer.total : 0;
  }
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names, ...rows.map((row) => names.map((name) => row[name] ?? null))];
}

interface Curves {
  curves: readonly Curve[];
  /** Rows of metrics that they are drawn from. */
  total: number;
  state: Run['state'] | null;
  fault: string | null;
}

function useCurves(client: Client, id: string): Curves {
  const [shown, setShown] = useState<Curves>({ curves: [], total: 0, state: null, fault: null });
  const known = useRef<number | undefined>(undefined);
  usePolling(async (signal) => {
    try {
      const { curves, total, state } = await client.curves(known.current, signal);
      known.current = total;
      setShown((last) => ({ curves: curves ?? last.curves, total, state, fault: null }));
      return state === 'running' ? 2000 : 10_000;
    } catch (error) {
      if (!signal.aborted) setShown((last) => ({ ...last, fault: (error as Error).message }));
      return 3000;
    }
  }, id);
  return shown;
}
