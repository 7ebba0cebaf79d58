import type { Curve } from '../../shared/curves.ts';
import { clientOf, type RunSummary } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { inksOf, labelColour } from '../graph/colours.ts';
import { decimal } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Dot, Empty, Press, Show } from '../parts.tsx';
import { type Change, toggled, type ViewState } from '../state.ts';
import { type Column, DataTable } from '../tables.tsx';
import { Chart, type Line } from './chart.tsx';
import { usePanel } from './panel.ts';

/** All runs that are served; two or more side by side in figures, settings and curves. */
export function RunsPanel() {
  const { runs, run, view, change } = usePanel();
  if (runs.length < 2)
    return (
      <Empty>
        Only this run is served. To compare runs, name several, or a folder that holds them:
        <code class="command">hsn serve run-a run-b</code>
      </Empty>
    );
  const chosen = runs.filter(({ id, fault }) => fault === null && view.with.includes(id));
  return (
    <section class="runs" aria-label="Runs">
      <DataTable
        class="run-list"
        of={runs}
        rowOf={({ id }) => ({ 'data-run': id, class: id === run.id ? 'current' : '' })}
        columns={runColumns(view, change)}
      />
      {chosen.length < 2 ? (
        <Empty>Tick two or more runs to compare them.</Empty>
      ) : (
        <>
          <Figures chosen={chosen} />
          <Differences chosen={chosen} />
          <Curves chosen={chosen} />
        </>
      )}
    </section>
  );
}

const runColumns = (view: ViewState, change: Change): Column<RunSummary>[] => [
  {
    head: 'Compare',
    cell: ({ id, fault }) => (
      <input
        type="checkbox"
        aria-label={`Compare ${id}`}
        checked={view.with.includes(id)}
        disabled={fault !== null}
        onChange={() => change({ with: toggled(view.with, id) })}
      />
    ),
  },
  {
    head: 'Run',
    cell: ({ id }) => (
      <Press
        class="plain"
        title="Look at this run"
        onClick={() => change({ run: id, symbol: null, walk: [], maps: [] })}
      >
        {id}
      </Press>
    ),
  },
  { head: 'State', cell: ({ state }) => <span class={`state ${state}`}>{state}</span> },
  {
    head: 'Step',
    cell: ({ fault, problem, lastStep, steps }) => (
      <span class={(fault ?? problem) ? 'fault' : 'number'}>
        {fault ?? problem ?? `${(lastStep ?? 0).toLocaleString('en')} of ${steps?.toLocaleString('en')}`}
      </span>
    ),
  },
];

type Compared = { chosen: readonly RunSummary[] };
type Value = string | number | boolean | null;

const shown = (value: Value | undefined): string => {
  if (value === undefined || value === null) return '–';
  return typeof value === 'number' ? decimal(value) : String(value);
};

interface CompareProps extends Compared {
  name: string;
  title: string;
  /** Row names with each run's value. */
  rows: readonly (readonly [string, readonly (Value | undefined)[]])[];
}

function Comparison({ chosen, name, title, rows }: CompareProps) {
  const tableRows = () => [
    ['', ...chosen.map(({ id }) => id)],
    ...rows.map(([row, values]) => [
      row,
      ...values.map((value) => (typeof value === 'number' ? value : shown(value))),
    ]),
  ];
  return (
    <>
      <TableHead name={name} rows={tableRows}>
        {title}
      </TableHead>
      <div class="scroll-x">
        <DataTable
          class="comparison"
          data-table={name}
          of={rows}
          rowOf={([row]) => ({ 'data-row': row })}
          columns={[
            { head: '', names: true, cell: ([row]) => row },
            ...chosen.map(({ id }, at) => ({
              head: <RunHead id={id} at={at} />,
              class: 'number',
              cell: ([, values]: (typeof rows)[number]) => shown(values[at]),
            })),
          ]}
        />
      </div>
    </>
  );
}

const RunHead = ({ id, at }: { id: string; at: number }) => (
  <>
    <Dot colour={labelColour(at)} />
    {id}
  </>
);

function Figures({ chosen }: Compared) {
  const names = [...new Set(chosen.flatMap(({ figures }) => Object.keys(figures)))];
  if (names.length === 0) return <p class="faint">None of these runs has been evaluated yet.</p>;
  const rows = names.map((name) => [name, chosen.map(({ figures }) => figures[name])] as const);
  return <Comparison {...{ chosen, rows }} name="figures" title="Figures" />;
}

function Differences({ chosen }: Compared) {
  const names = [...new Set(chosen.flatMap(({ settings }) => Object.keys(settings)))];
  const rows = names
    .map((name) => [name, chosen.map(({ settings }) => settings[name])] as const)
    .filter(([, values]) => new Set(values).size > 1);
  if (rows.length === 0) return <p class="faint">All settings are the same.</p>;
  return <Comparison {...{ chosen, rows }} name="settings" title="Settings that differ" />;
}

/** The same quantity of each run in one picture. */
function Curves({ chosen }: Compared) {
  const { faint } = inksOf(usePanel().dark);
  const key = chosen.map(({ id, lastStep }) => `${id} ${lastStep}`).join('\n');
  const loaded = useLoaded(key, async (signal) => {
    const all = await Promise.all(chosen.map(({ id }) => clientOf(id).curves({}, signal)));
    return all.map(({ curves }) => (curves ?? []).filter(({ axis }) => axis === 'step'));
  });
  return (
    <Show of={loaded} what="Reading the metrics …">
      {(curves) => (
        <div class="charts">
          {[...new Set(curves.flat().map(({ name }) => name))].map((name) => (
            <Chart key={name} name={name} axis="step" lines={linesOf(name, curves, chosen, faint)} />
          ))}
        </div>
      )}
    </Show>
  );
}

function linesOf(
  name: string,
  curves: readonly (readonly Curve[])[],
  chosen: readonly RunSummary[],
  faint: string,
): Line[] {
  return curves.flatMap((all, at) => {
    const curve = all.find((one) => one.name === name);
    const colour = at < 10 ? labelColour(at) : faint;
    return curve ? [{ name: chosen[at]!.id, colour, x: curve.x, y: curve.y }] : [];
  });
}
