import type { CsvCell as Cell } from '@hidden-schema/base/csv';
import { useRef, useState } from 'preact/hooks';
import type { Answer } from '../../shared/api.ts';
import type { Curve } from '../../shared/curves.ts';
import { type Client, openedWith, type Run } from '../client.ts';
import { Downloads, TableHead } from '../figure.tsx';
import { inksOf } from '../graph/colours.ts';
import { latest, useLoaded, usePolling } from '../loading.ts';
import { Empty, Failure, Show, Waiting } from '../parts.tsx';
import { csvOf } from '../tables.tsx';
import { Chart } from './chart.tsx';
import { usePanel } from './panel.ts';
import { Sentences } from './sentences.tsx';

/** Live curves of training: every number that is logged; symbols in use; sentences written again. */
export function TrainingPanel() {
  const { client, run, dark } = usePanel();
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
      <Summary {...{ curves, total, state }} />
      <div class="charts">
        {curves.map((curve) => (
          <Chart
            key={`${curve.axis} ${curve.name}`}
            name={curve.name}
            axis={curve.axis}
            lines={[{ ...curve, colour: inksOf(dark).accent }]}
          />
        ))}
      </div>
      {openedWith(run, 'samples') ? <Samples /> : null}
    </>
  );
}

function Summary({ curves, total, state }: Omit<Curves, 'fault'>) {
  const { client, run } = usePanel();
  const used = curves.find(({ name }) => name === 'symbols_used')?.y.at(-1);
  return (
    <p class="faint split">
      <span>
        {total.toLocaleString('en')} rows{state === 'running' ? ', live' : ''}
        {typeof used === 'number' ? (
          <span data-used={used}>
            {' · '}
            {used} of {String(run.config.symbols ?? run.opened?.symbols)} themes in use
          </span>
        ) : null}
      </span>
      <Downloads name="metrics" rows={() => allRows(client)} />
    </p>
  );
}

const SAMPLES = 5;

/** What the checkpoint makes of validation sentences: read, then written again from the walk alone. */
function Samples() {
  const { client, run, change } = usePanel();
  const loaded = useLoaded(`${run.id} ${run.opened?.step}`, (signal) =>
    client.samples({ limit: SAMPLES }, signal),
  );
  const rows = csvOf(latest(loaded)?.samples ?? [], {
    ...{ text: 'text', walk: ({ walk }) => walk.join(' '), written: 'written' },
  });
  return (
    <section class="reconstructions" aria-label="Reconstructions">
      <TableHead name="reconstructions" rows={rows}>
        Read and written again, step {run.opened?.step.toLocaleString('en')}
      </TableHead>
      <Show of={loaded} what="Writing …">
        {({ samples }) => (
          <Sentences
            of={samples}
            onRead={({ text }) => change({ panel: 'sentence', text })}
            more={({ walk, written }) => (
              <>
                <span class="walk-line number">{walk.join(' → ')}</span>
                <span class="sentence-text written">{written || '(nothing)'}</span>
              </>
            )}
          />
        )}
      </Show>
    </section>
  );
}

/** Every row that was logged, asked for piece by piece. */
async function allRows(client: Client): Promise<Cell[][]> {
  const rows: Answer<'metrics'>['rows'] = [];
  for (let total = 1; rows.length < total; ) {
    const answer = await client.metrics({ from: rows.length });
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
      const { curves, total, state } = await client.curves({ known: known.current }, signal);
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
