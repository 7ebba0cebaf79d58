import { useState } from 'preact/hooks';
import type { SymbolFacts } from '../client.ts';
import { findSymbols } from '../find-symbols.ts';
import { labelOf } from '../labels.ts';
import type { PanelProps } from '../panels/panel.ts';

type SymbolEditsProps = Pick<PanelProps, 'graph' | 'edits'> & { symbol: SymbolFacts };

/** Splits a symbol in two, or makes one of it and another. */
export function SymbolEdits(props: SymbolEditsProps) {
  const { symbol, edits } = props;
  const [open, setOpen] = useState(false);
  const busy = edits.busy !== null;
  return (
    <div class="symbol-edits">
      <p class="buttons">
        <button type="button" disabled={busy} aria-expanded={open} onClick={() => setOpen(!open)}>
          Merge with …
        </button>
        <button
          type="button"
          disabled={busy}
          onClick={() => void edits.split(symbol.symbol, symbol.identity)}
        >
          Split in two
        </button>
      </p>
      {open ? <MergeWith {...props} /> : null}
    </div>
  );
}

/** Finds the symbol to merge with. */
function MergeWith({ symbol, graph, edits }: SymbolEditsProps) {
  const [query, setQuery] = useState('');
  // While one of the two is read anew after an edit, their numbers are not of the same run.
  const nodes = graph?.identity === symbol.identity ? graph.nodes : [];
  const found = findSymbols(nodes, query).filter((node) => node.symbol !== symbol.symbol);
  const merge = (event: Event) => {
    event.preventDefault();
    if (found[0] && edits.busy === null) void edits.merge([symbol.symbol, found[0].symbol], symbol.identity);
  };
  return (
    <form class="chips" onSubmit={merge}>
      <input
        type="search"
        aria-label="Theme to merge with"
        placeholder="number, name or word"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {found.slice(0, 6).map((node) => (
        <button
          key={node.symbol}
          type="button"
          disabled={edits.busy !== null}
          onClick={() => void edits.merge([symbol.symbol, node.symbol], symbol.identity)}
        >
          {labelOf(node)}
        </button>
      ))}
    </form>
  );
}
