import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Graph } from '../client.ts';
import { csv } from '../csv.ts';
import { download } from '../download.ts';
import { labelOf } from '../labels.ts';
import type { Change, ViewState } from '../state.ts';
import { PlainView, sceneSvg } from './plain-view.ts';
import { countLinks, type DrawnLink, drawnLinks, type Scene } from './scene.ts';
import { SigmaView } from './sigma-view.ts';
import { type GraphView, webglAvailable } from './view.ts';

interface StageProps {
  graph: Graph;
  view: ViewState;
  change: Change;
  walk: readonly number[] | null;
  dark: boolean;
  /** Counts up when the graph should fly to the selected symbol. */
  flight: number;
}

/** The graph with its controls. */
export function Stage({ graph, view, change, walk, dark, flight }: StageProps) {
  const container = useRef<HTMLDivElement>(null);
  const drawing = useRef<GraphView | null>(null);
  const [kind, setKind] = useState<GraphView['kind'] | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const links = useMemo(() => drawnLinks(graph), [graph.links, graph.truth]);
  const { threshold, truth } = view;
  // Elsewhere than in its own panel a symbol does not stand out.
  const known = view.symbol !== null && view.symbol < graph.nodes.length;
  const selected = known && view.panel === 'symbol' ? view.symbol : null;
  const scene: Scene = {
    ...{ graph, threshold, selected, hovered, walk, dark },
    truth: truth && graph.truth !== null,
  };
  useEffect(() => {
    const events = {
      hover: setHovered,
      select: (symbol: number | null) => change(symbol === null ? { symbol } : { symbol, panel: 'symbol' }),
    };
    const Kind = webglAvailable() ? SigmaView : PlainView;
    drawing.current = new Kind(container.current!, events);
    setKind(drawing.current.kind);
    return () => drawing.current?.destroy();
  }, [change]);
  useEffect(
    () => drawing.current?.draw(scene, links),
    [graph, links, threshold, scene.truth, selected, hovered, walk, dark, kind],
  );
  useEffect(() => {
    if (flight > 0 && selected !== null) drawing.current?.flyTo(selected);
  }, [flight, kind]);
  useEffect(() => {
    if (walk) drawing.current?.fit(walk);
  }, [walk, kind]);
  const counts = countLinks(links, scene);
  return (
    <section class="stage" aria-label="Graph">
      <div class="drawing">
        <div
          ref={container}
          class="canvas"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing is moved by keys
          tabIndex={0}
          role="application"
          aria-label={`Graph of ${graph.nodes.length} symbols and ${counts.shown} links. Arrow keys move, plus and minus zoom, 0 shows all, n and p step through the symbols.`}
          data-nodes={graph.nodes.length}
          data-links={counts.shown}
          data-kind={kind}
          onKeyDown={(event) => onKey(event, drawing.current, selected, graph.nodes.length, change)}
        />
        <div class="counts" role="status">
          <b>{graph.nodes.length}</b> symbols · <b>{counts.shown}</b> links
          {scene.truth ? <TruthCounts {...counts} /> : null}
        </div>
        {kind === 'plain' ? (
          <p class="notice">This browser offers no WebGL, so the graph is drawn plainly and may be slow.</p>
        ) : null}
        {graph.linksLeftOut > 0 ? (
          <p class="notice">
            Only the {graph.links.length} most probable links are here; {graph.linksLeftOut} more were left
            out.
          </p>
        ) : null}
      </div>
      <Controls {...{ graph, view, change, links, scene }} onReset={() => drawing.current?.reset()} />
    </section>
  );
}

const TruthCounts = ({ correct, extra, missing }: { correct: number; extra: number; missing: number }) => (
  <span class="truth-counts">
    <span class="correct">{correct} correct</span> <span class="extra">{extra} extra</span>{' '}
    <span class="missing">{missing} missing</span>
  </span>
);

interface ControlProps {
  graph: Graph;
  view: ViewState;
  change: Change;
  links: readonly DrawnLink[];
  scene: Scene;
  onReset(): void;
}

function Controls({ graph, view, change, links, scene, onReset }: ControlProps) {
  const saveCsv = () => {
    const rows = graph.links.map(([i, j, p]) => [
      i,
      labelOf(graph.nodes[i]!),
      j,
      labelOf(graph.nodes[j]!),
      p,
    ]);
    download('links.csv', 'text/csv', csv([['i', 'symbol i', 'j', 'symbol j', 'probability'], ...rows]));
  };
  return (
    <div class="controls">
      <label class="slider">
        Links from
        <input
          type="range"
          min={graph.leastProbability}
          max="1"
          step="0.01"
          value={view.threshold}
          aria-label="Least probability of a link"
          onInput={(event) => change({ threshold: Number(event.currentTarget.value) })}
        />
        <output>{view.threshold.toFixed(2)}</output>
      </label>
      {graph.truth ? (
        <label class="check">
          <input
            type="checkbox"
            checked={view.truth}
            onChange={(event) => change({ truth: event.currentTarget.checked })}
          />
          Compare with the truth
        </label>
      ) : null}
      <span class="buttons">
        <button type="button" onClick={onReset}>
          Show all
        </button>
        <button
          type="button"
          onClick={() => download('graph.svg', 'image/svg+xml', sceneSvg(scene, links))}
          title="Download the picture"
        >
          SVG
        </button>
        <button type="button" onClick={saveCsv} title="Download the links">
          CSV
        </button>
      </span>
    </div>
  );
}

function onKey(
  event: KeyboardEvent,
  view: GraphView | null,
  selected: number | null,
  symbols: number,
  change: Change,
): void {
  if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = (by: number) => {
    const symbol = selected === null ? 0 : (selected + by + symbols) % symbols;
    change({ symbol, panel: 'symbol' });
    view.flyTo(symbol);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => view.pan(-0.1, 0),
    ArrowRight: () => view.pan(0.1, 0),
    ArrowUp: () => view.pan(0, -0.1),
    ArrowDown: () => view.pan(0, 0.1),
    '+': () => view.zoom(0.75),
    '=': () => view.zoom(0.75),
    '-': () => view.zoom(1.33),
    '0': () => view.reset(),
    n: () => step(1),
    p: () => step(-1),
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
