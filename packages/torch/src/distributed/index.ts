export type { Terms } from './agreement.ts';
export { collectiveBackends, Group, type GroupOptions } from './group.ts';
export { type Place, placeOf } from './place.ts';
export { freePort } from './port.ts';
