import type { DrawnLink, Scene } from './scene.ts';

/** Where a graph is looked at from. */
export interface CameraPlace {
  x: number;
  y: number;
  ratio: number;
  angle: number;
}

export interface ViewEvents {
  hover(symbol: number | null): void;
  select(symbol: number | null): void;
  /** The graph was moved or zoomed. */
  move?(place: CameraPlace): void;
}

/** Something that draws a scene into an element: by WebGL, or plainly where there is none. */
export interface GraphView {
  readonly kind: 'webgl' | 'plain';
  draw(scene: Scene, links: readonly DrawnLink[]): void;
  flyTo(symbol: number): void;
  /** Shows these symbols all at once. */
  fit(symbols: readonly number[]): void;
  /** Below 1 comes nearer. */
  zoom(factor: number): void;
  /** In parts of the window. */
  pan(dx: number, dy: number): void;
  reset(): void;
  /** Takes the place of another view, so that two move together. */
  follow?(place: CameraPlace): void;
  destroy(): void;
}

export function webglAvailable(): boolean {
  const context = document.createElement('canvas').getContext('webgl2');
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return context !== null;
}

export interface Box {
  x: number;
  y: number;
  size: number;
}

/** The middle and the larger side of what holds all places. */
export function around(places: readonly { x: number; y: number }[]): Box {
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return { x: (left + right) / 2, y: (top + bottom) / 2, size: Math.max(right - left, bottom - top) };
}
