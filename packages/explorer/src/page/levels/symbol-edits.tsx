import { useState } from 'preact/hooks';
import type { SymbolFacts } from '../client.ts';
import { usePanel } from '../panels/panel.ts';
import { Failure, Press, Waiting } from '../parts.tsx';
import { SymbolFinder } from '../search.tsx';

/** What is being edited, what went wrong with it, and the way back. */
export function EditBar() {
  const { busy, failure, last, said, undo } = usePanel().edits;
  return (
    <div class="edit-bar">
      {busy === null ? null : <Waiting what={busy} />}
      {failure === null ? null : <Failure message={failure} />}
      {last === null ? null : (
        <p class="undo">
          <span class="faint">{last}</span>
          <Press disabled={busy !== null} onClick={() => void undo()}>
            Undo
          </Press>
        </p>
      )}
      <div class="unseen" role="status">
        {said}
      </div>
    </div>
  );
}

/** Splits a symbol in two, or makes one of it and another. */
export function SymbolEdits({ symbol }: { symbol: SymbolFacts }) {
  const { graph, edits } = usePanel();
  const [open, setOpen] = useState(false);
  const busy = edits.busy !== null;
  return (
    <div class="symbol-edits">
      <p class="buttons">
        <Press disabled={busy} aria-expanded={open} onClick={() => setOpen(!open)}>
          Merge with …
        </Press>
        <Press disabled={busy} onClick={() => void edits.split(symbol.symbol, symbol.identity)}>
          Split in two
        </Press>
      </p>
      {open ? (
        <SymbolFinder
          {...{ label: 'Theme to merge with', placeholder: 'number, name or word', disabled: busy }}
          without={[symbol.symbol]}
          // While one of the two is read anew after an edit, their numbers are not of the same run.
          nodes={graph?.identity === symbol.identity ? graph.nodes : []}
          onFind={(other) => void edits.merge([symbol.symbol, other], symbol.identity)}
        />
      ) : null}
    </div>
  );
}
