import { useCallback, useEffect, useState } from 'preact/hooks';
import { client, type Graph, type Run } from './client.ts';
import { Stage } from './graph/stage.tsx';
import { useLoaded, usePolling, latest } from './loading.ts';
import { Empty, Failure, Waiting } from './parts.tsx';
import { panels } from './panels/index.ts';
import type { Panel, PanelProps } from './panels/panel.ts';
import { Search } from './search.tsx';
import { useViewState } from './state.ts';
import { useTheme } from './theme.ts';

export function App() {
  const { run, fault } = useRun();
  const [view, change] = useViewState();
  const { dark, toggle } = useTheme();
  const { graph, failure, renamed } = useGraph(run);
  const [walk, setWalk] = useState<readonly number[] | null>(null);
  const [flight, setFlight] = useState(view.symbol === null ? 0 : 1);
  const goTo = useCallback(
    (symbol: number) => {
      change({ symbol, panel: 'symbol' });
      setFlight((count) => count + 1);
    },
    [change],
  );
  useEffect(() => {
    if (view.panel === 'symbol' && view.symbol !== null) setFlight((count) => count + 1);
  }, [view.panel]);
  useKeys(() => change({ symbol: null }));
  useEffect(() => {
    if (run) document.title = `${run.name} · Hidden Schema explorer`;
  }, [run?.name]);
  const props = run && { run, graph, view, change, dark, goTo, showWalk: setWalk, renamed };
  return (
    <div class="app">
      <Top {...{ run, dark, toggle, goTo }} nodes={graph?.nodes ?? []} />
      {fault === null ? null : <Failure message={fault} />}
      <main>
        {graph ? (
          <Stage {...{ graph, view, change, walk, dark, flight }} />
        ) : (
          <section class="stage">
            <NoGraph run={run} failure={failure} />
          </section>
        )}
        {props ? <Side {...props} /> : null}
      </main>
    </div>
  );
}

interface TopProps {
  run: Run | null;
  nodes: Graph['nodes'];
  dark: boolean;
  toggle(): void;
  goTo(symbol: number): void;
}

const Top = ({ run, nodes, dark, toggle, goTo }: TopProps) => (
  <header class="top">
    <h1>
      Hidden Schema <span class="run-name">{run?.name}</span>
    </h1>
    {run ? <State run={run} /> : null}
    <Search nodes={nodes} onChoose={goTo} />
    <button
      type="button"
      class="theme"
      onClick={toggle}
      aria-label={dark ? 'Use light colours' : 'Use dark colours'}
    >
      {dark ? '☀' : '☾'}
    </button>
  </header>
);

function NoGraph({ run, failure }: { run: Run | null; failure: string | null }) {
  const message = failure ?? run?.problem ?? null;
  if (message === null) return <Waiting what="Opening the model …" />;
  return run?.state === 'running' ? <Empty>{message}</Empty> : <Failure message={message} />;
}

const State = ({ run }: { run: Run }) => (
  <span class={`state ${run.state}`} title={`made ${run.created}`}>
    {run.state}
    {run.lastStep === null ? '' : ` · step ${run.lastStep}`}
    {run.state === 'running' ? ` of ${run.steps}` : ''}
  </span>
);

/** The run's facts, asked again and again: fast while something changes. */
function useRun(): { run: Run | null; fault: string | null } {
  const [run, setRun] = useState<Run | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  usePolling(async (signal) => {
    try {
      const next = await client.run(signal);
      setRun((last) => (JSON.stringify(last) === JSON.stringify(next) ? last : next));
      setFault(null);
      if (next.opened === null && next.problem === null) return 300;
      return next.state === 'running' ? 2000 : 10_000;
    } catch (error) {
      if (!signal.aborted) setFault((error as Error).message);
      return 2000;
    }
  });
  return { run, fault };
}

/** The graph of the checkpoint that is open, with names given since. */
function useGraph(run: Run | null) {
  const opened = run?.opened;
  const loaded = useLoaded(opened ? `${run.created} ${opened.step}` : null, (signal) => client.graph(signal));
  const [graph, setGraph] = useState<Graph | null>(null);
  const value = latest(loaded);
  useEffect(() => setGraph(value), [value]);
  const renamed = useCallback((symbol: number, name: string | null) => {
    const rename = (node: Graph['nodes'][number]) => (node.symbol === symbol ? { ...node, name } : node);
    setGraph((last) => last && { ...last, nodes: last.nodes.map(rename) });
  }, []);
  return { graph, failure: loaded.state === 'failed' ? loaded.message : null, renamed };
}

/** Keys that work anywhere. */
function useKeys(clear: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).matches?.('input, textarea, select');
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Escape') clear();
      if (event.key !== '/') return;
      event.preventDefault();
      document.getElementById('search')?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function Side(props: PanelProps) {
  const { run, view, change } = props;
  const features = run.opened?.features ?? [];
  const offered = panels.filter(({ feature }) => feature === undefined || features.includes(feature));
  const current = offered.find(({ id }) => id === view.panel) ?? offered[0]!;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    const next = offered[(offered.indexOf(current) + by + offered.length) % offered.length]!;
    change({ panel: next.id });
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <aside>
      <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={onKeyDown}>
        {offered.map((panel) => (
          <Tab
            key={panel.id}
            panel={panel}
            chosen={panel === current}
            onChoose={() => change({ panel: panel.id })}
          />
        ))}
      </div>
      <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${current.id}`}>
        <current.Body key={current.id} {...props} />
      </div>
    </aside>
  );
}

const Tab = ({ panel, chosen, onChoose }: { panel: Panel; chosen: boolean; onChoose(): void }) => (
  <button
    type="button"
    role="tab"
    id={`tab-${panel.id}`}
    aria-selected={chosen}
    aria-controls="panel"
    tabIndex={chosen ? 0 : -1}
    onClick={onChoose}
  >
    {panel.title}
  </button>
);
