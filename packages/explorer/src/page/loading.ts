import { useEffect, useState } from 'preact/hooks';

export type Loaded<T> =
  | { state: 'loading'; before: T | null }
  | { state: 'ready'; value: T }
  | { state: 'failed'; message: string };

/** Loads what `key` names; a newer key ends the older request. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading', before: null });
  // The key stands for all that `load` closes over.
  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    setLoaded((last) => ({ state: 'loading', before: latest(last) }));
    load(controller.signal).then(
      (value) => setLoaded({ state: 'ready', value }),
      (error: Error) => {
        if (!controller.signal.aborted) setLoaded({ state: 'failed', message: error.message });
      },
    );
    return () => controller.abort();
  }, [key]);
  return loaded;
}

export const latest = <T>(loaded: Loaded<T>): T | null =>
  loaded.state === 'ready' ? loaded.value : loaded.state === 'loading' ? loaded.before : null;

/** Calls again and again, one after the other, while the page is looked at; what it gives says when, in milliseconds. */
export function usePolling(poll: (signal: AbortSignal) => Promise<number>, key: string): void {
  useEffect(() => {
    const controller = new AbortController();
    let timer = 0;
    const round = async () => {
      const wait = document.hidden ? 1000 : await poll(controller.signal).catch(() => 3000);
      if (!controller.signal.aborted) timer = window.setTimeout(round, wait);
    };
    void round();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key]);
}
