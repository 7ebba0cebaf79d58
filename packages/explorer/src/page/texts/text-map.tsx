import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Client, Graph, Labels } from '../client.ts';
import { groundOf, type Rgb, rgbOf, symbolTones } from '../graph/colours.ts';
import { colourOf } from '../graph/label-maps.ts';
import { inksOf } from '../inks.ts';
import type { Change, ViewState } from '../state.ts';
import { moved, scaleOf, toMap, toScreen, WHOLE, zoomed } from './camera.ts';
import type { Dots } from './dots.ts';
import { litTexts } from './filter.ts';
import { mapLabels } from './map-labels.ts';
import { followPointers, type Tool } from './map-pointer.ts';
import { MapTools } from './map-tools.tsx';
import { type MapScene, MapView } from './map-view.ts';
import { NearestDot } from './nearest-dot.ts';
import type { TextData } from './text-data.ts';
import { TextTip } from './text-tip.tsx';
import { NOTHING_ASKED, type Texts, useText } from './use-texts.ts';

export interface TextMapProps {
  client: Client;
  graph: Graph;
  labels: Labels | null;
  texts: Texts;
  view: ViewState;
  change: Change;
  dark: boolean;
}

/** Each text as a dot: like texts lie together, under the words of their first symbols. */
export function TextMap(props: TextMapProps) {
  const { client, graph, texts, view, change, dark } = props;
  const container = useRef<HTMLDivElement>(null);
  const [tool, setTool] = useState<Tool>('move');
  const [pointed, setPointed] = useState<number | null>(null);
  const [stepped, setStepped] = useState<number | null>(null);
  const dots = useDots(props);
  const labels = useMemo(() => mapLabels(texts.data, texts.lit, graph.nodes), [texts, graph.nodes]);
  const { ink, accent } = inksOf(dark);
  const scene: MapScene = {
    ...{ labels, ink, accent, around: view.around, chosen: view.point, pointed: pointed ?? stepped },
    halo: `rgba(${groundOf(dark).join(',')},0.85)`,
  };
  const map = useMapView(container, { dots, scene, view, change });
  usePointers(container, map, { ...props, tool, onPoint: setPointed });
  const open = (n: number) => change({ point: n, panel: 'texts' });
  const onKeyDown = (event: KeyboardEvent) =>
    onMapKey(event, { map: map.current, texts, at: stepped, onStep: setStepped, onOpen: open, change });
  const shown = pointed ?? stepped;
  const tip = useText(client, shown);
  return (
    <div class="half text-half">
      <div
        ref={container}
        class={`text-canvas tool-${tool}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing is moved by keys
        tabIndex={0}
        role="application"
        aria-label={`Map of ${texts.data.count} texts, ${texts.count} of them lit. Arrow keys move, plus and minus zoom, 0 shows all, n and p step through the lit texts, Enter opens one, Escape shows all texts again.`}
        data-texts={texts.data.count}
        data-lit={texts.count}
        onKeyDown={onKeyDown}
        onBlur={() => setStepped(null)}
      />
      <MapTools
        {...{ tool, setTool, texts, change }}
        onReset={() => map.current && show(map.current, change)}
      />
      {shown !== null && map.current ? (
        <TextTip
          text={tip}
          place={placeOf(map.current, texts.data, shown)}
          size={map.current.size}
          graph={graph}
        />
      ) : null}
      <div class="unseen" role="status">
        {stepped !== null && tip ? `Text ${stepped + 1}: ${tip.text.slice(0, 300)}` : ''}
      </div>
    </div>
  );
}

const placeOf = (map: MapView, { places }: TextData, n: number) =>
  toScreen(map.camera, map.size, [places[2 * n]!, places[2 * n + 1]!]);

/** All of the map. */
function show(map: MapView, change: Change): void {
  map.camera = WHOLE;
  change({ mapat: null });
}

const NO_LABEL: Rgb = [133, 144, 160];

/** By label where symbols are coloured so, else by first symbol. */
function useDots({ graph, labels, texts, view, dark }: TextMapProps): Dots {
  const { data, lit } = texts;
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
    () => ({ ...colours, places: data.places, lit, ground: groundOf(dark) }),
    [colours, data, lit, dark],
  );
}

interface Drawn {
  dots: Dots;
  scene: MapScene;
  view: ViewState;
  change: Change;
}

function useMapView(
  container: RefObject<HTMLElement | null>,
  { dots, scene, view }: Drawn,
): RefObject<MapView | null> {
  const map = useRef<MapView>(null);
  useEffect(() => {
    map.current = new MapView(container.current!);
    return () => map.current?.destroy();
  }, []);
  const { labels, chosen, pointed, around, ink } = scene;
  useEffect(() => map.current?.draw(dots, scene), [dots, labels, chosen, pointed, around, ink]);
  const { mapat } = view;
  const place = mapat ? { x: mapat.x, y: mapat.y, zoom: mapat.near } : WHOLE;
  useEffect(() => {
    if (map.current) map.current.camera = place;
  }, [place.x, place.y, place.zoom]);
  return map;
}

/** Milliseconds after which a camera that rests is written into the address. */
const RESTS = 300;
/** Corners of a line that the address can hold. */
const MOST_CORNERS = 100;

type PointerProps = TextMapProps & { tool: Tool; onPoint(n: number | null): void };

function usePointers(
  container: RefObject<HTMLElement | null>,
  map: RefObject<MapView | null>,
  props: PointerProps,
): void {
  // Listeners stay; what they act on is that of the last drawing.
  const now = useRef(props);
  now.current = props;
  const nearest = useMemo(() => new NearestDot(props.texts.data.places), [props.texts.data]);
  const find = useRef(nearest);
  find.current = nearest;
  useEffect(() => {
    const view = map.current!;
    let timer = 0;
    const at = (place: [number, number], reach: number) => {
      const [wide, high] = scaleOf(view.camera, view.size);
      const middle = toMap(view.camera, view.size, place);
      return find.current.find(middle, [reach / wide, reach / high], now.current.texts.lit);
    };
    const letGo = followPointers(container.current!, view, {
      tool: () => now.current.tool,
      hover: (place) => now.current.onPoint(place ? at(place, 10) : null),
      tap: (place, reach) => {
        const n = at(place, reach);
        now.current.onPoint(n);
        now.current.change(n === null ? { point: null } : { point: n, panel: 'texts' });
      },
      drawn: (line) => {
        const step = Math.max(1, Math.ceil(line.length / MOST_CORNERS));
        const corners = line.filter((_, corner) => corner % step === 0);
        const around = corners.flatMap((place) => toMap(view.camera, view.size, place).map(thousandths));
        now.current.change({ around: around.length > 5 ? around : [], panel: 'texts' });
      },
      move: () => {
        now.current.onPoint(null);
        clearTimeout(timer);
        timer = window.setTimeout(() => remember(view, now.current.change), RESTS);
      },
    });
    return () => {
      letGo();
      clearTimeout(timer);
    };
  }, []);
}

const thousandths = (value: number): number => Math.max(0, Math.min(1000, Math.round(value * 1000)));

function remember({ camera }: MapView, change: Change): void {
  const { x, y, zoom } = camera;
  const whole = x === WHOLE.x && y === WHOLE.y && zoom === WHOLE.zoom;
  change({ mapat: whole ? null : { x, y, near: zoom } });
}

interface KeyTarget {
  map: MapView | null;
  texts: Texts;
  /** The text that the keys are on. */
  at: number | null;
  onStep(n: number): void;
  onOpen(n: number): void;
  change: Change;
}

const PAN = 60;

/** What a key does on the map. */
function onMapKey(event: KeyboardEvent, { map, texts, at, onStep, onOpen, change }: KeyTarget): void {
  if (!map || event.ctrlKey || event.metaKey || event.altKey) return;
  const go = (camera: typeof map.camera) => {
    map.camera = camera;
    remember(map, change);
  };
  const pan = (dx: number, dy: number) => () => go(moved(map.camera, map.size, [dx * PAN, dy * PAN]));
  const step = (by: number) => () => {
    if (texts.count === 0) return;
    const order = litTexts(texts.lit, 0, texts.count);
    const place = at === null ? (by > 0 ? -1 : 0) : order.indexOf(at);
    onStep(order[(place + by + order.length) % order.length]!);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ...{ ArrowLeft: pan(1, 0), ArrowRight: pan(-1, 0), ArrowUp: pan(0, 1), ArrowDown: pan(0, -1) },
    ...{ n: step(1), p: step(-1), '0': () => show(map, change), Escape: () => change(NOTHING_ASKED) },
    '+': () => go(zoomed(map.camera, map.size, 1.33)),
    '=': () => go(zoomed(map.camera, map.size, 1.33)),
    '-': () => go(zoomed(map.camera, map.size, 0.75)),
    Enter: () => {
      if (at !== null) onOpen(at);
    },
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
