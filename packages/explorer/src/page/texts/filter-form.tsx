import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { findSymbols } from '../find-symbols.ts';
import { colourOf } from '../graph/label-maps.ts';
import { labelOf, percent, title } from '../labels.ts';
import type { PanelProps } from '../panels/panel.ts';
import { Dot, Failure, SymbolLink } from '../parts.tsx';
import { labelCounts, passing, symbolCounts } from './filter.ts';
import { TimeFilter } from './time-filter.tsx';
import { askedSymbols, type Texts } from './use-texts.ts';

export type FilterProps = PanelProps & { texts: Texts };

/** What texts are asked for: words, labels, symbols, and a line drawn on the map; all of it must hold. */
export function FilterForm(props: FilterProps) {
  const { view, change, texts } = props;
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
      {props.time ? <TimeFilter {...props} time={props.time} /> : null}
      <SymbolFilter {...props} />
      {texts.data.labels.length > 1 ? <LabelFilter {...props} /> : null}
    </section>
  );
}

const Chip = ({ label, onRemove }: { label: string; onRemove(): void }) => (
  <span class="chip">
    {label}
    <button type="button" aria-label={`Take away: ${label}`} onClick={onRemove}>
      ×
    </button>
  </span>
);

const FEW_LABELS = 8;

function LabelFilter({ view, change, texts, labels }: FilterProps) {
  const [all, setAll] = useState(false);
  const { data, filter } = texts;
  // What each label would give beside all else that is asked.
  const counts = useMemo(() => labelCounts(data, passing(data, filter, 'labels')), [data, filter]);
  const order = data.labels
    .map((label, at) => ({ label, at, count: counts[at]! }))
    .sort((a, b) => b.count - a.count || a.at - b.at);
  const shown = all ? order : order.filter(({ label }, at) => at < FEW_LABELS || view.label.includes(label));
  const most = Math.max(1, ...counts);
  const toggle = (label: string, on: boolean) =>
    change({ label: on ? [...view.label, label] : view.label.filter((other) => other !== label) });
  return (
    <fieldset class="label-filter">
      <legend>Labels</legend>
      {shown.map(({ label, count }) => (
        <label key={label} class="check">
          <input
            type="checkbox"
            checked={view.label.includes(label)}
            onChange={(event) => toggle(label, event.currentTarget.checked)}
          />
          <Dot colour={labels ? colourOf(labels, label) : 'none'} square />
          <span class="label-name">{label}</span>
          <span class="track" aria-hidden="true">
            <span style={{ width: `${(100 * count) / most}%` }} />
          </span>
          <span class="number">{count.toLocaleString('en')}</span>
        </label>
      ))}
      {shown.length < order.length ? (
        <button type="button" class="plain" onClick={() => setAll(true)}>
          {order.length - shown.length} more
        </button>
      ) : null}
    </fieldset>
  );
}

const MOST_TYPICAL = 6;
/** Of selected texts; rarer symbols say little. */
const LEAST_SHARE = 0.03;

/** Symbols that are asked for, a field that adds one, and those that selected texts have more of than all texts. */
function SymbolFilter({ view, change, texts, graph, goTo }: FilterProps) {
  const nodes = graph?.nodes ?? [];
  const asked = askedSymbols(view).filter((symbol) => symbol < nodes.length);
  return (
    <fieldset class="symbol-filter">
      <legend>Themes{asked.length > 1 ? ', any of' : ''}</legend>
      <AddSymbol nodes={nodes} asked={asked} onAdd={(symbol) => change({ only: [...asked, symbol] })}>
        {asked.map((symbol) => (
          <Chip
            key={symbol}
            label={labelOf(nodes[symbol]!)}
            onRemove={() => change({ only: asked.filter((other) => other !== symbol), symbol: null })}
          />
        ))}
      </AddSymbol>
      {texts.active && texts.count > 0 ? <Typical {...{ texts, nodes, goTo }} /> : null}
    </fieldset>
  );
}

interface AddSymbolProps {
  nodes: TypicalProps['nodes'];
  /** Symbols that are there already. */
  asked: readonly number[];
  onAdd(symbol: number): void;
  /** What stands before the field. */
  children: ComponentChildren;
}

/** A field that finds symbols and adds one. */
function AddSymbol({ nodes, asked, onAdd, children }: AddSymbolProps) {
  const [query, setQuery] = useState('');
  const add = (symbol: number) => {
    onAdd(symbol);
    setQuery('');
  };
  const found = findSymbols(nodes, query).filter(({ symbol }) => !asked.includes(symbol));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !found[0]) return;
    event.preventDefault();
    add(found[0].symbol);
  };
  return (
    <>
      <p class="chips">
        {children}
        <input
          type="search"
          aria-label="Add a theme"
          placeholder="add a theme"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </p>
      {query.trim() === '' ? null : (
        <p class="chips">
          {found.slice(0, 6).map((node) => (
            <button key={node.symbol} type="button" onClick={() => add(node.symbol)}>
              {labelOf(node)}
            </button>
          ))}
          {found.length === 0 ? <span class="faint">No theme has this number, name or word.</span> : null}
        </p>
      )}
    </>
  );
}

interface TypicalProps {
  texts: Texts;
  nodes: NonNullable<PanelProps['graph']>['nodes'];
  goTo: PanelProps['goTo'];
}

function Typical({ texts, nodes, goTo }: TypicalProps) {
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
    <table class="typical">
      <thead>
        <tr>
          <th>These texts have more of</th>
          <th>Share</th>
          <th>Times the usual</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ symbol, share, times }) => (
          <tr key={symbol}>
            <td>
              <SymbolLink symbol={symbol} label={nodes[symbol] ? title(nodes[symbol]) : ''} onChoose={goTo} />
            </td>
            <td class="number">{percent(share)}</td>
            <td class="number">{times.toFixed(1)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
