import type { Rgb } from '@hidden-schema/studies/drawing';
import { type MapCamera, narrowness, type Size, scaleOf } from './camera.ts';

/** How the dots of a map look: the colour of each, and which are selected. */
export interface Dots {
  /** [N, 2] */
  places: Float32Array;
  /** Which colour of the palette. [N] */
  colourOf: Uint16Array;
  palette: readonly Rgb[];
  /** [N] */
  selected: Uint8Array;
  ground: Rgb;
}

/** Shares of a dot's pixel that it covers, from the whole to little: its edge is mixed with the ground. */
const COVERED = [1, 0.7, 0.4, 0.2];
/** Of a dot that is not selected. */
const THIN = 0.16;
/** A step through all texts that has no divisor in common with their number, so that no label covers the others. */
const STEP = 7919;

/** A dot as pixels around its middle: where, and which share it covers. */
interface Stamp {
  reach: number;
  offsets: Int32Array;
  shares: Uint8Array;
}

/** Draws dots into the pixels of a picture: a hundred thousand in a few milliseconds, without a graphics card. */
export class DotPainter {
  #size: Size = { width: 0, height: 0 };
  #image: ImageData | undefined;
  #pixels = new Uint32Array(0);
  #dots: Dots | undefined;
  #colours = new Uint32Array(0);

  /** Colours, mixed with the ground once. */
  set(dots: Dots): void {
    this.#dots = dots;
    const shares = [...COVERED, ...COVERED.map((share) => share * THIN)];
    this.#colours = new Uint32Array(dots.palette.length * shares.length);
    dots.palette.forEach((tone, at) => {
      shares.forEach((share, level) => {
        const on = (channel: 0 | 1 | 2) => tone[channel] * share + dots.ground[channel] * (1 - share);
        this.#colours[at * shares.length + level] = packed(on(0), on(1), on(2));
      });
    });
  }

  /** The picture of what a camera sees; `ratio` pixels for each unit of the page. */
  paint(camera: MapCamera, size: Size, ratio: number): ImageData {
    const dots = this.#dots!;
    const image = this.#sized(size);
    const ground = packed(...dots.ground);
    this.#pixels.fill(ground);
    const stamp = stampOf(
      dotRadius(dots.selected.length, camera.zoom, size.width / ratio) * ratio,
      size.width,
    );
    this.#pass(camera, stamp, 0, ground);
    this.#pass(camera, stamp, 1, ground);
    return image;
  }

  #sized({ width, height }: Size): ImageData {
    if (!this.#image || this.#size.width !== width || this.#size.height !== height) {
      this.#image = new ImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
      this.#size = { width, height };
    }
    return this.#image;
  }

  /** All dots that are selected, or all that are not; a dot that touches the edge is left out. */
  #pass(camera: MapCamera, { reach, offsets, shares }: Stamp, wanted: 0 | 1, ground: number): void {
    const { places, colourOf, selected } = this.#dots!;
    const { width, height } = this.#size;
    const [wide, high] = scaleOf(camera, this.#size);
    const [left, top] = [width / 2 - camera.x * wide, height / 2 - camera.y * high];
    const levels = 2 * COVERED.length;
    const first = wanted === 1 ? 0 : COVERED.length;
    const count = selected.length;
    const step = count % STEP === 0 ? 1 : STEP;
    for (let turn = 0, n = 0; turn < count; turn++, n = (n + step) % count) {
      if (selected[n] !== wanted) continue;
      const x = Math.floor(left + places[2 * n]! * wide);
      const y = Math.floor(top + places[2 * n + 1]! * high);
      if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
      const middle = y * width + x;
      const colour = colourOf[n]! * levels + first;
      for (let at = 0; at < offsets.length; at++) {
        const pixel = middle + offsets[at]!;
        const share = shares[at]!;
        if (share === 0 || this.#pixels[pixel] === ground)
          this.#pixels[pixel] = this.#colours[colour + share]!;
      }
    }
  }
}

/** Smaller where there are many or the map is narrow, larger from near. */
export function dotRadius(count: number, zoom: number, width: number): number {
  const whole = Math.max(1, narrowness(width) * Math.min(3.2, 150 / Math.sqrt(count + 1)));
  return Math.min(6, whole * Math.max(1, zoom) ** 0.4);
}

function stampOf(radius: number, width: number): Stamp {
  const reach = Math.ceil(radius + 0.5);
  const offsets: number[] = [];
  const shares: number[] = [];
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const covered = radius + 0.5 - Math.hypot(x, y);
      if (covered <= 0.1) continue;
      offsets.push(y * width + x);
      shares.push(covered >= 0.85 ? 0 : covered >= 0.55 ? 1 : covered >= 0.3 ? 2 : 3);
    }
  }
  return { reach, offsets: Int32Array.from(offsets), shares: Uint8Array.from(shares) };
}

/** As the bytes of a picture lie in memory. */
const packed = (red: number, green: number, blue: number): number =>
  ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
