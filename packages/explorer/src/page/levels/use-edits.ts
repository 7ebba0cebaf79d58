import { useCallback, useMemo, useState } from 'preact/hooks';
import type { Client, Edit, Run } from '../client.ts';
import type { Change } from '../state.ts';

/** Renaming, merging and splitting of symbols, each of which can be taken back. */
export interface Edits {
  /** What Undo would take back; null for nothing. */
  last: string | null;
  busy: string | null;
  failure: string | null;
  /** What was done last, for those who do not see it. */
  said: string;
  rename(symbol: number, name: string): Promise<void>;
  merge(symbols: readonly number[]): Promise<void>;
  split(symbol: number): Promise<void>;
  undo(): Promise<void>;
}

interface Renaming {
  symbol: number;
  before: string;
  what: string;
  /** Of the run when it was done: an edit since gives symbols other numbers. */
  identity: string;
}

/** The run as an edit of this page has left it, until its own facts say so. */
function patched(run: Run | null, edit: { before: string; now: Edit } | null): Run | null {
  if (!run?.opened || edit?.before !== run.opened.identity) return run;
  const { identity, symbols, edits } = edit.now;
  return { ...run, opened: { ...run.opened, identity, symbols, edits } };
}

interface EditProps {
  client: Client;
  run: Run | null;
  change: Change;
  renamed(symbol: number, name: string | null): void;
}

export function usePatched(run: Run | null): [Run | null, (now: Edit) => void] {
  const [edit, setEdit] = useState<{ before: string; now: Edit } | null>(null);
  const known = useMemo(() => patched(run, edit), [run, edit]);
  const before = run?.opened?.identity;
  const set = useCallback((now: Edit) => setEdit(before === undefined ? null : { before, now }), [before]);
  return [known, set];
}

/** Does one thing after another, and tells what is being done, was done, or went wrong. */
function useDoing() {
  const [state, setState] = useState({
    busy: null as string | null,
    failure: null as string | null,
    said: '',
  });
  const doing = async (busy: string, act: () => Promise<string>) => {
    setState((last) => ({ ...last, busy, failure: null }));
    try {
      const said = await act();
      setState({ busy: null, failure: null, said });
    } catch (error) {
      setState((last) => ({ ...last, busy: null, failure: (error as Error).message }));
    }
  };
  return { ...state, doing };
}

/** Edits by this page; `edited` hears of each that changed the run's symbols. */
export function useEdits({ client, run, change, renamed }: EditProps, edited: (now: Edit) => void): Edits {
  const [renamings, setRenamings] = useState<readonly Renaming[]>([]);
  const { doing, ...state } = useDoing();
  const identity = run?.opened?.identity ?? '';
  const renaming = renamings.findLast((one) => one.identity === identity);
  const take = (now: Edit): string => {
    edited(now);
    // Numbers of symbols may be others now.
    change({ symbol: now.changed[0] ?? null, only: [], walk: [], level: 0 });
    return now.what;
  };
  const rename = (symbol: number, name: string) =>
    doing('Naming …', async () => {
      const now = await client.rename(symbol, name);
      renamed(symbol, now.name);
      const what = `named ${symbol} ${now.name ?? ''}`.trim();
      setRenamings((all) => [...all, { symbol, before: now.before ?? '', what, identity }]);
      return what;
    });
  const undo = () =>
    doing('Undoing …', async () => {
      if (!renaming) return take(await client.undo());
      const { name } = await client.rename(renaming.symbol, renaming.before);
      renamed(renaming.symbol, name);
      setRenamings((all) => all.filter((one) => one !== renaming));
      return `undone: ${renaming.what}`;
    });
  return {
    ...state,
    last: renaming?.what ?? run?.opened?.edits.at(-1) ?? null,
    ...{ rename, undo },
    merge: (symbols) =>
      doing('Merging, and reading texts anew …', async () => take(await client.merge(symbols))),
    split: (symbol) =>
      doing('Splitting, and reading texts anew …', async () => take(await client.split(symbol))),
  };
}
