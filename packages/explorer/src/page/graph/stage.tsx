import { useMemo, useState } from 'preact/hooks';
import { type Graph, type Labels, openedWith } from '../client.ts';
import type { Drawn, Grouping } from '../levels/grouped.ts';
import { usePanel } from '../panels/panel.ts';
import { Dot, ThemeCount } from '../parts.tsx';
import type { Change, ViewState } from '../state.ts';
import { TextMap } from '../texts/text-map.tsx';
import type { Texts } from '../texts/use-texts.ts';
import { labelColour } from './colours.ts';
import { Controls } from './controls.tsx';
import { mapsOf, selectionMap, symbolLabels } from './label-maps.ts';
import { Network } from './network.tsx';
import { countLinks, drawnLinks, type LabelMap, type Scene } from './scene.ts';

interface StageProps extends Highlighted {
  drawn: Drawn;
  /** Counts up when the graph should fly to the selected symbol. */
  flight: number;
}

/** The graph with its controls, two of it where two labels are compared, and the map of texts beside it. */
export function Stage({ drawn, flight, ...highlighted }: StageProps) {
  const { run, view, change } = usePanel();
  const { graph, labels, texts } = drawn;
  const [hovered, onHover] = useState<number | null>(null);
  const { links, scenes } = useScenes(drawn, highlighted, hovered);
  // The network alone where there are no texts.
  const shown = texts ? view.show : 'graph';
  const mapped = shown === 'graph' ? null : texts;
  const scene = scenes[0]!;
  const counts = countLinks(links, scene);
  const levelled = openedWith(run, 'levels') !== null;
  const onSelect = (node: number | null) => select(node, drawn, view, change);
  const onStep = (node: number) => step(node, drawn, view, change);
  return (
    <section class="stage" aria-label="Graph">
      <p class="explained">{scene.truth ? COMPARED : WHAT[shown]}</p>
      <div class="drawing">
        {mapped ? (
          <TextMap
            {...{ graph, labels, texts: mapped }}
            explains={levelled && drawn.grouping === null}
            networked={shown === 'both'}
            highlighted={{ walk: scene.walk, paths: scene.paths }}
            onSelect={onSelect}
          />
        ) : (
          <Network {...{ scenes, links, counts, flight, onHover, onStep, onSelect }}>
            <Over {...{ graph, counts }} compared={scene.truth} />
          </Network>
        )}
      </div>
      <Legend labels={labels} />
      <Controls {...{ links, labels, scenes, levelled }} shown={texts ? shown : null} texts={mapped} />
    </section>
  );
}

/** Which colour is which label, where colours mean labels. */
function Legend({ labels }: { labels: Labels | null }) {
  const { view } = usePanel();
  if (!labels || view.colour !== 'label' || view.maps.length > 0) return null;
  return (
    <ul class="legend" aria-label="Colours of the labels">
      {labels.maps.map(({ label }, at) => (
        <li key={label}>
          <Dot colour={labelColour(at)} square />
          {label}
        </li>
      ))}
    </ul>
  );
}

/** In a line what one sees. */
const WHAT: Readonly<Record<ViewState['show'], string>> = {
  both: 'Each dot is a text; each name is a theme that was found in the texts. A line joins themes that texts often go through one after the other.',
  graph:
    'Each name is a theme that was found. A line joins themes that often follow each other; drawn are the strongest few of each.',
  map: 'Each dot is a text; like texts lie together, under the names of the themes that they begin with.',
};

const COMPARED =
  'Each name is a theme that was found. A line joins themes that are linked in the graph that was found, in the true graph, or in both.';

/** A walk over symbols that is highlighted, or several. */
type Highlighted = Pick<Scene, 'walk' | 'paths'>;

/** What is drawn of the graph: once, or once for each map. */
function useScenes(drawn: Drawn, highlighted: Highlighted, hovered: number | null) {
  const { view, dark } = usePanel();
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
  counts: ReturnType<typeof countLinks>;
  compared: boolean;
}

/** What stands over the drawing. */
const Over = (props: CountsProps) => (
  <div class="over">
    <Counts {...props} />
    {props.graph.linksLeftOut > 0 ? (
      <p class="notice">
        Only the {props.graph.links.length} most probable links are here; {props.graph.linksLeftOut} more were
        left out.
      </p>
    ) : null}
  </div>
);

const Counts = ({ graph, counts, compared }: CountsProps) => (
  <div class="counts" role="status">
    <ThemeCount of={graph.nodes.length} /> · <b>{counts.shown}</b> links
    {compared ? (
      <span class="truth-counts">
        <span class="correct">{counts.correct} correct</span> <span class="extra">{counts.extra} extra</span>{' '}
        <span class="missing">{counts.missing} missing</span>
      </span>
    ) : null}
  </div>
);
