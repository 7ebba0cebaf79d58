import { useCallback, useMemo, useState } from 'preact/hooks';
import { type Client, ClientFault, type Edit, type Run } from '../client.ts';
import type { Change } from '../state.ts';

/**
 * Renaming, merging and splitting of symbols, each of which can be taken back. Symbols go with the identity of the run
 * that they were seen in: the server refuses them where it has changed.
 */
export interface Edits {
  /** What Undo would take back; null for nothing. */
  last: string | null;
  busy: string | null;
  failure: string | null;
  /** Identity of the run as this page knew it when an edit was refused; its symbols are not those of the server. */
  outdated: string | null;
  /** What was done last, for those who do not see it. */
  said: string;
  /** Whether the symbol has the name now. */
  rename(symbol: number, name: string, identity: string): Promise<boolean>;
  merge(symbols: readonly number[], identity: string): Promise<boolean>;
  split(symbol: number, identity: string): Promise<boolean>;
  undo(): Promise<boolean>;
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
  /** Hears of each edit that changed the run's symbols. */
  edited(now: Edit): void;
  /** Asks for the run's facts at once. */
  refresh(): void;
}

export function usePatched(run: Run | null): [Run | null, (now: Edit) => void] {
  const [edit, setEdit] = useState<{ before: string; now: Edit } | null>(null);
  const known = useMemo(() => patched(run, edit), [run, edit]);
  const before = run?.opened?.identity;
  const set = useCallback((now: Edit) => setEdit(before === undefined ? null : { before, now }), [before]);
  return [known, set];
}

/** Does one thing after another, and tells what is being done, was done, or went wrong: then it gives false. */
function useDoing(onEdited: () => void) {
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
      return true;
    } catch (error) {
      const { message } = error as Error;
      const outdated = error instanceof ClientFault && error.code === 'edited';
      if (outdated) onEdited();
      const failure = outdated ? `${message}. They are shown as they are now.` : message;
      setState((last) => ({ ...last, busy: null, failure }));
      return false;
    }
  };
  return { ...state, doing };
}

/** Of the view after an edit: numbers of symbols may be others. */
const selected = (symbol: number | null) => ({ symbol, only: [], walk: [], level: 0 });

/** Edits by this page. */
export function useEdits({ client, run, change, renamed, edited, refresh }: EditProps): Edits {
  const [renamings, setRenamings] = useState<readonly Renaming[]>([]);
  const [outdated, setOutdated] = useState<string | null>(null);
  const { identity = '', edits: done = [] } = run?.opened ?? {};
  const { doing, ...state } = useDoing(() => {
    setOutdated(identity);
    change(selected(null));
    refresh();
  });
  const renaming = renamings.findLast((one) => one.identity === identity);
  const take = (now: Edit): string => {
    edited(now);
    change(selected(now.changed[0] ?? null));
    return now.what;
  };
  const rename = (symbol: number, name: string, seen: string) =>
    doing('Naming …', async () => {
      const now = await client.rename({ k: symbol, name, identity: seen });
      renamed(symbol, now.name);
      const what = `named ${symbol} ${now.name ?? ''}`.trim();
      setRenamings((all) => [...all, { symbol, before: now.before ?? '', what, identity: seen }]);
      return what;
    });
  const undo = () =>
    doing('Undoing …', async () => {
      if (!renaming) return take(await client.undo({ identity }));
      const { symbol: k, before } = renaming;
      renamed(k, (await client.rename({ k, name: before, identity })).name);
      setRenamings((all) => all.filter((one) => one !== renaming));
      return `undone: ${renaming.what}`;
    });
  const editing = (what: string, edit: Promise<Edit>) =>
    doing(`${what}, and reading texts anew …`, async () => take(await edit));
  return {
    ...state,
    ...{ rename, undo, outdated, last: renaming?.what ?? done.at(-1) ?? null },
    merge: (symbols, seen) => editing('Merging', client.merge({ symbols: [...symbols], identity: seen })),
    split: (k, seen) => editing('Splitting', client.split({ k, identity: seen })),
  };
}
