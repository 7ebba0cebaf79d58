import { useCallback, useEffect, useState } from 'preact/hooks';

/** What the address holds, so that a view can be shared. */
export interface ViewState {
  panel: string;
  symbol: number | null;
  /** Links less probable than this are not drawn. */
  threshold: number;
  truth: boolean;
  /** The sentence whose walk is shown. */
  text: string;
}

const initial: ViewState = { panel: 'symbol', symbol: null, threshold: 0.5, truth: false, text: '' };

export function readState(hash: string): ViewState {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const threshold = Number(given.get('threshold') ?? initial.threshold);
  const symbol = /^\d{1,7}$/.test(given.get('symbol') ?? '') ? Number(given.get('symbol')) : null;
  return {
    panel: given.get('panel') ?? initial.panel,
    symbol,
    threshold: threshold >= 0.01 && threshold <= 1 ? threshold : initial.threshold,
    truth: given.get('truth') === '1',
    text: given.get('text') ?? '',
  };
}

export function writeState(state: ViewState): string {
  const out = new URLSearchParams();
  if (state.panel !== initial.panel) out.set('panel', state.panel);
  if (state.symbol !== null) out.set('symbol', String(state.symbol));
  if (state.threshold !== initial.threshold) out.set('threshold', String(state.threshold));
  if (state.truth) out.set('truth', '1');
  if (state.text !== '') out.set('text', state.text);
  return out.toString();
}

export type Change = (change: Partial<ViewState>) => void;

/** The state in the address, followed back and forward. */
export function useViewState(): [ViewState, Change] {
  const [state, setState] = useState(() => readState(location.hash));
  useEffect(() => {
    const follow = () => setState(readState(location.hash));
    addEventListener('hashchange', follow);
    addEventListener('popstate', follow);
    return () => {
      removeEventListener('hashchange', follow);
      removeEventListener('popstate', follow);
    };
  }, []);
  const change = useCallback((part: Partial<ViewState>) => {
    setState((before) => {
      const next = { ...before, ...part };
      const hash = `#${writeState(next)}`;
      if (hash === `#${writeState(before)}`) return next;
      // A slider in motion would fill the history.
      if ('threshold' in part) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
      return next;
    });
  }, []);
  return [state, change];
}
