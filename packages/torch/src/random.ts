import { guarded, type Handle, native } from './native.ts';
import { Tensor } from './tensor.ts';

const finalizer = new FinalizationRegistry<Handle>((handle) => native.freeGenerator(handle));

/** One of `count` equal parts of the rows of a batch, when several processes hold it together. */
export interface Share {
  readonly index: number;
  readonly count: number;
}

/**
 * An explicit source of randomness: seeded, saved and restored by hand, never global. It is on the CPU whatever the
 * device of tensors, so that a seed gives the same draws and a checkpoint resumes on every device.
 */
export class Generator {
  readonly handle: Handle;
  #share: Share | undefined;

  constructor(seed: number | bigint) {
    if (typeof seed === 'number' && !Number.isSafeInteger(seed)) {
      throw new RangeError(`a seed is a whole number, got ${seed}`);
    }
    this.handle = guarded('generator', () => native.generator(BigInt.asUintN(64, BigInt(seed))));
    finalizer.register(this, this.handle);
  }

  /** Which rows of a batch draws are for: those of other processes are drawn too, and passed over. */
  get share(): Share | undefined {
    return this.#share;
  }

  /** Draws in `body` are a share of the draws for a whole batch, or, without one, are whole again. */
  sharing<T>(share: Share | undefined, body: () => T): T {
    const before = this.#share;
    this.#share = share;
    try {
      return body();
    } finally {
      this.#share = before;
    }
  }

  /** The whole state as bytes, for checkpoints. */
  state(): Uint8Array {
    const tensor = new Tensor(native.generatorState(this.handle), 'generator state');
    const bytes = new Uint8Array(native.readData(tensor.handle));
    tensor.free();
    return bytes;
  }

  restore(state: Uint8Array): void {
    const tensor = Tensor.fromArray(state, [state.length], undefined, 'cpu');
    try {
      guarded('restore generator', () => native.restoreGenerator(this.handle, tensor.handle));
    } finally {
      tensor.free();
    }
  }
}
