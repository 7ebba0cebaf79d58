export { NumberArray } from './numpy.ts';
export { type Pickled, readPickle } from './read.ts';
