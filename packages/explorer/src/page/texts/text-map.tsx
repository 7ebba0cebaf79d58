import { rgbOf } from '@hidden-schema/studies/drawing';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Graph, Labels } from '../client.ts';
import { labelColour } from '../graph/colours.ts';
import { colourOf } from '../graph/label-maps.ts';
import { strongLinks } from '../graph/scene.ts';
import { type Keys, onDrawingKey, useCamera } from '../graph/use-camera.ts';
import { type PanelProps, usePanel } from '../panels/panel.ts';
import { toScreen } from './camera.ts';
import { selectedTexts } from './filter.ts';
import { LiveMap, type MapEvents, NOTHING_POINTED, type ShownMap } from './live-map.ts';
import type { Tool } from './map-pointer.ts';
import { MapTools } from './map-tools.tsx';
import { SymbolTip, TextTip } from './marked.tsx';
import { walkOf } from './text-data.ts';
import { NOTHING_ASKED, type Texts, useText } from './use-texts.ts';

interface TextMapProps {
  graph: Graph;
  labels: Labels | null;
  texts: Texts;
  /** Whether the words that carry a step of a text can be asked for. */
  explains: boolean;
  /** Whether the network is drawn over the texts. */
  networked: boolean;
  /** Walks over symbols that a panel shows: one, or several. */
  highlighted: Pick<ShownMap, 'walk' | 'paths'>;
  /** A symbol was pressed, by a pointer or a key. */
  onSelect(symbol: number): void;
}

/** Each text as a dot: like texts lie together, under the words of their first symbols. */
export function TextMap(props: TextMapProps) {
  const { graph, texts } = props;
  const panel = usePanel();
  const container = useRef<HTMLDivElement>(null);
  const [tool, setTool] = useState<Tool>('move');
  const [pointed, setPointed] = useState(NOTHING_POINTED);
  const [stepped, setStepped] = useState<number | null>(null);
  const map = useLiveMap(container, useShown(props, { tool, stepped }));
  const onMove = useCamera(map, 'mapat');
  useLayoutEffect(() => {
    map.current!.events = { ...eventsOf(props, panel.change), point: setPointed, move: onMove };
  });
  const keys = keysOf(props, panel, stepped, setStepped);
  const shown = pointed.text ?? stepped;
  const tip = useText(shown);
  return (
    <div class="half text-half">
      <div
        ref={container}
        class={`text-canvas tool-${tool}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing is moved by keys
        tabIndex={0}
        role="application"
        aria-label={spoken(texts)}
        data-texts={texts.data.count}
        data-selected={texts.count}
        data-nodes={graph.nodes.length}
        data-network={props.networked}
        onKeyDown={(event) => onDrawingKey(event, map.current, { onMove, keys })}
        onBlur={() => setStepped(null)}
      />
      <MapTools {...{ tool, setTool, texts }} />
      <Tips {...props} {...{ shown, tip }} symbol={pointed.symbol} map={map.current} />
      <div class="unseen" role="status">
        {stepped !== null && tip ? `Text ${stepped + 1}: ${tip.text.slice(0, 300)}` : ''}
      </div>
    </div>
  );
}

type TipsProps = TextMapProps & {
  map: LiveMap | null;
  /** The text, and the symbol, that is pointed at. */
  shown: number | null;
  symbol: number | null;
  /** Null while it is read. */
  tip: ReturnType<typeof useText>;
};

/** What is told beside the pointer: of a text, else of a symbol. */
function Tips({ graph, texts: { data }, explains, map, shown, symbol, tip }: TipsProps) {
  if (!map) return null;
  const { size } = map;
  const placesOf = (symbols: readonly number[]) =>
    symbols.map((one) => map.placeOf(one)).filter((place) => place !== null);
  if (shown !== null) {
    const walk = walkOf(data, shown);
    const place = toScreen(map.camera, size, [data.places[2 * shown]!, data.places[2 * shown + 1]!]);
    return <TextTip {...{ text: tip, graph, explains, walk, place, size, placesOf }} />;
  }
  const place = symbol === null ? null : map.placeOf(symbol);
  return symbol !== null && place ? <SymbolTip {...{ symbol, graph, place, data, size, placesOf }} /> : null;
}

/** What the map is, for those who do not see it. */
const spoken = ({ data, count }: Texts): string =>
  `Map of ${data.count} texts, ${count} of them selected. Arrow keys move, plus and minus zoom, 0 shows all, n and p step through the selected texts, s and shift s through the symbols, Enter opens one, Escape shows all texts again.`;

/** Keys of the map beside its camera's: they step through texts and symbols. */
function keysOf(
  { graph, texts, onSelect }: TextMapProps,
  { view, change }: PanelProps,
  stepped: number | null,
  onStep: (n: number) => void,
): Keys {
  const step = (by: number) => () => {
    if (texts.count === 0) return;
    const order = selectedTexts(texts.selected, 0, texts.count);
    const place = stepped === null ? (by > 0 ? -1 : 0) : order.indexOf(stepped);
    onStep(order[(place + by + order.length) % order.length]!);
  };
  const symbols = graph.nodes.length;
  const turn = (by: number) => () =>
    onSelect(view.symbol === null ? 0 : (view.symbol + by + symbols) % symbols);
  return {
    ...{ n: step(1), p: step(-1), s: turn(1), S: turn(-1) },
    Escape: () => change(NOTHING_ASKED),
    Enter: () => stepped !== null && change({ point: stepped, panel: 'texts' }),
  };
}

/** Corners of a line that the address can hold. */
const MOST_CORNERS = 100;

/** What pointers do beside pointing and moving. */
const eventsOf = (
  { onSelect }: TextMapProps,
  change: PanelProps['change'],
): Omit<MapEvents, 'point' | 'move'> => ({
  selectSymbol: onSelect,
  selectText: (n) => change(n === null ? { point: null } : { point: n, panel: 'texts' }),
  drawAround: (line) => {
    const step = Math.max(1, Math.ceil(line.length / 2 / MOST_CORNERS));
    const around = line
      .filter((_, at) => (at >> 1) % step === 0)
      .map((value) => Math.max(0, Math.min(1000, Math.round(value))));
    change({ around: around.length > 5 ? around : [], panel: 'texts' });
  },
});

function useShown(props: TextMapProps, own: Pick<ShownMap, 'tool' | 'stepped'>): ShownMap {
  const { graph, texts, labels, networked, highlighted } = props;
  const { view, dark } = usePanel();
  const { data, selected } = texts;
  const links = useMemo(() => strongLinks(graph), [graph.strengths, graph.links]);
  const byLabel = view.colour === 'label' && labels !== null;
  const labelTones = useMemo(
    () =>
      byLabel ? [...data.labels.map((name) => colourOf(labels, name)), labelColour(-1)].map(rgbOf) : null,
    [byLabel, data.labels, labels],
  );
  return {
    ...{ data, nodes: graph.nodes, links, selected, networked, labelTones, dark, ...highlighted, ...own },
    ...{ open: view.point, around: view.around, focus: view.panel === 'symbol' ? view.symbol : null },
  };
}

function useLiveMap(container: RefObject<HTMLElement | null>, shown: ShownMap): RefObject<LiveMap | null> {
  const map = useRef<LiveMap>(null);
  // Before the next event: a lasso that was just chosen is what the next press draws, however late the next frame comes.
  useLayoutEffect(() => {
    const nothing = () => undefined;
    const made = { point: nothing, selectText: nothing, selectSymbol: nothing, drawAround: nothing };
    map.current = new LiveMap(container.current!, made);
    return () => map.current?.destroy();
  }, []);
  useLayoutEffect(() => map.current?.show(shown));
  return map;
}
