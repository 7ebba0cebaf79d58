/**
 * The explorer's map and network as components of other pages. They need no framework, and draw into an element that has
 * a size.
 *
 * @module @hidden-schema/explorer/components
 */

export { mapPropsOf, networkPropsOf } from './from-api.ts';
export { SchemaMap, type SchemaMapProps } from './schema-map.ts';
export { SchemaNetwork, type SchemaNetworkProps } from './schema-network.ts';
export type { Theme, ThemeLink } from './themes.ts';
