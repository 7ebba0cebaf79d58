import { Tensor } from '@hidden-schema/torch';
import type { LikelySteps } from '../walks.ts';
import type { StepTargets } from './path.ts';

// Shapes: N walks, H steps of a half, T symbols kept of a step.

/** Symbols kept of each step: what is left of a sharp posterior is next to nothing. */
const keptSymbols = 6;

/** q(z_i|z_{i−1}, s, r, o) of the steps of many second halves, the likeliest symbols of each, made to sum to one. */
export class TargetTable {
  readonly #symbols: Int16Array; // [N, H, T]
  readonly #probabilities: Float32Array;
  readonly #half: number;
  readonly #kept: number;

  constructor(walks: number, half: number, symbols: number) {
    this.#half = half;
    this.#kept = Math.min(keptSymbols, symbols);
    this.#symbols = new Int16Array(walks * half * this.#kept);
    this.#probabilities = new Float32Array(this.#symbols.length);
  }

  get kept(): number {
    return this.#kept;
  }

  /** Takes in the steps of a walk. */
  set(place: number, { symbols, probabilities }: LikelySteps): void {
    const at = place * this.#half * this.#kept;
    this.#symbols.set(symbols, at);
    this.#probabilities.set(probabilities, at);
  }

  /** Those of some walks. [B, H, T] */
  of(places: readonly number[]): StepTargets {
    const size = this.#half * this.#kept;
    const symbols = new BigInt64Array(places.length * size);
    const probabilities = new Float32Array(places.length * size);
    for (const [i, place] of places.entries()) {
      for (let j = 0; j < size; j++) symbols[i * size + j] = BigInt(this.#symbols[place * size + j]!);
      probabilities.set(this.#probabilities.subarray(place * size, (place + 1) * size), i * size);
    }
    const shape = [places.length, this.#half, this.#kept];
    return {
      symbols: Tensor.fromArray(symbols, shape),
      probabilities: Tensor.fromArray(probabilities, shape),
    };
  }
}
