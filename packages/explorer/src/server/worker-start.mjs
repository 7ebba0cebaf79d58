// A process that is started plainly does not know TypeScript, so it learns it here.
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
