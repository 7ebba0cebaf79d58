// libtorch's meta device: tensors with a shape and no numbers, on which a tensor made on another device by mistake shows.
import { arange, Tensor, withDevice } from '@hidden-schema/torch';
import { vi } from 'vitest';

/**
 * Runs `body` with all tensors on the meta device. What is read of them, which nobody can know, are zeros; whole numbers,
 * mostly names of different things, are counted from 0, and a single number is 1.
 */
export async function onMeta<T>(body: () => T): Promise<Awaited<T>> {
  const { toArray, item } = Tensor.prototype;
  const spies = [
    vi.spyOn(Tensor.prototype, 'toArray').mockImplementation(function (this: Tensor) {
      if (this.device !== 'meta') return toArray.call(this);
      const { dtype, size } = this;
      const places = arange(size, { dtype: 'int64', device: 'cpu' });
      return toArray.call(dtype.startsWith('int') ? places.to(dtype) : places.mul(0).to(dtype));
    }),
    vi.spyOn(Tensor.prototype, 'item').mockImplementation(function (this: Tensor) {
      return this.device === 'meta' ? 1 : item.call(this);
    }),
  ];
  try {
    return await withDevice('meta', body);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
