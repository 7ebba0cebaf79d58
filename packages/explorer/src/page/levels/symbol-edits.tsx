import { useState } from 'preact/hooks';
import { findSymbols } from '../find-symbols.ts';
import { labelOf } from '../labels.ts';
import type { PanelProps } from '../panels/panel.ts';

/** Splits a symbol in two, or makes one of it and another. */
export function SymbolEdits({
  symbol,
  graph,
  edits,
}: Pick<PanelProps, 'graph' | 'edits'> & { symbol: number }) {
  const [open, setOpen] = useState(false);
  const [query, setQuery] = useState('');
  const nodes = graph?.nodes ?? [];
  const found = findSymbols(nodes, query).filter((node) => node.symbol !== symbol);
  const busy = edits.busy !== null;
  return (
    <div class="symbol-edits">
      <p class="buttons">
        <button type="button" disabled={busy} aria-expanded={open} onClick={() => setOpen(!open)}>
          Merge with …
        </button>
        <button type="button" disabled={busy} onClick={() => void edits.split(symbol)}>
          Split in two
        </button>
      </p>
      {open ? (
        <p class="chips">
          <input
            type="search"
            aria-label="Symbol to merge with"
            placeholder="number, name or word"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          {found.slice(0, 6).map((node) => (
            <button
              key={node.symbol}
              type="button"
              disabled={busy}
              onClick={() => void edits.merge([symbol, node.symbol])}
            >
              {labelOf(node)}
            </button>
          ))}
        </p>
      ) : null}
    </div>
  );
}
