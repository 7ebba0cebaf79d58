import { useMemo } from 'preact/hooks';
import { colourOf } from '../graph/label-maps.ts';
import { labelOf, percent } from '../labels.ts';
import { usePanel } from '../panels/panel.ts';
import { Dot, Failure, Press, SymbolLink, Track, useFew } from '../parts.tsx';
import { SymbolFinder } from '../search.tsx';
import { toggled } from '../state.ts';
import { DataTable } from '../tables.tsx';
import { labelCounts, passing, symbolCounts } from './filter.ts';
import { TimeFilter } from './time-filter.tsx';
import { askedSymbols, type Texts } from './use-texts.ts';

export type FilterProps = { texts: Texts };

/** What texts are asked for: words, labels, symbols, and a line drawn on the map; all of it must hold. */
export function FilterForm({ texts }: FilterProps) {
  const { view, change, time } = usePanel();
  return (
    <section class="filters" aria-label="Which texts">
      <label class="filter-words">
        <span>Words</span>
        <input
          type="search"
          maxLength={300}
          placeholder="all of these words"
          value={view.words}
          onInput={(event) => change({ words: event.currentTarget.value })}
        />
      </label>
      {texts.failure === null ? null : <Failure message={texts.failure} />}
      {view.around.length > 5 ? (
        <p class="chips">
          <Chip label="Drawn around on the map" onRemove={() => change({ around: [] })} />
        </p>
      ) : null}
      {time ? <TimeFilter {...{ texts, time }} /> : null}
      <SymbolFilter texts={texts} />
      {texts.data.labels.length > 1 ? <LabelFilter texts={texts} /> : null}
    </section>
  );
}

const Chip = ({ label, onRemove }: { label: string; onRemove(): void }) => (
  <span class="chip">
    {label}
    <Press aria-label={`Take away: ${label}`} onClick={onRemove}>
      ×
    </Press>
  </span>
);

const FEW_LABELS = 8;

function LabelFilter({ texts }: FilterProps) {
  const { view, change, labels } = usePanel();
  const { data, filter } = texts;
  // What each label would give beside all else that is asked.
  const counts = useMemo(() => labelCounts(data, passing(data, filter, 'labels')), [data, filter]);
  const order = data.labels
    .map((label, at) => ({ label, at, count: counts[at]! }))
    .sort((a, b) => b.count - a.count || a.at - b.at);
  const { shown, more } = useFew(order, FEW_LABELS, { keep: ({ label }) => view.label.includes(label) });
  const most = Math.max(1, ...counts);
  return (
    <fieldset class="label-filter">
      <legend>Labels</legend>
      {shown.map(({ label, count }) => (
        <label key={label} class="check">
          <input
            type="checkbox"
            checked={view.label.includes(label)}
            onChange={() => change({ label: toggled(view.label, label) })}
          />
          <Dot colour={colourOf(labels, label)} square />
          <span class="label-name">{label}</span>
          <Track of={count} most={most} />
          <span class="number">{count.toLocaleString('en')}</span>
        </label>
      ))}
      {more}
    </fieldset>
  );
}

const MOST_TYPICAL = 6;
/** Of selected texts; rarer symbols say little. */
const LEAST_SHARE = 0.03;

/** Symbols that are asked for, a field that adds one, and those that selected texts have more of than all texts. */
function SymbolFilter({ texts }: FilterProps) {
  const { view, change, graph } = usePanel();
  const nodes = graph?.nodes ?? [];
  const asked = askedSymbols(view).filter((symbol) => symbol < nodes.length);
  return (
    <fieldset class="symbol-filter">
      <legend>Themes{asked.length > 1 ? ', any of' : ''}</legend>
      <p class="chips">
        {asked.map((symbol) => (
          <Chip
            key={symbol}
            label={labelOf(nodes[symbol]!)}
            onRemove={() => change({ only: asked.filter((other) => other !== symbol), symbol: null })}
          />
        ))}
      </p>
      <SymbolFinder
        {...{ label: 'Add a theme', placeholder: 'add a theme', nodes, without: asked }}
        onFind={(symbol) => change({ only: [...asked, symbol] })}
      />
      {texts.active && texts.count > 0 ? <Typical texts={texts} /> : null}
    </fieldset>
  );
}

function Typical({ texts }: FilterProps) {
  const { data, selected, count, filter } = texts;
  const rows = useMemo(() => {
    const all = symbolCounts(data, new Uint8Array(data.count).fill(1));
    const here = symbolCounts(data, selected);
    return Array.from(here, (passed, symbol) => ({
      symbol,
      share: passed / count,
      times: passed / count / (all[symbol]! / data.count || 1),
    }))
      .filter(
        ({ symbol, share, times }) => share >= LEAST_SHARE && times > 1 && !filter.symbols.includes(symbol),
      )
      .sort((a, b) => b.share * Math.log(b.times) - a.share * Math.log(a.times))
      .slice(0, MOST_TYPICAL);
  }, [texts]);
  if (rows.length === 0) return null;
  return (
    <DataTable
      class="typical"
      of={rows}
      columns={[
        { head: 'These texts have more of', cell: ({ symbol }) => <SymbolLink symbol={symbol} /> },
        { head: 'Share', class: 'number', cell: ({ share }) => percent(share) },
        { head: 'Times the usual', class: 'number', cell: ({ times }) => times.toFixed(1) },
      ]}
    />
  );
}
