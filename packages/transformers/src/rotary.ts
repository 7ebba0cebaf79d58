import { cat, type Tensor, tensor } from '@hidden-schema/torch';

// Shapes: T tokens, d width of a head.

/** Rotary positions in the half-split layout: element j of a head turns together with element j + d/2. */
export class RotaryPositions {
  readonly #width: number;
  readonly #theta: number;
  #table: { readonly cos: Tensor; readonly sin: Tensor; readonly length: number } | undefined;

  constructor(width: number, theta: number) {
    this.#width = width;
    this.#theta = theta;
  }

  /** cos and sin of the angles of `length` positions from `start` on. [T, d] each */
  at(start: number, length: number, like: Tensor): { cos: Tensor; sin: Tensor } {
    const end = start + length;
    if (!this.#table || this.#table.length < end) this.#grow(end, like);
    const { cos, sin } = this.#table!;
    return { cos: cos.narrow(0, start, length), sin: sin.narrow(0, start, length) };
  }

  #grow(end: number, like: Tensor): void {
    const length = 2 ** Math.ceil(Math.log2(Math.max(end, 64)));
    const half = this.#width / 2;
    const of = (turn: (angle: number) => number): Tensor => {
      const data = new Float64Array(length * this.#width);
      for (let t = 0; t < length; t++)
        for (let j = 0; j < half; j++) {
          const value = turn(t * this.#theta ** (-j / half));
          data[t * this.#width + j] = value;
          data[t * this.#width + half + j] = value;
        }
      return tensor(data, { shape: [length, this.#width], dtype: like.dtype, device: like.device }).keep();
    };
    this.#table?.cos.free();
    this.#table?.sin.free();
    this.#table = { cos: of(Math.cos), sin: of(Math.sin), length };
  }
}

/** Turns [.., T, d] by the angles of its positions. */
export function rotate(x: Tensor, { cos, sin }: { cos: Tensor; sin: Tensor }): Tensor {
  const [first, second] = x.chunk(2, -1);
  return x.mul(cos).add(cat([second!.neg(), first!], -1).mul(sin));
}

/**
 * The rows of one head of a query or key projection, as bytes, from pairs that lie side by side (2j, 2j + 1) to the
 * half-split layout (j, j + d/2), so that one rotation serves both.
 */
export function splitInHalves(bytes: Uint8Array, rowBytes: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  const width = bytes.length / rowBytes;
  const half = width / 2;
  for (let row = 0; row < width; row++) {
    const from = (2 * (row % half) + Math.floor(row / half)) * rowBytes;
    out.set(bytes.subarray(from, from + rowBytes), row * rowBytes);
  }
  return out;
}
