import { useId, useRef, useState } from 'preact/hooks';
import type { Graph } from './client.ts';
import { findSymbols } from './find-symbols.ts';
import { labelOf, title } from './labels.ts';
import { Press } from './parts.tsx';

/** Finds symbols and flies to the chosen one. */
export function Search({ nodes, onChoose }: { nodes: Graph['nodes']; onChoose(symbol: number): void }) {
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const found = findSymbols(nodes, query);
  const choose = (at: number) => {
    const node = found[at];
    if (!node) return;
    setQuery('');
    input.current?.blur();
    onChoose(node.symbol);
  };
  const turn = (by: number) => setActive((active + found.length + by) % Math.max(1, found.length));
  const keys: Readonly<Record<string, () => void>> = {
    ...{ Enter: () => choose(active), Escape: () => setQuery('') },
    ...{ ArrowDown: () => turn(1), ArrowUp: () => turn(-1) },
  };
  return (
    <div class="search">
      <input
        ref={input}
        id="search"
        type="search"
        placeholder="Find a theme or a word  ( / )"
        aria-label="Find a theme or a word"
        aria-controls={query.trim() === '' ? undefined : id}
        autocomplete="off"
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={(event) => pressed(event, keys)}
      />
      {query.trim() === '' ? null : <Matches {...{ id, found, active, choose }} />}
    </div>
  );
}

function pressed(event: KeyboardEvent, keys: Readonly<Record<string, () => void>>): void {
  const act = keys[event.key];
  if (!act) return;
  act();
  event.preventDefault();
}

interface MatchesProps {
  id: string;
  found: Graph['nodes'];
  active: number;
  choose(at: number): void;
}

const Matches = ({ id, found, active, choose }: MatchesProps) => (
  <div class="matches" id={id} role="listbox" aria-label="Themes found">
    {found.map((node, at) => (
      <Press
        key={node.symbol}
        role="option"
        aria-selected={at === active}
        class={at === active ? 'active' : ''}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => choose(at)}
        title={labelOf(node)}
      >
        <span class="number">{node.symbol}</span> {title(node)}
      </Press>
    ))}
    {found.length === 0 ? <p class="faint">No theme has this number, name or word.</p> : null}
  </div>
);

interface SymbolFinderProps {
  label: string;
  placeholder: string;
  nodes: Graph['nodes'];
  /** Symbols that are not offered. */
  without?: readonly number[];
  disabled?: boolean;
  onFind(symbol: number): void;
}

const MOST = 6;

/** A field that finds symbols by number, name or word; Enter takes the first. */
export function SymbolFinder({
  label,
  placeholder,
  nodes,
  without = [],
  disabled,
  onFind,
}: SymbolFinderProps) {
  const [query, setQuery] = useState('');
  const found = findSymbols(nodes, query).filter(({ symbol }) => !without.includes(symbol));
  const take = (symbol: number | undefined) => {
    if (symbol === undefined || disabled) return;
    onFind(symbol);
    setQuery('');
  };
  const submit = (event: Event) => {
    event.preventDefault();
    take(found[0]?.symbol);
  };
  return (
    <form class="chips" onSubmit={submit}>
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autocomplete="off"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {found.slice(0, MOST).map((node) => (
        <Press key={node.symbol} disabled={disabled} onClick={() => take(node.symbol)}>
          {labelOf(node)}
        </Press>
      ))}
      {query.trim() !== '' && found.length === 0 ? (
        <span class="faint">No theme has this number, name or word.</span>
      ) : null}
    </form>
  );
}
