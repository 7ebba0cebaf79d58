// A worker of Node 20 does not take TypeScript hooks over from its parent, so it registers them itself.
import { register } from 'tsx/esm/api';

register();
await import('./parquet-worker.ts');
