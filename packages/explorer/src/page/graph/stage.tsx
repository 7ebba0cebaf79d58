import { useMemo } from 'preact/hooks';
import type { Graph, Labels } from '../client.ts';
import type { Change, ViewState } from '../state.ts';
import { Canvas, type CanvasProps } from './canvas.tsx';
import { Controls } from './controls.tsx';
import { mapsOf, symbolLabels } from './label-maps.ts';
import { Legend } from './legend.tsx';
import { countLinks, drawnLinks, type Scene } from './scene.ts';
import { useViews } from './views.ts';

interface StageProps {
  graph: Graph;
  labels: Labels | null;
  view: ViewState;
  change: Change;
  walk: readonly number[] | null;
  dark: boolean;
  /** Counts up when the graph should fly to the selected symbol. */
  flight: number;
}

/** The graph with its controls; two of it where two labels are compared. */
export function Stage({ graph, labels, view, change, walk, dark, flight }: StageProps) {
  const views = useViews();
  const links = useMemo(() => drawnLinks(graph), [graph.links, graph.truth]);
  const byLabel = useMemo(
    () => (labels && view.colour === 'label' ? symbolLabels(labels) : null),
    [labels, view.colour],
  );
  const maps = useMemo(() => (labels ? mapsOf(labels, view.maps) : []), [labels, view.maps.join('/')]);
  const scene = sceneOf(graph, view, { walk, dark, hovered: views.hovered, labels: byLabel, map: null });
  const counts = countLinks(links, scene);
  const scenes = maps.length === 0 ? [scene] : maps.map((map): Scene => ({ ...scene, map }));
  const shared: Omit<CanvasProps, 'scene' | 'at'> = {
    ...{ links, counts, views, flight },
    // While a walk is composed the graph stays where it is.
    fits: view.panel !== 'compose',
    onStep: (symbol) => change(view.panel === 'compose' ? { symbol } : { symbol, panel: 'symbol' }),
    onSelect: (symbol) => select(symbol, view, change),
  };
  return (
    <section class="stage" aria-label="Graph">
      <div class="drawing">
        {scenes.map((drawn, at) => (
          <Canvas key={at} scene={drawn} at={at} {...shared} />
        ))}
        <div class="over">
          <Counts symbols={graph.nodes.length} counts={counts} compared={scene.truth} />
          <Notices kind={views.kind} graph={graph} />
        </div>
        {labels && view.colour === 'label' && maps.length === 0 ? <Legend labels={labels} /> : null}
      </div>
      <Controls {...{ view, change, links, labels, scenes }} onReset={() => views.first()?.reset()} />
    </section>
  );
}

/** A click shows the symbol; while a walk is composed it is the next step. */
function select(symbol: number | null, view: ViewState, change: Change): void {
  if (view.panel !== 'compose') change(symbol === null ? { symbol } : { symbol, panel: 'symbol' });
  else if (symbol !== null) change({ walk: [...view.walk, symbol] });
}

function sceneOf(
  graph: Graph,
  view: ViewState,
  rest: Pick<Scene, 'walk' | 'dark' | 'hovered' | 'labels' | 'map'>,
): Scene {
  const { threshold, symbol, panel } = view;
  // Elsewhere than in its own panel, or under the cursor of a walk, a symbol does not stand out.
  const shows = panel === 'symbol' || panel === 'compose';
  const selected = symbol !== null && symbol < graph.nodes.length && shows ? symbol : null;
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

const Notices = ({ kind, graph }: { kind: 'webgl' | 'plain' | null; graph: Graph }) => (
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
