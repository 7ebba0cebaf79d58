import { useCallback, useEffect, useState } from 'preact/hooks';
import {
  type Client,
  clientOf,
  type Graph,
  type Labels,
  openedWith,
  type Run,
  type RunSummary,
} from './client.ts';
import { latest, useLoaded, usePolling } from './loading.ts';

/** The run's facts, asked again and again: fast while something changes, and at once after `refresh`. */
export function useRun(
  client: Client,
  id: string,
): { run: Run | null; fault: string | null; refresh(): void } {
  const [run, setRun] = useState<Run | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((last) => last + 1), []);
  usePolling(async (signal) => {
    try {
      const next = await client.run({}, signal);
      setRun((last) => (JSON.stringify(last) === JSON.stringify(next) ? last : next));
      setFault(null);
      const behind = next.opened?.identity !== next.identity;
      if (behind && next.problem === null) return 300;
      return next.state === 'running' ? 2000 : 10_000;
    } catch (error) {
      if (!signal.aborted) setFault((error as Error).message);
      return 2000;
    }
  }, `${id} ${round}`);
  // What another run says is not this one's.
  return { run: run && (id === '' || run.id === id) ? run : null, fault, refresh };
}

export function useRuns(): readonly RunSummary[] {
  const [runs, setRuns] = useState<readonly RunSummary[]>([]);
  usePolling(async (signal) => {
    const next = await clientOf('').runs({}, signal);
    setRuns((last) => (JSON.stringify(last) === JSON.stringify(next.runs) ? last : next.runs));
    return next.runs.some(({ state }) => state === 'running') ? 4000 : 15_000;
  }, '');
  return runs;
}

/**
 * What the server says of an open run that has a feature, asked again at each checkpoint and edit, and where `more` is
 * another. Null until it is there, and why it cannot be.
 */
export function useOpened<T>(
  [run, feature]: readonly [Run | null, feature: string | null],
  load: (signal: AbortSignal) => Promise<T>,
  more = '',
): { key: string | null; value: T | null; failure: string | null } {
  const opened = feature === null ? run?.opened : openedWith(run, feature);
  const key = opened ? `${run!.id} ${opened.identity} ${opened.step} ${more}` : null;
  const loaded = useLoaded(key, load);
  const failure = opened && loaded.state === 'failed' ? loaded.message : null;
  return { key, value: opened ? latest(loaded) : null, failure };
}

/** The graph of the checkpoint that is open, with names given since. */
export function useGraph(client: Client, run: Run | null) {
  const { value, failure } = useOpened([run, null], (signal) => client.graph({}, signal));
  const [graph, setGraph] = useState<Graph | null>(null);
  useEffect(() => setGraph(value), [value]);
  const renamed = useCallback((symbol: number, name: string | null) => {
    const rename = (node: Graph['nodes'][number]) => (node.symbol === symbol ? { ...node, name } : node);
    setGraph((last) => last && { ...last, nodes: last.nodes.map(rename) });
  }, []);
  return { graph, failure, renamed };
}

/** Distributions of the labels, for runs that have some. */
export const useLabels = (client: Client, run: Run | null): Labels | null =>
  useOpened([run, 'labels'], (signal) => client.labels({}, signal)).value;

/** Shares over time, for runs whose texts have dates; null until they are there, or why they cannot be. */
export function useTime(client: Client, run: Run | null, period: string) {
  const { value, failure } = useOpened([run, 'time'], (signal) => client.time({ period }, signal), period);
  return { time: value, timeFailure: failure };
}
