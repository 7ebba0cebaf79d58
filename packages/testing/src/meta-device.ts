// libtorch's meta device: tensors with a shape and no numbers, on which a tensor made on another device by mistake shows.
import { Tensor, withDevice, zeros } from '@hidden-schema/torch';
import { vi } from 'vitest';

/** Runs `body` with all tensors on the meta device. What is read of them, which nobody can know, are zeros. */
export async function onMeta<T>(body: () => T): Promise<Awaited<T>> {
  const { toArray, item } = Tensor.prototype;
  const spies = [
    vi.spyOn(Tensor.prototype, 'toArray').mockImplementation(function (this: Tensor) {
      if (this.device !== 'meta') return toArray.call(this);
      return toArray.call(zeros(this.shape, { dtype: this.dtype, device: 'cpu' }));
    }),
    vi.spyOn(Tensor.prototype, 'item').mockImplementation(function (this: Tensor) {
      return this.device === 'meta' ? 0 : item.call(this);
    }),
  ];
  try {
    return await withDevice('meta', body);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
