import { css, type Rgb, rgbOf, symbolTones } from '@hidden-schema/studies/drawing';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Client, Graph, Labels } from '../client.ts';
import { groundOf } from '../graph/colours.ts';
import { colourOf } from '../graph/label-maps.ts';
import { LINKS_OF_EACH, strongLinks } from '../graph/strongest.ts';
import { inksOf } from '../inks.ts';
import type { Change, ViewState } from '../state.ts';
import { toScreen, WHOLE } from './camera.ts';
import type { Dots } from './dots.ts';
import { onMapKey, showAll } from './map-keys.ts';
import { mapLabels } from './map-labels.ts';
import type { Tool } from './map-pointer.ts';
import { MapTools } from './map-tools.tsx';
import { type MapScene, MapView } from './map-view.ts';
import type { TextData } from './text-data.ts';
import { SymbolTip, TextTip } from './text-tip.tsx';
import { usePointers } from './use-pointers.ts';
import { type Texts, useText } from './use-texts.ts';

export interface TextMapProps {
  client: Client;
  graph: Graph;
  labels: Labels | null;
  texts: Texts;
  view: ViewState;
  change: Change;
  dark: boolean;
  /** Whether the words that carry a step of a text can be asked for. */
  explains: boolean;
  /** Whether the network is drawn over the texts. */
  networked: boolean;
  /** Walks over symbols that a panel shows: one, or several. */
  highlighted: { walk: readonly number[] | null; paths: readonly (readonly number[])[] | null };
  /** A symbol was pressed, by a pointer or a key. */
  onSelect(symbol: number): void;
}

/** Each text as a dot: like texts lie together, under the words of their first symbols. */
export function TextMap(props: TextMapProps) {
  const { client, graph, texts, change } = props;
  const container = useRef<HTMLDivElement>(null);
  const [tool, setTool] = useState<Tool>('move');
  const [pointed, setPointed] = useState<number | null>(null);
  const [stepped, setStepped] = useState<number | null>(null);
  const [symbol, setSymbol] = useState<number | null>(null);
  const shown = pointed ?? stepped;
  const map = useMapView(container, props, useScene(props, shown, symbol));
  usePointers(container, map, {
    ...{ texts, change, tool, onPoint: setPointed, onPointSymbol: setSymbol, onSelect: props.onSelect },
  });
  const onKeyDown = (event: KeyboardEvent) => onKey(event, props, { map: map.current, stepped, setStepped });
  const tip = useText(client, shown);
  const reset = () => map.current && showAll(map.current, change);
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
        onKeyDown={onKeyDown}
        onBlur={() => setStepped(null)}
      />
      <MapTools {...{ tool, setTool, texts, change }} onReset={reset} />
      <Tips {...props} {...{ shown, symbol, tip }} map={map.current} />
      <div class="unseen" role="status">
        {stepped !== null && tip ? `Text ${stepped + 1}: ${tip.text.slice(0, 300)}` : ''}
      </div>
    </div>
  );
}

type TipsProps = TextMapProps & {
  map: MapView | null;
  /** The text, and the symbol, that is pointed at. */
  shown: number | null;
  symbol: number | null;
  /** Null while it is read. */
  tip: ReturnType<typeof useText>;
};

/** What is told beside the pointer: of a text, else of a symbol. */
function Tips({ client, graph, texts, explains, map, shown, symbol, tip }: TipsProps) {
  if (map && shown !== null)
    return (
      <TextTip
        {...{ client, text: tip, graph, explains, walk: walkOf(texts.data, shown) }}
        {...placeOf(map, texts.data, shown)}
      />
    );
  const place = symbol === null ? null : map?.placeOf(symbol);
  return map && symbol !== null && place ? (
    <SymbolTip {...{ symbol, graph, place, data: texts.data, size: map.size }} />
  ) : null;
}

/** What the map is, for those who do not see it. */
const spoken = ({ data, count }: Texts): string =>
  `Map of ${data.count} texts, ${count} of them selected. Arrow keys move, plus and minus zoom, 0 shows all, n and p step through the selected texts, s and shift s through the symbols, Enter opens one, Escape shows all texts again.`;

interface Stepping {
  map: MapView | null;
  stepped: number | null;
  setStepped(n: number): void;
}

function onKey(event: KeyboardEvent, props: TextMapProps, { map, stepped, setStepped }: Stepping): void {
  const { graph, texts, view, change, onSelect } = props;
  onMapKey(event, {
    ...{ map, texts, change, at: stepped, onStep: setStepped },
    onOpen: (n) => change({ point: n, panel: 'texts' }),
    symbols: { of: graph.nodes.length, at: view.symbol, onSelect },
  });
}

/** Where a text is on the screen. */
const placeOf = ({ camera, size }: MapView, { places }: TextData, n: number) => ({
  place: toScreen(camera, size, [places[2 * n]!, places[2 * n + 1]!]),
  size,
});

const walkOf = ({ walks, length }: TextData, n: number): number[] =>
  Array.from(walks.subarray(n * length, (n + 1) * length));

/** Of a text without a label. */
const NO_LABEL: Rgb = [133, 144, 160];

/** By label where symbols are coloured so, else by first symbol. */
function useDots({ graph, labels, texts, view, dark }: TextMapProps): Dots {
  const { data, selected } = texts;
  const byLabel = view.colour === 'label' && labels !== null;
  const colours = useMemo(() => {
    const palette = byLabel
      ? [...data.labels.map((label) => rgbOf(colourOf(labels!, label))), NO_LABEL]
      : symbolTones(graph.nodes.map(({ community }) => community));
    const none = palette.length - 1;
    const tones = Uint16Array.from({ length: data.count }, (_, n) =>
      byLabel ? (data.labelOf[n]! < 0 ? none : data.labelOf[n]!) : data.walks[n * data.length]!,
    );
    return { palette, colourOf: tones };
  }, [data, byLabel, labels, graph.layout]);
  return useMemo(
    () => ({ ...colours, places: data.places, selected, ground: groundOf(dark) }),
    [colours, data, selected, dark],
  );
}

/** What is drawn over the dots; `pointed` is the text under the pointer or the keys. */
function useScene(props: TextMapProps, pointed: number | null, hovered: number | null): MapScene {
  const { graph, texts, view, dark, networked, highlighted } = props;
  const labels = useMemo(() => mapLabels(texts.data, texts.selected, graph.nodes), [texts, graph.nodes]);
  const links = useMemo(() => strongLinks(graph, LINKS_OF_EACH), [graph.strengths, graph.links]);
  const tones = useMemo(() => symbolTones(graph.nodes.map(({ community }) => community)), [graph.nodes]);
  const { ink, accent, faint } = inksOf(dark);
  // In the colours of labels a symbol has none of its own.
  const colourOf = (symbol: number) =>
    view.colour === 'label' ? faint : css(tones[symbol] ?? [128, 128, 128]);
  const focus = hovered ?? (view.panel === 'symbol' ? view.symbol : null);
  const text = pointed ?? view.point;
  const walk =
    text === null || text >= texts.data.count ? (highlighted.walk ?? []) : walkOf(texts.data, text);
  return {
    ...{ labels, ink, accent, around: view.around, chosen: view.point, pointed },
    network: networked ? { links, colourOf, focus } : null,
    walk: [...new Set(walk)],
    paths: text === null && highlighted.walk === null ? (highlighted.paths ?? []) : [],
    halo: `rgba(${groundOf(dark).join(',')},0.85)`,
  };
}

function useMapView(
  container: RefObject<HTMLElement | null>,
  props: TextMapProps,
  scene: MapScene,
): RefObject<MapView | null> {
  const dots = useDots(props);
  const map = useRef<MapView>(null);
  useEffect(() => {
    map.current = new MapView(container.current!);
    return () => map.current?.destroy();
  }, []);
  const { labels, chosen, pointed, around, ink, network, walk, paths } = scene;
  useEffect(
    () => map.current?.draw(dots, scene),
    [
      ...[dots, labels, chosen, pointed, around, ink, network?.links, network?.focus, props.view.colour],
      ...[walk.join(), paths.join(';')],
    ],
  );
  const { mapat } = props.view;
  const place = mapat ? { x: mapat.x, y: mapat.y, zoom: mapat.near } : WHOLE;
  useEffect(() => {
    if (map.current) map.current.camera = place;
  }, [place.x, place.y, place.zoom]);
  return map;
}
