/** Where the map is looked at from: what lies in the middle, and how many times nearer than the whole. */
export interface MapCamera {
  x: number;
  y: number;
  zoom: number;
}

export const WHOLE: MapCamera = { x: 0.5, y: 0.5, zoom: 1 };
const MOST_ZOOM = 200;
/** Of the width and the height, left free on either side of the whole; buttons lie above and below. */
const MARGIN = { width: 0.05, height: 0.075 };
/** A map has no measure of its own, and fills the page's longer side up to so many times the shorter. */
const STRETCH = 1.5;

export interface Size {
  width: number;
  height: number;
}
/** Width of a drawing, in pixels, on which symbols and dots have their full size. */
const FULL_WIDTH = 800;
/** Their share of it on a narrower one, such as a phone's. */
export const narrowness = (width: number): number => Math.min(1, Math.sqrt(width / FULL_WIDTH));

type Pair = readonly [x: number, y: number];

/** Pixels of the unit square's sides. */
export function scaleOf({ zoom }: MapCamera, { width, height }: Size): [x: number, y: number] {
  const longest = STRETCH * Math.min(width, height);
  const of = (side: number, margin: number) => zoom * Math.min(side, longest) * (1 - 2 * margin);
  return [of(width, MARGIN.width), of(height, MARGIN.height)];
}

export function toScreen(camera: MapCamera, size: Size, [x, y]: Pair): [number, number] {
  const [wide, high] = scaleOf(camera, size);
  return [size.width / 2 + (x - camera.x) * wide, size.height / 2 + (y - camera.y) * high];
}

export function toMap(camera: MapCamera, size: Size, [x, y]: Pair): [number, number] {
  const [wide, high] = scaleOf(camera, size);
  return [camera.x + (x - size.width / 2) / wide, camera.y + (y - size.height / 2) / high];
}

const within = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** By pixels. */
export function moved(camera: MapCamera, size: Size, [dx, dy]: Pair): MapCamera {
  const [wide, high] = scaleOf(camera, size);
  return { ...camera, x: within(camera.x - dx / wide, 0, 1), y: within(camera.y - dy / high, 0, 1) };
}

/** Nearer by a factor; what lies under a pixel stays there. */
export function zoomed(
  camera: MapCamera,
  size: Size,
  factor: number,
  at: Pair = [size.width / 2, size.height / 2],
): MapCamera {
  const zoom = within(camera.zoom * factor, 0.5, MOST_ZOOM);
  const [x, y] = toMap(camera, size, at);
  const share = camera.zoom / zoom;
  return { zoom, x: within(x + (camera.x - x) * share, 0, 1), y: within(y + (camera.y - y) * share, 0, 1) };
}
