/// <reference types="node" preserve="true" />
/**
 * The parts of a Hidden Schema Network, for those who compose another one: data, an encoder and a decoder around the
 * one model; graph, walks, objective, trainer and runs come with it. docs/guides/extend.md in the repository tells how.
 *
 * @module hidden-schema-networks/model
 */

/**
 * @deprecated Names of version 0.2, for one version more: use `SyntheticConfig`, `ModelSpec`, `LossTerms`, `openSyntheticRun`
 * and `syntheticOptions`.
 */
export {
  type LossTerms as Terms,
  type ModelSpec as Kind,
  openSyntheticRun as openModel,
  type SyntheticConfig as Config,
  syntheticOptions as configSchema,
} from '@hidden-schema/hsn';
