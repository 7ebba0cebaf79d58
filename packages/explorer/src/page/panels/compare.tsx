import { useMemo } from 'preact/hooks';
import type { Comparison } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { labelColour } from '../graph/colours.ts';
import { percent, title } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Dot, Empty, Failure, Show, SymbolLink, Waiting } from '../parts.tsx';
import { readState, type ViewState } from '../state.ts';
import { defaultGroups } from '../texts/default-groups.ts';
import { bitsOf } from '../texts/filter.ts';
import { groupName, groupOfLabel, groupText } from '../texts/group.ts';
import { selectBy, type Texts, useFilter } from '../texts/use-texts.ts';
import type { PanelProps } from './panel.ts';

const MOST_ROWS = 12;
const SURE = 0.05;

/** Two groups of texts: what one has more of than the other, with intervals and corrected tests. */
export function ComparePanel(props: PanelProps) {
  const { texts, textsFailure, view } = props;
  if (!texts)
    return textsFailure === null ? <Waiting what="Reading texts …" /> : <Failure message={textsFailure} />;
  return <Compare {...props} texts={texts} view={chosenOr(view, texts)} />;
}

/** What was chosen to be compared; two large groups to begin with where nothing was. */
const chosenOr = (view: ViewState, { data }: Texts): ViewState =>
  view.first === '' && view.second === '' ? { ...view, ...defaultGroups(data) } : view;

type CompareProps = PanelProps & { texts: Texts };

function Compare(props: CompareProps) {
  const { client, run, texts, view } = props;
  const nodes = props.graph?.nodes ?? [];
  const first = useGroup(props, view.first);
  const second = useGroup(props, view.second);
  const [one, other] = [view.first, view.second].map((text) => groupName(text, nodes)) as [string, string];
  const ready = view.first !== '' && first !== null && (view.second === '' || second !== null);
  const key = ready
    ? `${run.id} ${run.opened?.identity} ${view.first} ${view.second} ${first.bits.length} ${first.count} ${second?.count}`
    : null;
  const loaded = useLoaded(key, (signal) => {
    const beside = view.second === '' ? undefined : { name: other, texts: second!.bits };
    return client.compare({ name: one, texts: first!.bits }, beside, signal);
  });
  return (
    <section class="compare" aria-label="Compare">
      <GroupChoice {...props} texts={texts} at="first" name="First group" />
      <GroupChoice {...props} texts={texts} at="second" name="Second group" />
      {view.first === '' ? (
        <Empty>
          Draw around texts on the map or find some under Texts, then choose them here. Without a second group
          they are compared with all others.
        </Empty>
      ) : (
        <Show of={loaded} what="Comparing …">
          {(value) => <Findings {...props} found={value} />}
        </Show>
      )}
    </section>
  );
}

/** A group's texts as bits; null while its words are looked for. */
function useGroup({ client, run, texts }: CompareProps, text: string) {
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

function GroupChoice({ at, name, texts, view, change, graph }: GroupChoiceProps) {
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
  return (
    <label class="group-choice">
      <Dot colour={labelColour(at === 'first' ? 0 : 1)} square />
      <span class="group-name">{name}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{at === 'first' ? 'choose …' : 'all other texts'}</option>
        {value === KEPT ? <option value={KEPT}>{groupName(asked, graph?.nodes ?? [])}</option> : null}
        <option value={SELECTED} disabled={!texts.active}>
          the texts chosen on the map or under Texts ({texts.count.toLocaleString('en')})
        </option>
        {labels.map((one, number) => (
          <option key={one} value={String(number)}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

type FindingProps = CompareProps & { found: Comparison };

function Findings(props: FindingProps) {
  const { found } = props;
  const [first, second] = found.groups;
  return (
    <>
      <p class="faint">
        {first!.texts.toLocaleString('en')} texts beside {second!.texts.toLocaleString('en')}
        {found.both > 0 ? `; ${found.both.toLocaleString('en')} in both are left out` : ''}.
      </p>
      <InWords {...props} />
      <Table {...props} what="symbols" />
      <Table {...props} what="links" />
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
function InWords({ found, view, graph }: FindingProps) {
  const nodes = graph?.nodes ?? [];
  const sure = found.symbols.filter(({ corrected }) => corrected < SURE);
  const share = ({ own, others }: Row) => `${percent(own.share)} against ${percent(others.share)}`;
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
            <b>{at === 1 && group === '' ? 'All other texts' : groupName(group, nodes)}</b>{' '}
            {rows.length === 0
              ? 'has nothing that is surely more frequent.'
              : `has more of ${rows
                  .slice(0, FEW)
                  .map(
                    (row) => `${nodes[row.symbol] ? title(nodes[row.symbol]!) : row.symbol} (${share(row)})`,
                  )
                  .join(', ')}.`}
          </span>
        </li>
      ))}
    </ul>
  );
}

type Row = Comparison['symbols'][number] | Comparison['links'][number];

function Table({ found, what, graph, goTo, change }: FindingProps & { what: 'symbols' | 'links' }) {
  const rows: readonly Row[] = found[what];
  const sure = rows.filter(({ corrected }) => corrected < SURE);
  const nameOf = (symbol: number) => (graph?.nodes[symbol] ? title(graph.nodes[symbol]) : String(symbol));
  const named = (row: Row) => ('symbol' in row ? nameOf(row.symbol) : row.link.map(nameOf).join(' – '));
  return (
    <>
      <TableHead name={`compare-${what}`} rows={() => csvRows(rows, named)}>
        {what === 'symbols' ? 'Themes' : 'Themes one after the other'}
      </TableHead>
      {sure.length === 0 ? (
        <p class="faint">None differs surely.</p>
      ) : (
        <table class="compared" data-what={what}>
          <thead>
            <tr>
              <th>{what === 'symbols' ? 'Theme' : 'Link'}</th>
              <th>Share of texts</th>
              <th>Difference</th>
              <th>p</th>
            </tr>
          </thead>
          <tbody>
            {sure.slice(0, MOST_ROWS).map((row) => (
              <ComparedRow key={named(row)} {...{ row, goTo, change }} name={named(row)} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

type ComparedRowProps = Pick<FindingProps, 'goTo' | 'change'> & { row: Row; name: string };

const ComparedRow = ({ row, name, goTo, change }: ComparedRowProps) => (
  <tr>
    <td>
      {'symbol' in row ? (
        <SymbolLink symbol={row.symbol} label={name} onChoose={goTo} />
      ) : (
        <button type="button" class="plain" onClick={() => change({ only: row.link })}>
          {name}
        </button>
      )}
    </td>
    <td>
      <Shares row={row} />
    </td>
    <td class="number">
      {points(row.difference)} <span class="interval faint">{intervalText(row)}</span>
    </td>
    <td class="number">{pText(row.corrected)}</td>
  </tr>
);

const points = (share: number): string => `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)}`;
const intervalText = ({ differenceInterval: [low, high] }: Row): string =>
  `${points(low)} to ${points(high)}`;
const pText = (p: number): string => (p < 0.0001 ? '<0.0001' : p.toFixed(4));

/** Both shares with their intervals, one above the other. */
const Shares = ({ row }: { row: Row }) => (
  <span class="shares">
    {[row.own, row.others].map(({ share, interval: [low, high] }, at) => (
      <span key={at} class="share-line">
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect y="3" width="100" height="2" class="rail" />
          <rect
            x={100 * low}
            y="2.5"
            width={100 * (high - low)}
            height="3"
            fill={labelColour(at)}
            opacity="0.45"
          />
          <rect x={Math.max(0, 100 * share - 1)} y="0.5" width="2" height="7" fill={labelColour(at)} />
        </svg>
        <span class="number">{percent(share)}</span>
      </span>
    ))}
  </span>
);

const csvRows = (rows: readonly Row[], named: (row: Row) => string) => [
  [
    'name',
    'first',
    'low',
    'high',
    'second',
    'low',
    'high',
    'difference',
    'low',
    'high',
    'effect',
    'p',
    'corrected',
  ],
  ...rows.map((row) => [
    ...[named(row), row.own.share, ...row.own.interval, row.others.share, ...row.others.interval],
    ...[row.difference, ...row.differenceInterval, row.effect, row.p, row.corrected],
  ]),
];
