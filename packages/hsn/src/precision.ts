import { autocast, type Tensor } from '@hidden-schema/torch';

/** The numbers that networks multiply in; everything else, and every weight, is float32. */
export type Precision = 'float32' | 'bfloat16';

/** What a network gives, computed in a precision: walks and objective need float32 again. */
export function inPrecision(precision: Precision, network: () => Tensor): Tensor {
  return precision === 'float32' ? network() : autocast(network).to('float32');
}
