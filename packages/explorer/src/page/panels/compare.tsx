import { useMemo } from 'preact/hooks';
import { type Comparison, type Graph, type Labels, openedWith } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { labelColour } from '../graph/colours.ts';
import { percent, titleIn } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Choice, Dot, Empty, type Option, Press, Show, SymbolLink, Waiting } from '../parts.tsx';
import { readState, type ViewState } from '../state.ts';
import { DataTable } from '../tables.tsx';
import { bitsOf } from '../texts/filter.ts';
import { defaultGroups, groupName, groupOfLabel, groupText } from '../texts/group.ts';
import { selectBy, type Texts, useFilter } from '../texts/use-texts.ts';
import { usePanel } from './panel.ts';
import { NoTexts } from './texts.tsx';

const MOST_ROWS = 12;
const SURE = 0.05;

/** Two groups of texts: what one has more of than the other, with intervals and corrected tests. */
export function ComparePanel() {
  const { run, texts, labels, view } = usePanel();
  if (!texts) return <NoTexts />;
  // What is compared to begin with is chosen by how labels differ.
  if (openedWith(run, 'labels') && !labels) return <Waiting what="Counting labels …" />;
  return <Compare texts={texts} view={chosenOr(view, texts, labels)} />;
}

/** What was chosen to be compared; two groups that differ to begin with where nothing was. */
const chosenOr = (view: ViewState, { data }: Texts, labels: Labels | null): ViewState =>
  view.first === '' && view.second === '' ? { ...view, ...defaultGroups(data, labels) } : view;

interface CompareProps {
  texts: Texts;
  /** With the groups that are compared. */
  view: ViewState;
}

function Compare({ texts, view }: CompareProps) {
  const { client, run, graph } = usePanel();
  const first = useGroup(texts, view.first);
  const second = useGroup(texts, view.second);
  const [one, other] = [view.first, view.second].map((text) => groupName(text, graph)) as [string, string];
  const ready = view.first !== '' && first !== null && (view.second === '' || second !== null);
  const key = ready
    ? `${run.id} ${run.opened?.identity} ${view.first} ${view.second} ${first.bits.length} ${first.count} ${second?.count}`
    : null;
  const loaded = useLoaded(key, (signal) => {
    const beside = view.second === '' ? {} : { second: { name: other, texts: second!.bits } };
    return client.compare({ first: { name: one, texts: first!.bits }, ...beside }, signal);
  });
  return (
    <section class="compare" aria-label="Compare">
      <GroupChoice {...{ texts, view }} at="first" name="First group" />
      <GroupChoice {...{ texts, view }} at="second" name="Second group" />
      {view.first === '' ? (
        <Empty>
          Draw around texts on the map or find some under Texts, then choose them here. Without a second group
          they are compared with all others.
        </Empty>
      ) : (
        <Show of={loaded} what="Comparing …">
          {(found) => <Findings {...{ found, view }} />}
        </Show>
      )}
    </section>
  );
}

/** A group's texts as bits; null while its words are looked for. */
function useGroup(texts: Texts, text: string) {
  const { client, run } = usePanel();
  const view = useMemo(() => readState(text), [text]);
  const { filter, failure } = useFilter(
    client,
    text === '' ? null : `${run.id} ${run.opened?.identity}`,
    view,
  );
  return useMemo(() => {
    if (text === '' || failure !== null || (view.words.trim() !== '' && filter.words === null)) return null;
    const { selected, count } = selectBy(texts.data, filter);
    return { bits: bitsOf(selected), count };
  }, [texts.data, filter, text, failure]);
}

interface GroupChoiceProps extends CompareProps {
  at: 'first' | 'second';
  name: string;
}

const SELECTED = 'selected';
const KEPT = 'kept';

function GroupChoice({ at, name, texts, view }: GroupChoiceProps) {
  const { change, graph } = usePanel();
  const asked = view[at];
  const labels = texts.data.labels;
  const label = labels.findIndex((one) => groupOfLabel(one) === asked);
  const value = asked === '' ? '' : label >= 0 ? String(label) : KEPT;
  const choose = (chosen: string) => {
    if (chosen === KEPT) return;
    const text =
      chosen === '' ? '' : chosen === SELECTED ? groupText(view) : groupOfLabel(labels[Number(chosen)]!);
    const { first, second } = view;
    change(at === 'first' ? { first: text, second } : { first, second: text });
  };
  const chosen = `the texts chosen on the map or under Texts (${texts.count.toLocaleString('en')})`;
  const options: Option[] = [
    ['', at === 'first' ? 'choose …' : 'all other texts'],
    ...(value === KEPT ? [[KEPT, groupName(asked, graph)] as const] : []),
    ...(texts.active ? [[SELECTED, chosen] as const] : []),
    ...labels.map((one, number) => [String(number), one] as const),
  ];
  return (
    <p class="group-choice">
      <Dot colour={labelColour(at === 'first' ? 0 : 1)} square />
      <Choice {...{ label: name, options, value, onChoose: choose }} />
    </p>
  );
}

type FindingProps = Pick<CompareProps, 'view'> & { found: Comparison };

function Findings({ found, view }: FindingProps) {
  const [first, second] = found.groups;
  return (
    <>
      <p class="faint">
        {first!.texts.toLocaleString('en')} texts against {second!.texts.toLocaleString('en')}
        {found.both > 0 ? `; ${found.both.toLocaleString('en')} in both are left out` : ''}.
      </p>
      <InWords {...{ found, view }} />
      <Table found={found} what="symbols" />
      <Table found={found} what="links" />
      <details class="fold">
        <summary>How this is tested</summary>
        <p class="faint">
          Share of a group’s texts that go through a theme, or from one theme to another. {found.sure.symbols}{' '}
          of {found.tests.symbols} themes and {found.sure.links} of {found.tests.links} links differ at a
          corrected p below {SURE}. Intervals: {found.interval}. {found.test}; {found.correction}.
        </p>
      </details>
    </>
  );
}

const FEW = 3;

/** What each group has more of, as a sentence each. */
function InWords({ found, view }: FindingProps) {
  const { graph } = usePanel();
  const sure = found.symbols.filter(({ corrected }) => corrected < SURE);
  const told = ({ symbol, own, others }: (typeof sure)[number]) =>
    `${titleIn(graph, symbol)} (${percent(own.share)} against ${percent(others.share)})`;
  const sides = [
    { group: view.first, rows: sure.filter(({ difference }) => difference > 0) },
    {
      group: view.second,
      rows: sure
        .filter(({ difference }) => difference < 0)
        .map((row) => ({ ...row, own: row.others, others: row.own })),
    },
  ];
  return (
    <ul class="in-words">
      {sides.map(({ group, rows }, at) => (
        <li key={at}>
          <Dot colour={labelColour(at)} square />
          <span>
            <b>{at === 1 && group === '' ? 'All other texts' : groupName(group, graph)}</b>{' '}
            {rows.length === 0
              ? 'has nothing that is surely more frequent.'
              : `has more of ${rows.slice(0, FEW).map(told).join(', ')}.`}
          </span>
        </li>
      ))}
    </ul>
  );
}

type Row = Comparison['symbols'][number] | Comparison['links'][number];

function Table({ found, what }: { found: Comparison; what: 'symbols' | 'links' }) {
  const { graph } = usePanel();
  const rows: readonly Row[] = found[what];
  const sure = rows.filter(({ corrected }) => corrected < SURE).slice(0, MOST_ROWS);
  // Where nothing is sure, what comes nearest says more than an empty table.
  const shown = sure.length > 0 ? sure : rows.toSorted((a, b) => a.p - b.p).slice(0, FEW);
  const full = Math.max(...shown.flatMap(({ own, others }) => [own.interval[1], others.interval[1]]), 1e-9);
  return (
    <>
      <TableHead name={`compare-${what}`} rows={() => csvRows(rows, (row) => named(row, graph))}>
        {what === 'symbols' ? 'Themes' : 'Themes one after the other'}
      </TableHead>
      {sure.length > 0 ? null : (
        <p class="faint">None differs surely{shown.length > 0 ? '; nearest to it:' : '.'}</p>
      )}
      {shown.length === 0 ? null : (
        <DataTable
          class="compared"
          data-what={what}
          of={shown}
          columns={[
            { head: what === 'symbols' ? 'Theme' : 'Link', cell: (row) => <Compared row={row} /> },
            { head: 'Share of texts', cell: (row) => <Shares row={row} full={full} /> },
            { head: 'Difference', class: 'number', cell: (row) => <Difference row={row} /> },
            { head: 'p', class: 'number', cell: ({ corrected }) => pText(corrected) },
          ]}
        />
      )}
    </>
  );
}

const named = (row: Row, graph: Graph | null): string =>
  ('symbol' in row ? [row.symbol] : row.link).map((symbol) => titleIn(graph, symbol)).join(' – ');

/** A theme that can be gone to, or a link whose texts can be lit. */
function Compared({ row }: { row: Row }) {
  const { graph, change } = usePanel();
  if ('symbol' in row) return <SymbolLink symbol={row.symbol} />;
  return (
    <Press class="plain" onClick={() => change({ only: row.link })}>
      {named(row, graph)}
    </Press>
  );
}

const Difference = ({ row }: { row: Row }) => (
  <>
    {points(row.difference)} <span class="interval faint">{intervalText(row)}</span>
  </>
);

const points = (share: number): string => `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)}`;
const intervalText = ({ differenceInterval: [low, high] }: Row): string =>
  `${points(low)} to ${points(high)}`;
const pText = (p: number): string => (p < 0.0001 ? '<0.0001' : p.toFixed(4));

/** Both shares with their intervals, one above the other; the line ends at `full`. */
const Shares = ({ row, full }: { row: Row; full: number }) => (
  <span class="shares">
    {[row.own, row.others].map(({ share, interval: [low, high] }, at) => (
      <span key={at} class="share-line">
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect y="3" width="100" height="2" class="rail" />
          <rect
            x={(100 * low) / full}
            y="2.5"
            width={(100 * (high - low)) / full}
            height="3"
            fill={labelColour(at)}
            opacity="0.45"
          />
          <rect
            x={Math.max(0, (100 * share) / full - 1)}
            y="0.5"
            width="2"
            height="7"
            fill={labelColour(at)}
          />
        </svg>
        <span class="number">{percent(share)}</span>
      </span>
    ))}
  </span>
);

const CSV_HEADS = 'name,first,low,high,second,low,high,difference,low,high,effect,p,corrected'.split(',');
const csvRows = (rows: readonly Row[], named: (row: Row) => string) => [
  CSV_HEADS,
  ...rows.map((row) => [
    ...[named(row), row.own.share, ...row.own.interval, row.others.share, ...row.others.interval],
    ...[row.difference, ...row.differenceInterval, row.effect, row.p, row.corrected],
  ]),
];
