import type { Curve } from '../../shared/curves.ts';
import { clientOf, type RunSummary } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { labelColour } from '../graph/colours.ts';
import { inksOf } from '../inks.ts';
import { decimal } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Dot, Empty, Show } from '../parts.tsx';
import { Chart, type Line } from './chart.tsx';
import type { PanelProps } from './panel.ts';

/** All runs that are served; two or more side by side in figures, settings and curves. */
export function RunsPanel({ runs, run, view, change, dark }: PanelProps) {
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
      <table class="run-list">
        <thead>
          <tr>
            <th>Compare</th>
            <th>Run</th>
            <th>State</th>
            <th>Step</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((one) => (
            <RunRow key={one.id} {...{ one, run, view, change }} />
          ))}
        </tbody>
      </table>
      {chosen.length < 2 ? (
        <Empty>Tick two or more runs to compare them.</Empty>
      ) : (
        <>
          <Figures chosen={chosen} />
          <Differences chosen={chosen} />
          <Curves chosen={chosen} dark={dark} />
        </>
      )}
    </section>
  );
}

type RunRowProps = Pick<PanelProps, 'run' | 'view' | 'change'> & { one: RunSummary };

function RunRow({ one, run, view, change }: RunRowProps) {
  const { id, fault, problem } = one;
  const compared = view.with.includes(id);
  return (
    <tr data-run={id} class={id === run.id ? 'current' : ''}>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${id}`}
          checked={compared}
          disabled={fault !== null}
          onChange={() =>
            change({ with: compared ? view.with.filter((other) => other !== id) : [...view.with, id] })
          }
        />
      </td>
      <td>
        <button
          type="button"
          class="plain"
          title="Look at this run"
          onClick={() => change({ run: id, symbol: null, walk: [], maps: [] })}
        >
          {id}
        </button>
      </td>
      <td>
        <span class={`state ${one.state}`}>{one.state}</span>
      </td>
      {fault === null && problem === null ? <StepCell {...one} /> : <td class="fault">{fault ?? problem}</td>}
    </tr>
  );
}

const StepCell = ({ lastStep, steps }: RunSummary) => (
  <td class="number">
    {(lastStep ?? 0).toLocaleString('en')} of {steps?.toLocaleString('en')}
  </td>
);

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
        <table class="comparison" data-table={name}>
          <thead>
            <tr>
              <th />
              {chosen.map(({ id }, at) => (
                <th key={id}>
                  <Dot colour={labelColour(at)} />
                  {id}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([row, values]) => (
              <ComparedRow key={row} row={row} values={values} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const ComparedRow = ({ row, values }: { row: string; values: readonly (Value | undefined)[] }) => (
  <tr data-row={row}>
    <th scope="row">{row}</th>
    {values.map((value, at) => (
      <td key={at} class="number">
        {shown(value)}
      </td>
    ))}
  </tr>
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
function Curves({ chosen, dark }: Compared & { dark: boolean }) {
  const key = chosen.map(({ id, lastStep }) => `${id} ${lastStep}`).join('\n');
  const loaded = useLoaded(key, async (signal) => {
    const all = await Promise.all(chosen.map(({ id }) => clientOf(id).curves(undefined, signal)));
    return all.map(({ curves }) => (curves ?? []).filter(({ axis }) => axis === 'step'));
  });
  return (
    <Show of={loaded} what="Reading the metrics …">
      {(curves) => (
        <div class="charts">
          {[...new Set(curves.flat().map(({ name }) => name))].map((name) => (
            <Chart
              key={name}
              name={name}
              axis="step"
              dark={dark}
              lines={linesOf(name, curves, chosen, dark)}
            />
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
  dark: boolean,
): Line[] {
  return curves.flatMap((all, at) => {
    const curve = all.find((one) => one.name === name);
    const colour = at < 10 ? labelColour(at) : inksOf(dark).faint;
    return curve ? [{ name: chosen[at]!.id, colour, x: curve.x, y: curve.y }] : [];
  });
}
