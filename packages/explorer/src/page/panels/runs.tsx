import type { Curve } from '../../shared/curves.ts';
import { clientOf, type RunSummary } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { labelColour } from '../graph/colours.ts';
import { inksOf } from '../inks.ts';
import { decimal } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Empty, Show } from '../parts.tsx';
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
  const toggle = (id: string) =>
    change({ with: view.with.includes(id) ? view.with.filter((one) => one !== id) : [...view.with, id] });
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
            <tr key={one.id} data-run={one.id} class={one.id === run.id ? 'current' : ''}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Compare ${one.id}`}
                  checked={view.with.includes(one.id)}
                  disabled={one.fault !== null}
                  onChange={() => toggle(one.id)}
                />
              </td>
              <td>
                <button
                  type="button"
                  class="plain"
                  title="Look at this run"
                  onClick={() => change({ run: one.id, symbol: null, walk: [], maps: [] })}
                >
                  {one.id}
                </button>
              </td>
              <td>
                <span class={`state ${one.state}`}>{one.state}</span>
              </td>
              {one.fault === null && one.problem === null ? (
                <td class="number">
                  {(one.lastStep ?? 0).toLocaleString('en')} of {one.steps?.toLocaleString('en')}
                </td>
              ) : (
                <td class="fault">{one.fault ?? one.problem}</td>
              )}
            </tr>
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

const Comparison = ({ chosen, name, title, rows }: CompareProps) => (
  <>
    <TableHead
      name={name}
      rows={() => [
        ['', ...chosen.map(({ id }) => id)],
        ...rows.map(([row, values]) => [
          row,
          ...values.map((value) => (typeof value === 'number' ? value : shown(value))),
        ]),
      ]}
    >
      {title}
    </TableHead>
    <div class="scroll-x">
      <table class="comparison" data-table={name}>
        <thead>
          <tr>
            <th />
            {chosen.map(({ id }, at) => (
              <th key={id}>
                <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
                  <circle cx="5" cy="5" r="5" fill={labelColour(at)} />
                </svg>
                {id}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([row, values]) => (
            <tr key={row} data-row={row}>
              <th scope="row">{row}</th>
              {values.map((value, at) => (
                <td key={at} class="number">
                  {shown(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
