// libtorch's meta device: tensors with a shape and no numbers, on which a tensor made on another device by mistake shows.
import { arange, exchangeDevice, Tensor } from '@hidden-schema/torch';
import { native } from '@hidden-schema/torch/native';
import { vi } from 'vitest';

/**
 * Makes tensors on a device while `body` runs, until its promise is settled where it gives one. Once it was the meta
 * device, operators refuse tensors of two devices.
 */
export function withDevice<T>(device: string, body: () => T): T {
  if (device === 'meta') native.completeMeta();
  const before = exchangeDevice(device);
  const restore = () => void exchangeDevice(before);
  try {
    const result = body();
    if (!(result instanceof Promise)) restore();
    return result instanceof Promise ? (result.finally(restore) as T) : result;
  } catch (error) {
    restore();
    throw error;
  }
}

/** Numbers in place of those that a tensor on the meta device does not have: int32, mostly names, are all different. */
function standIn({ dtype, shape, size }: Tensor): Tensor {
  const places = arange(size, { dtype: 'int64', device: 'cpu' }).reshape(...shape);
  return (dtype === 'int32' ? places : places.mul(0).add(dtype === 'int64' ? 0 : 1)).to(dtype);
}

/** Runs `body` with all tensors on the meta device. What is read of them, which nobody can know, is made up. */
export async function onMeta<T>(body: () => T): Promise<Awaited<T>> {
  const { toArray, item, toDevice } = Tensor.prototype;
  const spies = [
    vi.spyOn(Tensor.prototype, 'toArray').mockImplementation(function (this: Tensor) {
      return toArray.call(this.device === 'meta' ? standIn(this) : this);
    }),
    vi.spyOn(Tensor.prototype, 'item').mockImplementation(function (this: Tensor) {
      return item.call(this.device === 'meta' ? standIn(this) : this);
    }),
    vi.spyOn(Tensor.prototype, 'toDevice').mockImplementation(function (this: Tensor, device) {
      return device === 'cpu' && this.device === 'meta' ? standIn(this) : toDevice.call(this, device);
    }),
  ];
  try {
    return await withDevice('meta', body);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
