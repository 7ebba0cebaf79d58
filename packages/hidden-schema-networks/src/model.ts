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
  type LossTerms as Terms,
  languageConfigSchema,
  languageFigures,
  linkProbabilities,
  loadConfig,
  type ModelSpec,
  type ModelSpec as Kind,
  type NetworkParts,
  type ObjectiveOptions,
  type OpenedLanguage,
  objective,
  openLanguage,
  openReasoner,
  openSyntheticRun,
  openSyntheticRun as openModel,
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
  type SyntheticConfig as Config,
  SyntheticTask,
  syntheticOptions,
  syntheticOptions as configSchema,
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
