/// <reference types="node" preserve="true" />
/**
 * The parts of a Hidden Schema Network, for those who compose another one: data, an encoder and a decoder around the
 * one model; graph, walks, objective, trainer and runs come with it. docs/guides/extend.md in the repository tells how.
 *
 * @module hidden-schema-networks/model
 */

// Names of version 0.2, for one version more.
/** @deprecated Use `LossTerms`. */
export type { LossTerms as Terms } from '@hidden-schema/hsn';
/** @deprecated Use `ModelSpec`. */
export type { ModelSpec as Kind } from '@hidden-schema/hsn';
/** @deprecated Use `SyntheticConfig`. */
export type { SyntheticConfig as Config } from '@hidden-schema/hsn';
/** @deprecated Use `openSyntheticRun`. */
export { openSyntheticRun as openModel } from '@hidden-schema/hsn';
/** @deprecated Use `syntheticOptions`. */
export { syntheticOptions as configSchema } from '@hidden-schema/hsn';
