import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clientOf, type Graph, openedWith, type Run, type RunSummary } from './client.ts';
import { Stage } from './graph/stage.tsx';
import { sentenceCase } from './labels.ts';
import { type Drawn, useDrawn, useGrouping } from './levels/grouped.ts';
import { useEdits, usePatched } from './levels/use-edits.ts';
import { useTheme } from './media.ts';
import { PanelContext, type PanelProps } from './panels/panel.ts';
import { Empty, Failure, Press, Waiting } from './parts.tsx';
import { RunChoice } from './run-choice.tsx';
import { Search } from './search.tsx';
import { useGraph, useLabels, useRun, useRuns, useTime } from './served.ts';
import { Side } from './side.tsx';
import { type Change, useViewState, type ViewState } from './state.ts';
import { useTexts } from './texts/use-texts.ts';

export function App() {
  const [view, change] = useViewState();
  const { dark, toggle } = useTheme();
  // Nothing of one run is kept for another.
  return <Explorer key={view.run} {...{ view, change, dark, toggle }} />;
}

interface ExplorerProps extends Pick<PanelProps, 'view' | 'change' | 'dark'> {
  toggle(): void;
}

function Explorer({ view, change, dark, toggle }: ExplorerProps) {
  const client = useMemo(() => clientOf(view.run), [view.run]);
  const { run: served, fault, refresh } = useRun(client, view.run);
  const [run, edited] = usePatched(served);
  const runs = useRuns();
  const { graph, failure, renamed } = useGraph(client, run);
  const labels = useLabels(client, run);
  const { texts, failure: textsFailure } = useTexts(client, run, view);
  const { time, timeFailure } = useTime(client, run, view.period);
  const edits = useEdits({ client, run, change, renamed, edited, refresh });
  const grouping = useGrouping(client, run, view.level);
  const mapped = openedWith(run, 'map') !== null && textsFailure === null;
  const drawn = useSettled(useDrawn({ graph, labels, texts }, grouping), mapped);
  const { walk, paths, ...shows } = useHighlighted();
  const { flight, goTo } = useFlight(view, change);
  useKeys(() => change({ symbol: null }));
  useTitle(run?.name);
  const props: PanelProps | null = run && {
    ...{ client, run, runs, graph, labels, view, change, dark, goTo },
    ...{ texts, textsFailure, time, timeFailure, grouping, edits, ...shows },
  };
  return (
    <PanelContext.Provider value={props}>
      <div class="app">
        <Top {...{ run, runs, view, change, dark, toggle, goTo }} nodes={graph?.nodes ?? []} />
        {run ? <Faults faults={[fault, run.fault]} /> : null}
        <main>
          {drawn && props ? (
            <Stage {...{ drawn, walk, paths, flight }} />
          ) : (
            <NoStage {...{ run, runs, fault, failure, view, change }} />
          )}
          {props ? <Side /> : null}
        </main>
      </div>
    </PanelContext.Provider>
  );
}

/** What was drawn last, while a run with a map has its texts read: the picture never changes its kind meanwhile. */
function useSettled(drawn: Drawn | null, mapped: boolean): Drawn | null {
  const last = useRef<Drawn | null>(null);
  if (!drawn || drawn.texts !== null || !mapped) last.current = drawn;
  return last.current;
}

/** What panels light on the graph: one walk, and all walks of an answer. */
function useHighlighted() {
  const [walk, showWalk] = useState<readonly number[] | null>(null);
  const [paths, showPaths] = useState<readonly (readonly number[])[] | null>(null);
  return { walk, paths, showWalk, showPaths };
}

/** Counts up each time that the graph should fly to the chosen symbol, and goes to one. */
function useFlight(view: ViewState, change: Change) {
  const [flight, setFlight] = useState(0);
  const goTo = useCallback(
    (symbol: number) => {
      change({ symbol, panel: 'symbol' });
      setFlight((count) => count + 1);
    },
    [change],
  );
  // An address that says where to look from is followed there.
  const wasPlaced = useRef(view.graphat !== null);
  useEffect(() => {
    if (view.panel === 'symbol' && view.symbol !== null && !wasPlaced.current)
      setFlight((count) => count + 1);
    wasPlaced.current = false;
  }, [view.panel]);
  return { flight, goTo };
}

interface TopProps extends Pick<PanelProps, 'runs' | 'view' | 'change' | 'dark' | 'goTo'> {
  run: Run | null;
  nodes: Graph['nodes'];
  toggle(): void;
}

const Top = ({ run, runs, view, change, dark, toggle, goTo, nodes }: TopProps) => (
  <header class="top">
    <h1>Hidden Schema</h1>
    <RunChoice run={run} asked={view.run} runs={runs} change={change} />
    {run ? <State run={run} /> : null}
    <Search nodes={nodes} onChoose={goTo} />
    <Theme dark={dark} toggle={toggle} />
  </header>
);

interface NoStageProps extends Pick<PanelProps, 'runs' | 'view' | 'change'> {
  run: Run | null;
  fault: string | null;
  failure: string | null;
}

/** In the graph's place while there is none. */
const NoStage = ({ run, runs, fault, failure, view, change }: NoStageProps) => (
  <section class="stage">
    {fault !== null && !run ? (
      <NoRun {...{ fault, runs, change }} asked={view.run} />
    ) : (
      <NoGraph run={run} failure={failure} />
    )}
  </section>
);

const Faults = ({ faults }: { faults: readonly (string | null)[] }) => (
  <>{faults.map((fault, at) => (fault ? <Failure key={at} message={fault} /> : null))}</>
);

const Theme = ({ dark, toggle }: { dark: boolean; toggle(): void }) => (
  <Press class="theme" onClick={toggle} aria-label={dark ? 'Use light colours' : 'Use dark colours'}>
    {dark ? '☀' : '☾'}
  </Press>
);

function NoGraph({ run, failure }: { run: Run | null; failure: string | null }) {
  const message = failure ?? run?.problem ?? null;
  if (message === null)
    return (
      <Waiting
        what={`${sentenceCase(run?.doing ?? (run?.opened ? 'placing the texts on the map' : 'opening the model'))} …`}
      />
    );
  return run?.state === 'running' ? <Empty>{message}</Empty> : <Failure message={message} />;
}

interface NoRunProps {
  fault: string;
  asked: string;
  runs: readonly RunSummary[];
  change: Change;
}

/** What is wrong with the run that was asked for, and a way on to those that can be shown. */
function NoRun({ fault, asked, runs, change }: NoRunProps) {
  const whole = runs.filter(({ id, state }) => state !== 'damaged' && id !== asked);
  return (
    <div class="no-run">
      <h2>This run cannot be shown</h2>
      <Failure message={fault} />
      {whole.length === 0 ? null : (
        <>
          <p class="faint">Other runs that are served:</p>
          <p class="other-runs">
            {whole.slice(0, 12).map(({ id }) => (
              <Press key={id} onClick={() => change({ run: id })}>
                {id}
              </Press>
            ))}
          </p>
        </>
      )}
    </div>
  );
}

/** Said only where a run is not as it should stay: it still trains, or broke off. */
const State = ({ run }: { run: Run }) =>
  run.state === 'finished' || run.state === 'discovered' ? null : (
    <span class={`state ${run.state}`} title={`made ${run.created}`}>
      {run.state === 'running' ? 'training' : run.state}
      {run.lastStep === null ? '' : `, step ${run.lastStep.toLocaleString('en')}`}
      {run.state === 'running' ? ` of ${run.steps.toLocaleString('en')}` : ''}
    </span>
  );

function useTitle(run: string | undefined): void {
  useEffect(() => {
    if (run !== undefined) document.title = `${run} · Hidden Schema explorer`;
  }, [run]);
}

/** Keys that work anywhere. */
function useKeys(clear: () => void): void {
  useLayoutEffect(() => {
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
