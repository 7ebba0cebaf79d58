/// <reference types="node" preserve="true" />
/**
 * The web explorer over runs, as `hsn serve` starts it.
 *
 * @example
 * import { startExplorer } from 'hidden-schema-networks/explorer';
 *
 * const explorer = await startExplorer({ run: 'run' });
 * console.log(explorer.url);
 * await explorer.close();
 *
 * @module hidden-schema-networks/explorer
 */

export { type Explorer, type ExplorerOptions, startExplorer } from '@hidden-schema/explorer';
export type { Answer, EndpointName } from '@hidden-schema/explorer/api';
