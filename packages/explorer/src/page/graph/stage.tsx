import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Client, Graph, Labels } from '../client.ts';
import type { Grouping } from '../levels/grouped.ts';
import type { Drawn } from '../levels/use-level.ts';
import type { Change, ViewState } from '../state.ts';
import { selectionMap } from '../texts/selection-map.ts';
import { TextMap } from '../texts/text-map.tsx';
import type { Texts } from '../texts/use-texts.ts';
import { useGaze } from './camera.ts';
import { Canvas, type CanvasProps } from './canvas.tsx';
import { Controls } from './controls.tsx';
import { mapsOf, symbolLabels } from './label-maps.ts';
import { Legend } from './legend.tsx';
import { countLinks, drawnLinks, type LabelMap, type Scene } from './scene.ts';
import { type Shown, shownOf } from './shown.ts';
import { useViews } from './views.ts';

interface StageProps {
  /** Whether symbols can be drawn as groups. */
  levelled: boolean;
  client: Client;
  drawn: Drawn;
  /** K, whatever is drawn. */
  symbols: number;
  view: ViewState;
  change: Change;
  walk: readonly number[] | null;
  paths: readonly (readonly number[])[] | null;
  dark: boolean;
  /** Counts up when the graph should fly to the selected symbol. */
  flight: number;
}

/** The graph with its controls, two of it where two labels are compared, and the map of texts beside it. */
export function Stage(props: StageProps) {
  const { client, levelled, drawn, symbols, view, change, dark, flight } = props;
  const { graph, labels, texts } = drawn;
  const gaze = useGaze(view, change);
  const views = useViews(gaze.moved);
  const { links, scenes } = useScenes(drawn, view, { ...props, hovered: views.hovered });
  const shown = shownOf(view.show, texts !== null);
  const mapped = shown === 'graph' ? null : texts;
  const scene = scenes[0]!;
  const counts = countLinks(links, scene);
  const shared: Omit<CanvasProps, 'scene' | 'at'> = {
    ...{ links, counts, views, flight, gaze: gaze.place, ...actionsOf(drawn, view, change) },
  };
  return (
    <section class="stage" aria-label="Graph">
      <p class="explained">{WHAT[shown]}</p>
      <div class="drawing">
        {mapped ? (
          <TextMap
            {...{ client, graph, labels, view, change, dark, texts: mapped }}
            explains={levelled && drawn.grouping === null}
            networked={shown === 'both'}
            highlighted={{ walk: scene.walk, paths: scene.paths }}
            onSelect={shared.onSelect}
          />
        ) : (
          <Network {...{ scenes, shared }}>
            <Over {...{ graph, symbols, counts }} compared={scene.truth} kind={views.kind} />
          </Network>
        )}
      </div>
      <LabelColours {...{ labels, view }} />
      <Controls
        {...{ view, change, links, labels, scenes }}
        {...{ symbols: levelled ? symbols : null, shown: texts ? shown : null, texts: mapped }}
        onReset={() => views.first()?.reset()}
      />
    </section>
  );
}

/** Which colour is which label, where colours mean labels. */
const LabelColours = ({ labels, view }: { labels: Labels | null; view: ViewState }) =>
  labels && view.colour === 'label' && view.maps.length === 0 ? <Legend labels={labels} /> : null;

const actionsOf = (drawn: Drawn, view: ViewState, change: Change) => ({
  // While a walk is composed the graph stays where it is.
  fits: view.panel !== 'compose',
  onStep: (node: number) => step(node, drawn, view, change),
  onSelect: (node: number | null) => select(node, drawn, view, change),
});

interface NetworkProps {
  scenes: readonly Scene[];
  shared: Omit<CanvasProps, 'scene' | 'at'>;
  children: ComponentChildren;
}

/** The network alone; twice where two labels are compared. */
const Network = ({ scenes, shared, children }: NetworkProps) => (
  <div class="graph-side">
    {scenes.map((one, at) => (
      <Canvas key={at} scene={one} at={at} {...shared} />
    ))}
    {children}
  </div>
);

/** In a line what one sees. */
const WHAT: Readonly<Record<Shown, string>> = {
  both: 'Each dot is a text; each name is a theme that was found in the texts. A line joins themes that texts often go through one after the other.',
  graph:
    'Each name is a theme that was found. A line joins themes that often follow each other; drawn are the strongest few of each.',
  map: 'Each dot is a text; like texts lie together, under the names of the themes that they begin with.',
};

interface Looked {
  /** A walk over symbols that is highlighted, or several. */
  walk: readonly number[] | null;
  paths: readonly (readonly number[])[] | null;
  dark: boolean;
  hovered: number | null;
}

/** What is drawn of the graph: once, or once for each map. */
function useScenes(drawn: Drawn, view: ViewState, { dark, hovered, ...highlighted }: Looked) {
  const { graph, labels, texts, grouping } = drawn;
  const { walk, paths } = useMemo(() => {
    const inGroups = (one: readonly number[]) =>
      grouping ? one.map((symbol) => grouping.groupOf[symbol]!) : one;
    return {
      walk: highlighted.walk && inGroups(highlighted.walk),
      paths: highlighted.paths?.map(inGroups) ?? null,
    };
  }, [highlighted.walk, highlighted.paths, grouping]);
  const links = useMemo(
    () => drawnLinks(graph, view.truth),
    [graph.links, graph.strengths, graph.truth, view.truth],
  );
  const byLabel = useMemo(
    () => (labels && view.colour === 'label' ? symbolLabels(labels) : null),
    [labels, view.colour],
  );
  const maps = useMaps(labels, texts, view);
  const scene = sceneOf(drawn, view, { walk, paths, dark, hovered, labels: byLabel, map: null });
  return { links, scenes: maps.length === 0 ? [scene] : maps.map((map): Scene => ({ ...scene, map })) };
}

/** The maps of labels that were asked for; else where the selected texts go, if texts were chosen by more than symbols. */
function useMaps(labels: Labels | null, texts: Texts | null, view: ViewState): LabelMap[] {
  return useMemo(() => {
    if (labels && view.maps.length > 0) return mapsOf(labels, view.maps);
    if (!texts?.active || texts.count === 0) return [];
    const { labels: named, around, words, between } = texts.filter;
    const beyondSymbols =
      named.length > 0 || around.length > 0 || words !== null || between.some((time) => time !== null);
    return beyondSymbols ? [selectionMap(texts.data, texts.selected, texts.count)] : [];
  }, [labels, texts, view.maps.join('/')]);
}

/** A click shows the symbol, or the texts of a group; while a walk is composed it is the next step. */
function select(node: number | null, { grouping }: Drawn, view: ViewState, change: Change): void {
  if (grouping) showGroup(node, grouping, change);
  else if (view.panel !== 'compose')
    change(node === null ? { symbol: node } : { symbol: node, panel: 'symbol' });
  else if (node !== null) change({ walk: [...view.walk, node] });
}

function step(node: number, { grouping }: Drawn, view: ViewState, change: Change): void {
  if (grouping) showGroup(node, grouping, change);
  else change(view.panel === 'compose' ? { symbol: node } : { symbol: node, panel: 'symbol' });
}

function showGroup(node: number | null, { level }: Grouping, change: Change): void {
  const group = node === null ? undefined : level.groups[node];
  change(group ? { only: group.symbols, panel: 'levels', symbol: null } : { only: [] });
}

function sceneOf(
  { graph, grouping }: Drawn,
  view: ViewState,
  rest: Pick<Scene, 'walk' | 'paths' | 'dark' | 'hovered' | 'labels' | 'map'>,
): Scene {
  const { threshold } = view;
  const selected = grouping ? chosenGroup(grouping, view) : chosenSymbol(graph, view);
  return { graph, threshold, selected, truth: view.truth && graph.truth !== null, ...rest };
}

/** Elsewhere than in its own panel, or under the cursor of a walk, a symbol does not stand out. */
function chosenSymbol({ nodes }: Graph, { symbol, panel }: ViewState): number | null {
  const shows = panel === 'symbol' || panel === 'compose';
  return symbol !== null && symbol < nodes.length && shows ? symbol : null;
}

function chosenGroup({ level }: Grouping, { only }: ViewState): number | null {
  const found = level.groups.findIndex(({ symbols }) => symbols.join() === only.join());
  return found < 0 ? null : found;
}

interface CountsProps {
  graph: Graph;
  symbols: number;
  counts: ReturnType<typeof countLinks>;
  compared: boolean;
}

/** What stands over the drawing. */
const Over = ({ kind, ...counted }: CountsProps & { kind: 'webgl' | 'plain' | null }) => (
  <div class="over">
    <Counts {...counted} />
    <Notices kind={kind} graph={counted.graph} />
  </div>
);

const Counts = ({ graph, symbols, counts, compared }: CountsProps) => (
  <div class="counts" role="status">
    {graph.nodes.length < symbols ? (
      <>
        <b>{graph.nodes.length}</b> groups of <b>{symbols}</b> themes
      </>
    ) : (
      <>
        <b>{symbols}</b> themes
      </>
    )}{' '}
    · <b>{counts.shown}</b> links
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
