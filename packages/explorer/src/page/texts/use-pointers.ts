import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Change } from '../state.ts';
import { scaleOf, toMap, WHOLE } from './camera.ts';
import { followPointers, type Tool } from './map-pointer.ts';
import type { MapView } from './map-view.ts';
import { NearestDot } from './nearest-dot.ts';
import type { Texts } from './use-texts.ts';

/** Milliseconds after which a camera that rests is written into the address. */
const RESTS = 300;
/** Corners of a line that the address can hold. */
const MOST_CORNERS = 100;

interface PointerProps {
  texts: Texts;
  change: Change;
  tool: Tool;
  onPoint(n: number | null): void;
  onPointSymbol(symbol: number | null): void;
  onSelect(symbol: number): void;
}

/** Follows the mouse and fingers on the map: pointing at a text, opening it, drawing a line around some. */
export function usePointers(
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
    const at = (place: [number, number], reach: number) => {
      const [wide, high] = scaleOf(view.camera, view.size);
      const middle = toMap(view.camera, view.size, place);
      return find.current.find(middle, [reach / wide, reach / high], now.current.texts.selected);
    };
    return listen(container.current!, view, { now, at });
  }, []);
}

interface Listening {
  now: RefObject<PointerProps>;
  /** The selected text that is nearest to a place, within a reach in pixels. */
  at(place: [number, number], reach: number): number | null;
}

/** Returns what ends it. */
function listen(container: HTMLElement, view: MapView, { now, at }: Listening): () => void {
  let timer = 0;
  const props = () => now.current!;
  const letGo = followPointers(container, view, {
    tool: () => props().tool,
    hover: (place) => {
      const symbol = place && view.symbolAt(place);
      props().onPointSymbol(symbol);
      props().onPoint(place && symbol === null ? at(place, 10) : null);
    },
    tap: (place, reach) => {
      const symbol = view.symbolAt(place);
      if (symbol !== null) return props().onSelect(symbol);
      const n = at(place, reach);
      props().onPoint(n);
      props().change(n === null ? { point: null } : { point: n, panel: 'texts' });
    },
    drawn: (line) => {
      const step = Math.max(1, Math.ceil(line.length / MOST_CORNERS));
      const corners = line.filter((_, corner) => corner % step === 0);
      const around = corners.flatMap((place) => toMap(view.camera, view.size, place).map(thousandths));
      props().change({ around: around.length > 5 ? around : [], panel: 'texts' });
    },
    move: () => {
      props().onPoint(null);
      props().onPointSymbol(null);
      clearTimeout(timer);
      timer = window.setTimeout(() => remember(view, props().change), RESTS);
    },
  });
  return () => {
    letGo();
    clearTimeout(timer);
  };
}

const thousandths = (value: number): number => Math.max(0, Math.min(1000, Math.round(value * 1000)));

/** Writes the camera into the address. */
export function remember({ camera }: MapView, change: Change): void {
  const { x, y, zoom } = camera;
  const whole = x === WHOLE.x && y === WHOLE.y && zoom === WHOLE.zoom;
  change({ mapat: whole ? null : { x, y, near: zoom } });
}
