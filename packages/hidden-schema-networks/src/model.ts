/// <reference types="node" preserve="true" />
/**
 * The parts of a Hidden Schema Network, for those who compose another one: data, an encoder and a decoder around the
 * one model; graph, walks, objective, trainer and runs come with it. docs/guides/extend.md in the repository tells how.
 *
 * @module hidden-schema-networks/model
 */

export {
  BagDecoder,
  ClosedFormPosterior,
  createLanguageRun,
  type Decoder,
  type Encoder,
  evaluateSynthetic,
  FreeLogits,
  HiddenSchemaNetwork,
  type LanguageConfig,
  type LanguageNetwork,
  LanguageTask,
  LanguageTexts,
  type Likelihood,
  type Loss,
  type LossTerms,
  languageConfigSchema,
  languageFigures,
  linkProbabilities,
  loadConfig,
  type ModelSpec,
  type NetworkParts,
  type ObjectiveOptions,
  type OpenedLanguage,
  objective,
  openLanguage,
  openReasoner,
  openSyntheticRun,
  type Preparation,
  type PreparedLanguage,
  prepareLanguage,
  Reasoner,
  Run,
  readSyntheticCorpus,
  type Schema as DecodedSchema,
  Session,
  type SessionOptions,
  type SessionResult,
  type SyntheticConfig,
  SyntheticTask,
  syntheticOptions,
  type Task,
  type TaskTrainer,
  Trainer,
  type Training,
  WalkableGraph,
  WalkDistribution,
  WalkEncoder,
  type WalkPosterior,
  writeSyntheticCorpus,
} from '@hidden-schema/hsn';
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
export { loadTokenizer, type Tokenizer, trainByteBpe } from '@hidden-schema/text';
export {
  addLora,
  type DecoderKind,
  findPretrained,
  Gpt2Decoder,
  generate,
  generateSync,
  LanguageDecoder,
  LlamaDecoder,
  LstmText,
  loraTensors,
  mergeLora,
  openDecoder,
  openPretrainedEncoder,
  RecurrentDecoder,
  type SamplingOptions,
  SymbolAttention,
  type TextEncoder,
  TransformerText,
  writeModelFolder,
} from '@hidden-schema/transformers';
export { llama2cFolder } from '@hidden-schema/transformers/llama2c';
