import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useState } from 'preact/hooks';
import { percent, titleIn } from './labels.ts';
import type { Loaded } from './loading.ts';
import { usePanel } from './panels/panel.ts';

/** A button that acts where it stands; one that sends a form says so itself. */
export const Press = (props: ButtonHTMLAttributes<HTMLButtonElement>) => <button type="button" {...props} />;

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

interface BarProps {
  of: number;
  most?: number;
  colour?: string;
}

/** The bar alone. */
export const Track = ({ of, most = 1, colour }: BarProps) => (
  <span class="track" aria-hidden="true">
    <span style={{ width: `${(100 * of) / most}%`, background: colour }} />
  </span>
);

/** A probability as a bar with its number; the bar is full at `most`. */
export const Bar = ({ of, ...look }: BarProps) => (
  <span class="bar">
    <Track of={of} {...look} />
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

/** A symbol in a panel that can be gone to. */
export function SymbolLink({ symbol, onChoose }: { symbol: number; onChoose?(symbol: number): void }) {
  const { graph, goTo } = usePanel();
  return (
    <Press class="symbol-link" data-symbol={symbol} onClick={() => (onChoose ?? goTo)(symbol)}>
      {titleIn(graph, symbol)}
    </Press>
  );
}

interface FewOptions<T> {
  what?: string;
  keep?(one: T): boolean;
}

/** The first few of a list, and a press that shows the others where there are some; `keep` are never left out. */
export function useFew<T>(of: readonly T[], few: number, { what = 'more', keep }: FewOptions<T> = {}) {
  const [all, setAll] = useState(false);
  const shown = all ? of : of.filter((one, at) => at < few || keep?.(one));
  const left = of.length - shown.length;
  const more =
    left === 0 ? null : (
      <Press class="plain" onClick={() => setAll(true)}>
        {left} {what}
      </Press>
    );
  return { shown, more };
}

/** What is typed over a value; another value takes its place at once, so that none comes late over what was typed since. */
export function useDraft(value: string): [draft: string, type: (draft: string) => void] {
  const [draft, setDraft] = useState(value);
  useLayoutEffect(() => setDraft(value), [value]);
  return [draft, setDraft];
}

interface SegmentsProps<V extends string> {
  label: string;
  of: readonly { value: V; name: string; about?: string }[];
  value: V;
  onChoose(value: V): void;
  children?: ComponentChildren;
}

/** One of a few, side by side; a press chooses. */
export const Segments = <V extends string>({ label, of, value, onChoose, children }: SegmentsProps<V>) => (
  <fieldset class="segments" aria-label={label}>
    {of.map(({ value: each, name, about }) => (
      <Press key={each} title={about} aria-pressed={each === value} onClick={() => onChoose(each)}>
        {name}
      </Press>
    ))}
    {children}
  </fieldset>
);

/** How many symbols are drawn, or groups of them. */
export function ThemeCount({ of }: { of: number }) {
  const symbols = usePanel().graph?.nodes.length ?? 0;
  return (
    <>
      {of < symbols ? (
        <>
          <b>{of}</b> groups of{' '}
        </>
      ) : null}
      <b>{symbols}</b> themes
    </>
  );
}

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
      <Press disabled={at === 0} onClick={() => onTurn((at - 1) * limit)}>
        Before
      </Press>
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
      <Press disabled={at >= last} onClick={() => onTurn((at + 1) * limit)}>
        Next
      </Press>
    </p>
  );
}

/** A choice: its value, and its name for people. */
export type Option = readonly [value: string, name: string];

interface ChoiceProps<V extends string> {
  label: string;
  /** The label is for those who hear the page. */
  unseen?: boolean;
  class?: string;
  /** Each a value that is its own name, or both. */
  options: readonly (string | Option)[];
  value: V;
  onChoose(value: V): void;
}

/** One of several, from a list. */
export function Choice<V extends string>({
  label,
  unseen,
  options,
  value,
  onChoose,
  ...rest
}: ChoiceProps<V>) {
  const id = useId();
  const select = (
    <select
      {...rest}
      {...(unseen ? { 'aria-label': label } : { id })}
      value={value}
      // Only values of the options can be chosen.
      onChange={(event) => onChoose(event.currentTarget.value as V)}
    >
      {options.map((option) => {
        const [of, name] = typeof option === 'string' ? [option, option] : option;
        return (
          <option key={of} value={of}>
            {name}
          </option>
        );
      })}
    </select>
  );
  if (unseen) return select;
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      {select}
    </span>
  );
}
