import { useId, useRef, useState } from 'preact/hooks';
import type { Graph } from './client.ts';
import { findSymbols } from './find-symbols.ts';
import { labelOf, title } from './labels.ts';

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
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') choose(active);
    else if (event.key === 'ArrowDown') setActive((active + 1) % Math.max(1, found.length));
    else if (event.key === 'ArrowUp') setActive((active + found.length - 1) % Math.max(1, found.length));
    else if (event.key === 'Escape') setQuery('');
    else return;
    event.preventDefault();
  };
  return (
    <div class="search">
      <input
        ref={input}
        id="search"
        type="search"
        placeholder="Find a symbol or token  ( / )"
        aria-label="Find a symbol or token"
        aria-controls={id}
        autocomplete="off"
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      {query.trim() === '' ? null : <Matches {...{ id, found, active, choose }} />}
    </div>
  );
}

interface MatchesProps {
  id: string;
  found: Graph['nodes'];
  active: number;
  choose(at: number): void;
}

const Matches = ({ id, found, active, choose }: MatchesProps) => (
  <div class="matches" id={id} role="listbox" aria-label="Symbols found">
    {found.map((node, at) => (
      <button
        type="button"
        key={node.symbol}
        role="option"
        aria-selected={at === active}
        class={at === active ? 'active' : ''}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => choose(at)}
        title={labelOf(node)}
      >
        <span class="number">{node.symbol}</span> {title(node)}
      </button>
    ))}
    {found.length === 0 ? <p class="faint">No symbol has this number, name or token.</p> : null}
  </div>
);
