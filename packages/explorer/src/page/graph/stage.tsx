import { useMemo } from 'preact/hooks';
import type { Client, Graph, Labels } from '../client.ts';
import type { Change, ViewState } from '../state.ts';
import { litMap } from '../texts/lit-map.ts';
import { TextMap } from '../texts/text-map.tsx';
import type { Texts } from '../texts/use-texts.ts';
import { useGaze } from './gaze.ts';
import { useShown } from './shown.ts';
import { Canvas, type CanvasProps } from './canvas.tsx';
import { Controls } from './controls.tsx';
import { mapsOf, symbolLabels } from './label-maps.ts';
import { Legend } from './legend.tsx';
import { countLinks, drawnLinks, type LabelMap, type Scene } from './scene.ts';
import { useViews } from './views.ts';

interface StageProps {
  client: Client;
  graph: Graph;
  labels: Labels | null;
  texts: Texts | null;
  view: ViewState;
  change: Change;
  walk: readonly number[] | null;
  dark: boolean;
  /** Counts up when the graph should fly to the selected symbol. */
  flight: number;
}

/** The graph with its controls, two of it where two labels are compared, and the map of texts beside it. */
export function Stage({ client, graph, labels, texts, view, change, walk, dark, flight }: StageProps) {
  const gaze = useGaze(view, change);
  const views = useViews(gaze.moved);
  const links = useMemo(() => drawnLinks(graph), [graph.links, graph.truth]);
  const byLabel = useMemo(
    () => (labels && view.colour === 'label' ? symbolLabels(labels) : null),
    [labels, view.colour],
  );
  const maps = useMaps(labels, texts, view);
  const shown = useShown(view.show, texts !== null);
  const scene = sceneOf(graph, view, { walk, dark, hovered: views.hovered, labels: byLabel, map: null });
  const counts = countLinks(links, scene);
  const scenes = maps.length === 0 ? [scene] : maps.map((map): Scene => ({ ...scene, map }));
  const shared: Omit<CanvasProps, 'scene' | 'at'> = {
    ...{ links, counts, views, flight, gaze: gaze.place },
    // While a walk is composed the graph stays where it is.
    fits: view.panel !== 'compose',
    onStep: (symbol) => change(view.panel === 'compose' ? { symbol } : { symbol, panel: 'symbol' }),
    onSelect: (symbol) => select(symbol, view, change),
  };
  return (
    <section class="stage" aria-label="Graph">
      <div class={`drawing showing-${shown}`}>
        {shown === 'map' ? null : (
          <div class="graph-side">
            {scenes.map((drawn, at) => (
              <Canvas key={at} scene={drawn} at={at} {...shared} />
            ))}
            <div class="over">
              <Counts symbols={graph.nodes.length} counts={counts} compared={scene.truth} />
              <Notices kind={views.kind} graph={graph} />
            </div>
            {labels && view.colour === 'label' && maps.length === 0 ? <Legend labels={labels} /> : null}
          </div>
        )}
        {texts && shown !== 'graph' ? (
          <TextMap {...{ client, graph, labels, texts, view, change, dark }} />
        ) : null}
      </div>
      <Controls
        {...{ view, change, links, labels, scenes }}
        shown={texts ? shown : null}
        onReset={() => views.first()?.reset()}
      />
    </section>
  );
}

/** The maps of labels that were asked for; else where the lit texts go, if texts were chosen by more than symbols. */
function useMaps(labels: Labels | null, texts: Texts | null, view: ViewState): LabelMap[] {
  return useMemo(() => {
    if (labels && view.maps.length > 0) return mapsOf(labels, view.maps);
    if (!texts?.active || texts.count === 0) return [];
    const { labels: named, around, words } = texts.filter;
    const beyondSymbols = named.length > 0 || around.length > 0 || words !== null;
    return beyondSymbols ? [litMap(texts.data, texts.lit, texts.count)] : [];
  }, [labels, texts, view.maps.join('/')]);
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
