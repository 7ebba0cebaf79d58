import type { ComponentChildren } from 'preact';
import { percent } from './labels.ts';
import type { Loaded } from './loading.ts';

/** A message in place of content. */
export const Empty = ({ children }: { children: ComponentChildren }) => <div class="empty">{children}</div>;

export const Failure = ({ message }: { message: string }) => (
  <div class="failure" role="alert">
    {message}
  </div>
);

export const Waiting = ({ what }: { what: string }) => (
  <div class="waiting" role="status">
    <span class="spinner" aria-hidden="true" /> {what}
  </div>
);

/** What is shown while loading and on failure; what was there before stays until the new is here. */
export function Show<T>(props: { of: Loaded<T>; what: string; children: (value: T) => ComponentChildren }) {
  const { of, what, children } = props;
  if (of.state === 'failed') return <Failure message={of.message} />;
  const value = of.state === 'ready' ? of.value : of.before;
  return value === null ? <Waiting what={what} /> : children(value);
}

/** A probability as a bar with its number; the bar is full at `most`. */
export const Bar = ({ of, most = 1 }: { of: number; most?: number }) => (
  <span class="bar">
    <span class="track" aria-hidden="true">
      <span style={{ width: `${(100 * of) / most}%` }} />
    </span>
    <span class="number">{percent(of)}</span>
  </span>
);

/** A spot of a colour, as legends have: round for themes, square for labels, whose colours mean something else. */
export const Dot = ({ colour, square = false }: { colour: string; square?: boolean }) => (
  <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
    {square ? (
      <rect x="0.5" y="0.5" width="9" height="9" rx="1.5" fill={colour} />
    ) : (
      <circle cx="5" cy="5" r="5" fill={colour} />
    )}
  </svg>
);

interface SymbolLinkProps {
  symbol: number;
  label: string;
  onChoose(symbol: number): void;
}

/** A symbol that can be gone to. */
export const SymbolLink = ({ symbol, label, onChoose }: SymbolLinkProps) => (
  <button type="button" class="symbol-link" data-symbol={symbol} onClick={() => onChoose(symbol)}>
    {label || symbol}
  </button>
);

interface PagesProps {
  offset: number;
  limit: number;
  total: number;
  onTurn(offset: number): void;
}

/** Turns pages; a number goes far at once. */
export function Pages({ offset, limit, total, onTurn }: PagesProps) {
  const last = Math.max(0, Math.ceil(total / limit) - 1);
  const at = Math.floor(offset / limit);
  const range = `${(offset + 1).toLocaleString('en')}–${Math.min(offset + limit, total).toLocaleString('en')} of ${total.toLocaleString('en')}`;
  return (
    <p class="pages">
      <button type="button" disabled={at === 0} onClick={() => onTurn((at - 1) * limit)}>
        Before
      </button>
      <span class="faint">{total === 0 ? 'none' : range}</span>
      {last > 3 ? (
        <label class="choice faint">
          page
          <input
            type="number"
            aria-label="Page"
            min={1}
            max={last + 1}
            value={at + 1}
            onChange={(event) => {
              const page = Math.round(Number(event.currentTarget.value)) - 1;
              if (page >= 0 && page <= last) onTurn(page * limit);
            }}
          />
        </label>
      ) : null}
      <button type="button" disabled={at >= last} onClick={() => onTurn((at + 1) * limit)}>
        Next
      </button>
    </p>
  );
}
