/** Where the map is looked at from: what lies in the middle, and how many times nearer than the whole. */
export interface MapCamera {
  x: number;
  y: number;
  zoom: number;
}

export const WHOLE: MapCamera = { x: 0.5, y: 0.5, zoom: 1 };
const MOST_ZOOM = 200;
/** Of the shorter side, left free around the whole. */
const MARGIN = 0.06;

export interface Size {
  width: number;
  height: number;
}

/** Pixels of the unit square's side. */
export const scaleOf = ({ zoom }: MapCamera, { width, height }: Size): number =>
  zoom * Math.min(width, height) * (1 - 2 * MARGIN);

export function toScreen(camera: MapCamera, size: Size, [x, y]: readonly [number, number]): [number, number] {
  const scale = scaleOf(camera, size);
  return [size.width / 2 + (x - camera.x) * scale, size.height / 2 + (y - camera.y) * scale];
}

export function toMap(camera: MapCamera, size: Size, [x, y]: readonly [number, number]): [number, number] {
  const scale = scaleOf(camera, size);
  return [camera.x + (x - size.width / 2) / scale, camera.y + (y - size.height / 2) / scale];
}

const within = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** By pixels. */
export function moved(camera: MapCamera, size: Size, [dx, dy]: readonly [number, number]): MapCamera {
  const scale = scaleOf(camera, size);
  return { ...camera, x: within(camera.x - dx / scale, 0, 1), y: within(camera.y - dy / scale, 0, 1) };
}

/** Nearer by a factor; what lies under a pixel stays there. */
export function zoomed(
  camera: MapCamera,
  size: Size,
  factor: number,
  at: readonly [number, number] = [size.width / 2, size.height / 2],
): MapCamera {
  const zoom = within(camera.zoom * factor, 0.5, MOST_ZOOM);
  const [x, y] = toMap(camera, size, at);
  const share = camera.zoom / zoom;
  return { zoom, x: within(x + (camera.x - x) * share, 0, 1), y: within(y + (camera.y - y) * share, 0, 1) };
}
