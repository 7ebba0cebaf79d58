import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { CanvasView } from '../canvas-view.ts';
import { usePanel } from '../panels/panel.ts';
import type { ViewState } from '../state.ts';
import { type MapCamera, moved, WHOLE, zoomed } from '../texts/camera.ts';

/** Where the address holds a camera. `mapat` says how many times nearer it is, `graphat` how large a part it sees. */
export type CameraField = 'mapat' | 'graphat';

/** Milliseconds after which a camera that rests is written into the address. */
const RESTS = 300;

const nearOf = (field: CameraField, value: number): number => (field === 'mapat' ? value : 1 / value);

/** Follows the camera of the address, and returns what writes another into it once it rests. */
export function useCamera(
  view: { current: CanvasView | null },
  field: CameraField,
): (camera: MapCamera) => void {
  const { view: state, change } = usePanel();
  const timer = useRef(0);
  const at = state[field];
  const { x, y, zoom } = at ? { ...at, zoom: nearOf(field, at.near) } : WHOLE;
  useLayoutEffect(() => {
    if (view.current) view.current.camera = { x, y, zoom };
  }, [x, y, zoom]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (camera) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => change({ [field]: placeOf(camera, field) }), RESTS);
  };
}

function placeOf({ x, y, zoom }: MapCamera, field: CameraField): ViewState['mapat'] {
  const whole = x === WHOLE.x && y === WHOLE.y && zoom === WHOLE.zoom;
  return whole ? null : { x, y, near: nearOf(field, zoom) };
}

export type Keys = Readonly<Record<string, () => void>>;

/** Pixels of an arrow key, and the factor of plus and minus. */
const PAN = 60;
const ZOOM = 1.25;

/** What a key does on a drawing: the camera's keys, and its own. `onMove` is called with a camera that a key changed. */
export function onDrawingKey(
  event: KeyboardEvent,
  view: CanvasView | null,
  { onMove, keys }: { onMove(camera: MapCamera): void; keys: Keys },
): void {
  if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
  const go = (camera: MapCamera) => () => {
    view.camera = camera;
    onMove(camera);
  };
  const { camera, size } = view;
  const pan = (dx: number, dy: number) => go(moved(camera, size, [dx * PAN, dy * PAN]));
  const all: Keys = {
    ...{ ArrowLeft: pan(1, 0), ArrowRight: pan(-1, 0), ArrowUp: pan(0, 1), ArrowDown: pan(0, -1) },
    ...{ '+': go(zoomed(camera, size, ZOOM)), '=': go(zoomed(camera, size, ZOOM)) },
    ...{ '-': go(zoomed(camera, size, 1 / ZOOM)), '0': go(WHOLE) },
    ...keys,
  };
  const act = all[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
