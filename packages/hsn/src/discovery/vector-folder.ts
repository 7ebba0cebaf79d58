import path from 'node:path';
import { cacheFolder } from '@hidden-schema/base';

/** The folder of stored vectors within that of caches. */
export const vectorFolder = (cache: string = cacheFolder()): string => path.join(cache, 'vectors');
