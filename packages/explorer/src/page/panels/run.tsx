import {
  languageMeanings,
  symbolMeanings,
  syntheticMeanings,
} from '@hidden-schema/studies/measures/figure-meanings';
import type { ComponentChildren } from 'preact';
import type { Run } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { decimal, sentenceCase } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { DataTable } from '../tables.tsx';
import { usePanel } from './panel.ts';

export function RunPanel() {
  const { run } = usePanel();
  return (
    <>
      <Facts run={run} />
      <Evaluation />
      <details class="fold">
        <summary>Settings</summary>
        <Settings value={run.config} />
      </details>
      <details class="fold">
        <summary>Keys</summary>
        <Keys />
      </details>
      <p class="faint">
        The same data for programs: <a href="/api/openapi.json">the HTTP API</a>
      </p>
    </>
  );
}

const Row = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <tr>
    <th scope="row">{name}</th>
    <td>{children}</td>
  </tr>
);

const MOST_LABELS = 20;
const count = (n: number): string => n.toLocaleString('en');

function Facts({ run }: { run: Run }) {
  const { opened } = run;
  return (
    <table class="facts">
      <tbody>
        <Row name="state">
          {run.state === 'discovered' ? 'themes are found; it cannot write texts' : run.state}
          {run.seconds === null ? '' : ` (${count(Math.round(run.seconds))} s of work)`}
        </Row>
        {run.state === 'discovered' ? null : (
          <Row name="step">
            {run.lastStep ?? 0} of {run.steps}
            {opened ? `; shown: checkpoint of step ${opened.step}` : ''}
          </Row>
        )}
        <Row name="made">
          {new Date(run.created).toLocaleString()}, version {run.version}
        </Row>
        {opened ? <CorpusFacts {...opened} /> : null}
      </tbody>
    </table>
  );
}

function CorpusFacts({ corpus, symbols, walk, labels, notes }: NonNullable<Run['opened']>) {
  const { train, valid, test } = corpus.sentences;
  return (
    <>
      <Row name="corpus">{corpus.directory}</Row>
      <Row name="texts">
        {count(train)} train, {count(valid)} valid, {count(test)} test
      </Row>
      <Row name="tokens">
        {count(corpus.vocabulary)} different
        {corpus.length === null ? '' : `, ${corpus.length} in a sentence`}
      </Row>
      <Row name="themes">
        {symbols}; a text goes through at most {walk}
      </Row>
      {labels.length > 0 ? (
        <Row name="labels">
          {labels.slice(0, MOST_LABELS).join(', ')}
          {labels.length > MOST_LABELS ? ` and ${labels.length - MOST_LABELS} more` : ''}
        </Row>
      ) : null}
      {notes.map((note) => (
        <Row key={note} name="note">
          {note}
        </Row>
      ))}
    </>
  );
}

/** What the figures of a run are, in their order; others are shown under their own name. */
const meaningsOf = (run: Run): ReadonlyMap<string, string> =>
  new Map<string, string>(
    [...(run.model === 'synthetic' ? syntheticMeanings : languageMeanings), ...symbolMeanings].map(
      ([name, meaning]) => [name, meaning],
    ),
  );

function Evaluation() {
  const { client, run } = usePanel();
  const loaded = useLoaded(`${run.state} ${run.created}`, (signal) => client.evaluation({}, signal));
  // Before training ends there is none, which is no fault.
  if (loaded.state === 'failed')
    return (
      <>
        <h3>Evaluation</h3>
        <p class="faint">{sentenceCase(loaded.message)}.</p>
      </>
    );
  if (loaded.state === 'loading') return null;
  const meanings = meaningsOf(run);
  const order = [...meanings.keys()];
  const rank = ([name]: readonly [string, unknown]) =>
    meanings.has(name) ? order.indexOf(name) : order.length;
  const figures = Object.entries(loaded.value).sort((a, b) => rank(a) - rank(b));
  const rows = figures.map(([name, value]) => [name, value, meanings.get(name) ?? '']);
  return (
    <>
      <TableHead name="evaluation" rows={() => [['figure', 'value', 'meaning'], ...rows]}>
        Evaluation
      </TableHead>
      <DataTable
        class="evaluation"
        of={figures}
        rowOf={([name]) => ({ 'data-figure': name })}
        columns={[
          { names: true, cell: ([name]) => <b>{name.replaceAll('_', ' ')}</b> },
          { cell: ([name]) => meanings.get(name) },
          { class: 'number', cell: ([, value]) => (value === null ? '–' : decimal(value)) },
        ]}
      />
    </>
  );
}

/** Settings as nested lists, folded by section. */
function Settings({ value }: { value: Record<string, unknown> }) {
  const entries = Object.entries(value);
  const isGroup = (inner: unknown) => typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return (
    <div class="settings">
      {entries.map(([name, inner]) =>
        isGroup(inner) ? (
          <details key={name}>
            <summary>{name}</summary>
            <Settings value={inner as Record<string, unknown>} />
          </details>
        ) : (
          <div key={name} class="setting">
            {name} <span class="number">{Array.isArray(inner) ? inner.join(', ') : String(inner)}</span>
          </div>
        ),
      )}
    </div>
  );
}

const Keys = () => (
  <table class="facts">
    <tbody>
      <Row name="/">find a theme</Row>
      <Row name="Esc">clear the selection</Row>
      <Row name="n  p">next and previous theme (in the network)</Row>
      <Row name="Enter">take that theme; under Write it is the next step (in the network)</Row>
      <Row name="+  −  0">zoom, show all (in the picture)</Row>
      <Row name="arrows">move the picture; change the tab</Row>
    </tbody>
  </table>
);
