import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { latest, useLoaded } from '../loading.ts';
import { Pages, Press, Show } from '../parts.tsx';

/** Letters of a text in a list; the rest is shown where it is opened. */
const LONGEST = 280;
export const shortened = (text: string, longest = LONGEST): string =>
  text.length > longest ? `${text.slice(0, longest).replace(/\s+\S*$/u, '')} …` : text;

interface Listed {
  text: string;
  label?: string | null;
}

interface SentencesProps<T extends Listed> {
  of: readonly T[];
  /** What stands in place of the text itself. */
  body?(one: T): ComponentChildren;
  /** Whatever else there is to say of one. */
  more?(one: T): ComponentChildren;
  isCurrent?(one: T): boolean;
  onRead(one: T): void;
}

/** Sentences that can be read, each with its label. */
export const Sentences = <T extends Listed>({ of, body, more, isCurrent, onRead }: SentencesProps<T>) => (
  <ul class="examples">
    {of.map((one, at) => (
      <li key={at} class={isCurrent?.(one) ? 'current' : ''}>
        <Press class="sentence" title="Show its walk" onClick={() => onRead(one)}>
          <span class="sentence-text">{body ? body(one) : shortened(one.text) || '(nothing)'}</span>
          {one.label === null || one.label === undefined ? null : <span class="tag">{one.label}</span>}
          {more?.(one)}
        </Press>
      </li>
    ))}
  </ul>
);

interface PagedProps<T extends Listed> extends Omit<SentencesProps<T>, 'of'> {
  /** What the list is of; another begins at its first page. Null for none. */
  list: string | null;
  limit: number;
  load(offset: number, signal: AbortSignal): Promise<{ total: number; sentences: readonly T[] }>;
}

/** The same, page by page. */
export function PagedSentences<T extends Listed>({ list, limit, load, ...shown }: PagedProps<T>) {
  const [turned, setTurned] = useState({ list, offset: 0 });
  const offset = turned.list === list ? turned.offset : 0;
  const loaded = useLoaded(list === null ? null : `${list} ${offset}`, (signal) => load(offset, signal));
  return (
    <>
      <Show of={loaded} what="Reading texts …">
        {({ sentences }) => <Sentences of={sentences} {...shown} />}
      </Show>
      <Pages
        {...{ offset, limit, total: latest(loaded)?.total ?? 0 }}
        onTurn={(to) => setTurned({ list, offset: to })}
      />
    </>
  );
}
