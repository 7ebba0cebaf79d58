import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Graph } from '../client.ts';
import type { Change, ViewState } from '../state.ts';
import { Controls } from './controls.tsx';
import { type Drawing, useDrawing } from './drawing.ts';
import { onGraphKey } from './keys.ts';
import { countLinks, drawnLinks, type Scene } from './scene.ts';

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
  const [hovered, setHovered] = useState<number | null>(null);
  const links = useMemo(() => drawnLinks(graph), [graph.links, graph.truth]);
  const scene = sceneOf(graph, view, { walk, dark, hovered });
  const select = (symbol: number | null) =>
    change(symbol === null ? { symbol } : { symbol, panel: 'symbol' });
  const { view: drawing, kind } = useDrawing(container, { hover: setHovered, select }, scene, links);
  useEffect(() => {
    if (flight > 0 && scene.selected !== null) drawing.current?.flyTo(scene.selected);
  }, [flight, kind]);
  const counts = countLinks(links, scene);
  const symbols = graph.nodes.length;
  return (
    <section class="stage" aria-label="Graph">
      <div class="drawing">
        <div
          ref={container}
          class="canvas"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing is moved by keys
          tabIndex={0}
          role="application"
          aria-label={`Graph of ${symbols} symbols and ${counts.shown} links. Arrow keys move, plus and minus zoom, 0 shows all, n and p step through the symbols.`}
          data-nodes={symbols}
          data-links={counts.shown}
          data-kind={kind}
          onKeyDown={(event) => onGraphKey(event, drawing.current, scene.selected, symbols, change)}
        />
        <Counts symbols={symbols} counts={counts} compared={scene.truth} />
        <Notices kind={kind} graph={graph} />
      </div>
      <Controls {...{ view, change, links, scene }} onReset={() => drawing.current?.reset()} />
    </section>
  );
}

function sceneOf(graph: Graph, view: ViewState, rest: Pick<Scene, 'walk' | 'dark' | 'hovered'>): Scene {
  const { threshold, symbol, panel } = view;
  // Elsewhere than in its own panel a symbol does not stand out.
  const selected = symbol !== null && symbol < graph.nodes.length && panel === 'symbol' ? symbol : null;
  return { graph, threshold, selected, truth: view.truth && graph.truth !== null, ...rest };
}

interface CountsProps {
  symbols: number;
  counts: ReturnType<typeof countLinks>;
  compared: boolean;
}

const Counts = ({ symbols, counts, compared }: CountsProps) => (
  <div class="counts" role="status">
    <b>{symbols}</b> symbols · <b>{counts.shown}</b> links
    {compared ? (
      <span class="truth-counts">
        <span class="correct">{counts.correct} correct</span> <span class="extra">{counts.extra} extra</span>{' '}
        <span class="missing">{counts.missing} missing</span>
      </span>
    ) : null}
  </div>
);

const Notices = ({ kind, graph }: { kind: Drawing['kind']; graph: Graph }) => (
  <div class="notices">
    {kind === 'plain' ? (
      <p class="notice">This browser offers no WebGL, so the graph is drawn plainly and may be slow.</p>
    ) : null}
    {graph.linksLeftOut > 0 ? (
      <p class="notice">
        Only the {graph.links.length} most probable links are here; {graph.linksLeftOut} more were left out.
      </p>
    ) : null}
  </div>
);
