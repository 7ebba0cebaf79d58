import { Tensor } from '@hidden-schema/torch';
import { vi } from 'vitest';

/** How often numbers come to JavaScript or the CPU while `body` runs, and how many: off the CPU each ends all work before. */
export function hostReads(body: () => unknown): { reads: number; numbers: number } {
  const counted = { reads: 0, numbers: 0 };
  const count = (numbers: number) => {
    counted.reads++;
    counted.numbers += numbers;
  };
  const { toArray, item, toDevice } = Tensor.prototype;
  const spies = [
    vi.spyOn(Tensor.prototype, 'toArray').mockImplementation(function (this: Tensor) {
      count(this.size);
      return toArray.call(this);
    }),
    vi.spyOn(Tensor.prototype, 'item').mockImplementation(function (this: Tensor) {
      count(1);
      return item.call(this);
    }),
    vi.spyOn(Tensor.prototype, 'toDevice').mockImplementation(function (this: Tensor, device) {
      if (device === 'cpu') count(this.size);
      return toDevice.call(this, device);
    }),
  ];
  try {
    body();
    return counted;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
