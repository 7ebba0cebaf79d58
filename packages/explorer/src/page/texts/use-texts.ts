import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Client, MapText, Run } from '../client.ts';
import { latest, useLoaded } from '../loading.ts';
import { usePanel } from '../panels/panel.ts';
import { useOpened } from '../served.ts';
import type { ViewState } from '../state.ts';
import { countOf, type Filter, passing } from './filter.ts';
import { bytesOf, type TextData, textDataOf } from './text-data.ts';

/** The texts of a run, and which of them are selected. */
export interface Texts {
  data: TextData;
  filter: Filter;
  /** 1 for each text that is asked for. [N] */
  selected: Uint8Array;
  count: number;
  /** Whether anything is asked. */
  active: boolean;
  /** Why the words could not be looked for. */
  failure: string | null;
}

/** The map of a run's texts, for runs that have one, and what the address asks of them. */
export function useTexts(
  client: Client,
  run: Run | null,
  view: ViewState,
): { texts: Texts | null; failure: string | null } {
  const {
    key,
    value: data,
    failure,
  } = useOpened([run, 'map'], async (signal) => textDataOf(await client.map({}, signal)));
  const asked = useFilter(client, data ? key : null, view);
  const texts = useMemo(
    () => (data ? { data, ...asked, ...selectBy(data, asked.filter) } : null),
    [data, asked],
  );
  return { texts, failure };
}

/** What an address asks of texts; the words are looked for by the server. */
export function useFilter(
  client: Client,
  key: string | null,
  view: ViewState,
): { filter: Filter; failure: string | null } {
  const { bits, failure } = useWords(client, key, view.words);
  const symbols = askedSymbols(view);
  const { label: labels, around, since, until } = view;
  return useMemo(
    () => ({ filter: { labels, symbols, around, between: [since, until], words: bits }, failure }),
    [labels.join('/'), symbols.join(), around.join(), since, until, bits, failure],
  );
}

/** Which texts a filter lights. */
export function selectBy(data: TextData, filter: Filter): Pick<Texts, 'selected' | 'count' | 'active'> {
  const selected = passing(data, filter);
  const { labels, symbols, around, words, between } = filter;
  const timed = data.times !== null && between.some((time) => time !== null);
  const active = labels.length + symbols.length > 0 || around.length > 5 || words !== null || timed;
  return { selected, count: countOf(selected), active };
}

/** Those asked for by name; else the symbol that is looked at. */
export function askedSymbols({ only, symbol, panel }: ViewState): readonly number[] {
  if (only.length > 0) return only;
  return symbol !== null && panel === 'symbol' ? [symbol] : [];
}

/** Milliseconds after the last letter. */
const TYPED = 250;

function useWords(client: Client, key: string | null, words: string) {
  const [asked, setAsked] = useState(words.trim());
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words.trim()), TYPED);
    return () => clearTimeout(timer);
  }, [words]);
  const wanted = key !== null && asked !== '' ? `${key} ${asked}` : null;
  const loaded = useLoaded(wanted, async (signal) => {
    const { texts } = await client.matches({ words: asked }, signal);
    return new Uint8Array(bytesOf(texts));
  });
  const failed = wanted !== null && loaded.state === 'failed' ? loaded.message : null;
  return { bits: wanted === null ? null : latest(loaded), failure: failed };
}

/** Texts that were read once are kept, up to so many. */
const KEPT = 500;
/** Milliseconds for which the pointer rests before a text is asked for. */
const RESTS = 60;

/** One text of the map by its number; what was asked before comes at once. */
export function useText(n: number | null): MapText | null {
  const { client } = usePanel();
  const kept = useMemo(() => new Map<number, MapText>(), [client]);
  const [, setRead] = useState(0);
  useEffect(() => {
    if (n === null || kept.has(n)) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { texts } = await client.texts({ at: [n] }, controller.signal);
        if (kept.size >= KEPT) kept.delete(kept.keys().next().value!);
        for (const one of texts) kept.set(one.index, one);
        setRead((count) => count + 1);
      } catch {
        // Pointing at it again asks again.
      }
    }, RESTS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [client, n]);
  return n === null ? null : (kept.get(n) ?? null);
}

/** Nothing is asked of the texts any more. */
export const NOTHING_ASKED = {
  ...{ label: [], only: [], words: '', around: [], since: null, until: null, symbol: null },
} as const satisfies Partial<ViewState>;
