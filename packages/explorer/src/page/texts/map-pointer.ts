import { moved, zoomed } from './camera.ts';
import type { MapView } from './map-view.ts';

export type Tool = 'move' | 'lasso' | 'box';
type Place = [x: number, y: number];

export interface PointerEvents {
  tool(): Tool;
  /** The pointer rests over a place; null when it has left. */
  hover(at: Place | null): void;
  /** A press without moving; `reach` is how exact the pointer is, in pixels. */
  tap(at: Place, reach: number): void;
  /** A closed line was drawn around something, in pixels. */
  drawn(line: readonly Place[]): void;
  /** The camera came to another place. */
  move(): void;
}

/** Less is a tap. */
const MOVED = 5;
const WHEEL = 0.0016;
const REACH = { mouse: 10, touch: 24 };

/** What pointers do on the map: moving, two fingers that zoom, and lines around texts. Returns what lets go of it. */
export function followPointers(container: HTMLElement, view: MapView, events: PointerEvents): () => void {
  const pointers = new Map<number, Place>();
  let began: Place | null = null;
  let doing: Tool = 'move';
  let line: Place[] = [];
  const placeOf = (event: MouseEvent): Place => {
    const { left, top } = container.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    container.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, placeOf(event));
    began = pointers.size === 1 ? placeOf(event) : null;
    doing = event.shiftKey && events.tool() === 'move' ? 'box' : events.tool();
    line = [placeOf(event)];
    events.hover(null);
  };
  const move = (event: PointerEvent) => {
    const at = placeOf(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === 'mouse') events.hover(at);
      return;
    }
    pointers.set(event.pointerId, at);
    if (pointers.size > 1) pinch(view, [...pointers.values()], before, at);
    else if (doing === 'move')
      view.camera = moved(view.camera, view.size, [at[0] - before[0], at[1] - before[1]]);
    else {
      line = doing === 'box' ? boxOf(line[0]!, at) : [...line, at];
      view.line = line;
      view.redraw();
    }
    if (pointers.size > 1 || doing === 'move') events.move();
  };
  const up = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    const at = placeOf(event);
    const still = began !== null && Math.hypot(at[0] - began[0], at[1] - began[1]) < MOVED;
    if (event.type === 'pointerup' && still)
      events.tap(at, event.pointerType === 'touch' ? REACH.touch : REACH.mouse);
    else if (event.type === 'pointerup' && doing !== 'move' && began !== null) events.drawn(line);
    view.line = [];
    view.redraw();
    began = null;
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    view.camera = zoomed(view.camera, view.size, Math.exp(-event.deltaY * WHEEL), placeOf(event));
    events.move();
  };
  const listeners: Record<string, (event: never) => void> = {
    ...{ pointerdown: down, pointermove: move, pointerup: up, pointercancel: up, wheel },
    pointerleave: () => events.hover(null),
  };
  for (const [name, act] of Object.entries(listeners))
    container.addEventListener(name, act as EventListener, { passive: false });
  return () => {
    for (const [name, act] of Object.entries(listeners))
      container.removeEventListener(name, act as EventListener);
  };
}

const boxOf = ([ax, ay]: Place, [bx, by]: Place): Place[] => [
  [ax, ay],
  [bx, ay],
  [bx, by],
  [ax, by],
];

/** Zooms by how the distance of two fingers changed, and moves with the one that moved. */
function pinch(view: MapView, places: readonly Place[], before: Place, now: Place): void {
  const other = places.find((place) => place !== now)!;
  const distance = (to: Place) => Math.hypot(to[0] - other[0], to[1] - other[1]) || 1;
  const middle: Place = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
  const half: Place = [(now[0] - before[0]) / 2, (now[1] - before[1]) / 2];
  view.camera = zoomed(
    moved(view.camera, view.size, half),
    view.size,
    distance(now) / distance(before),
    middle,
  );
}
