import type { CanvasView } from '../canvas-view.ts';
import { moved, zoomed } from './camera.ts';

export type Tool = 'move' | 'lasso' | 'box';
type Place = [x: number, y: number];

export interface PointerEvents {
  tool(): Tool;
  /** The pointer rests over a place; null when it has left. */
  hover(at: Place | null): void;
  /** A press without moving; `reach` is how exact the pointer is, in pixels. */
  tap(at: Place, reach: number): void;
  /** A closed line was drawn around something, in pixels. */
  drawn?(line: readonly Place[]): void;
  /** The camera came to another place. */
  move(): void;
}

/** Less is a tap. */
const MOVED = 5;
const WHEEL = 0.0016;
const REACH = { mouse: 10, touch: 24 };

/** What pointers do on a drawing: moving, two fingers that zoom, and lines around texts. Returns what lets go of it. */
export function followPointers(container: HTMLElement, view: CanvasView, events: PointerEvents): () => void {
  const follower = new PointerFollower(container, view, events);
  const listeners: Record<string, (event: never) => void> = {
    pointerdown: (event: PointerEvent) => follower.down(event),
    pointermove: (event: PointerEvent) => follower.move(event),
    pointerup: (event: PointerEvent) => follower.up(event),
    pointercancel: (event: PointerEvent) => follower.up(event),
    pointerleave: () => events.hover(null),
    wheel: (event: WheelEvent) => follower.wheel(event),
  };
  for (const [name, act] of Object.entries(listeners))
    container.addEventListener(name, act as EventListener, { passive: false });
  return () => {
    for (const [name, act] of Object.entries(listeners))
      container.removeEventListener(name, act as EventListener);
  };
}

class PointerFollower {
  readonly #container: HTMLElement;
  readonly #view: CanvasView;
  readonly #events: PointerEvents;
  readonly #pointers = new Map<number, Place>();
  /** Where the only pointer went down. */
  #began: Place | null = null;
  #doing: Tool = 'move';
  #line: Place[] = [];

  constructor(container: HTMLElement, view: CanvasView, events: PointerEvents) {
    this.#container = container;
    this.#view = view;
    this.#events = events;
  }

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const at = this.#placeOf(event);
    this.#container.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, at);
    this.#began = this.#pointers.size === 1 ? at : null;
    const tool = this.#events.tool();
    this.#doing = event.shiftKey && tool === 'move' && this.#events.drawn ? 'box' : tool;
    this.#line = [at];
    this.#events.hover(null);
  }

  move(event: PointerEvent): void {
    const at = this.#placeOf(event);
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === 'mouse') this.#events.hover(at);
      return;
    }
    this.#pointers.set(event.pointerId, at);
    if (this.#pointers.size === 1 && this.#doing !== 'move') this.#draw(at);
    else this.#go(before, at);
  }

  up(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId)) return;
    const at = this.#placeOf(event);
    const began = this.#began;
    const still = began !== null && Math.hypot(at[0] - began[0], at[1] - began[1]) < MOVED;
    const ended = event.type === 'pointerup' && began !== null;
    if (ended && still) this.#events.tap(at, event.pointerType === 'touch' ? REACH.touch : REACH.mouse);
    else if (ended && this.#doing !== 'move') this.#events.drawn?.(this.#line);
    this.#view.line = [];
    this.#view.redraw();
    this.#began = null;
  }

  wheel(event: WheelEvent): void {
    event.preventDefault();
    const { camera, size } = this.#view;
    this.#view.camera = zoomed(camera, size, Math.exp(-event.deltaY * WHEEL), this.#placeOf(event));
    this.#events.move();
  }

  #draw(at: Place): void {
    this.#line = this.#doing === 'box' ? boxOf(this.#line[0]!, at) : [...this.#line, at];
    this.#view.line = this.#line;
    this.#view.redraw();
  }

  #go(before: Place, at: Place): void {
    const view = this.#view;
    if (this.#pointers.size > 1) pinch(view, [...this.#pointers.values()], before, at);
    else view.camera = moved(view.camera, view.size, [at[0] - before[0], at[1] - before[1]]);
    this.#events.move();
  }

  #placeOf(event: MouseEvent): Place {
    const { left, top } = this.#container.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }
}

const boxOf = ([ax, ay]: Place, [bx, by]: Place): Place[] => [
  [ax, ay],
  [bx, ay],
  [bx, by],
  [ax, by],
];

/** Zooms by how the distance of two fingers changed, and moves with the one that moved. */
function pinch(view: CanvasView, places: readonly Place[], before: Place, now: Place): void {
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
