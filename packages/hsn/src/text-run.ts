import { paperModule } from '@hidden-schema/base/paper-module';
import type { nn } from '@hidden-schema/torch';
import type { LanguageConfig } from './config/language.ts';
import { isRival, type RivalConfig, rivalNames } from './config/rivals.ts';
import { languageConfig, type RunConfig } from './config/settings.ts';
import type { Run } from './run/run.ts';
import { type PreparedLanguage, prepareLanguage } from './tasks/language/prepare.ts';
import type { PreparedTexts, PrepareOptions, TextInput } from './tasks/language/prepare-texts.ts';
import { type LanguageFigures, LanguageTask } from './tasks/language/task.ts';
import { createLanguageRun } from './tasks/language/text-record.ts';
import type { Replicas } from './train/replicas.ts';
import type { Task } from './train/task.ts';

/** The settings of a model of texts: a Hidden Schema Network, or one it is compared with. */
export type TextRunConfig = LanguageConfig | RivalConfig;

/** What `hsn eval` reports of a rival: the measures of a Hidden Schema Network that do not need a graph. */
export interface RivalFigures {
  sentences: number;
  /** exp of −log p(x) per token by importance weighting, and its standard error. */
  perplexity: number;
  perplexity_error: number;
  /** exp of reconstruction and divergence per token: the bound that no draws improve. */
  perplexity_bound: number;
  /** exp of the reconstruction loss per token: what it would be if latents came for free. */
  perplexity_reconstruction: number;
  /** I(z; x) of these sentences, against their aggregated posterior, and the most that so many can have; nats. */
  mutual_information_exact: number;
  mutual_information_bound: number;
  /** −E log p(x|z), mean KL of each sentence's latent, KL of the aggregated posterior; nats. */
  reconstruction: number;
  kl: number;
  kl_aggregated: number;
  /** Dimensions whose means differ between sentences, or codes that sentences use. */
  active_units?: number;
  symbols_used?: number;
}

/** Texts and a rival for them, as far as training asks. */
export interface PreparedRivalTexts extends PreparedTexts {
  config: RivalConfig;
  model: nn.Module & { encoder: { frozen: boolean } };
}

/** A model of texts, ready for a run: what training asks of it, whichever it is. */
export type PreparedRun = (PreparedLanguage | PreparedRivalTexts) & {
  task(replicas?: Replicas): Task<LanguageFigures | RivalFigures>;
  create(directory: string, options?: { force?: boolean }): Run;
};

/** What `paper/src/rivals/task.ts` gives: rivals are trained for comparisons alone, so that the package leaves them out. */
export interface RivalModule {
  prepareRivalRun(config: RivalConfig, source: TextInput, options: PrepareOptions): Promise<PreparedRun>;
}

/** The settings, where they are those of a model of texts; refused otherwise. */
export const textRunConfig = (config: RunConfig, what?: string): TextRunConfig =>
  isRival(config) ? config : languageConfig(config, what);

/** Reads and tokenises a corpus and makes the model that the settings name. */
export async function prepareTextRun(
  config: TextRunConfig,
  source: TextInput,
  options: PrepareOptions = {},
): Promise<PreparedRun> {
  if (isRival(config)) {
    const what = `training of ${rivalNames[config.model]}`;
    const { prepareRivalRun } = await paperModule<RivalModule>('rivals/task.ts', what);
    return prepareRivalRun(config, source, options);
  }
  const prepared = await prepareLanguage(config, source, options);
  return {
    ...prepared,
    task: (replicas) => new LanguageTask(prepared, replicas),
    create: (directory, how) => createLanguageRun(directory, prepared, how),
  };
}

/** What is to be trained, in words: the corpus and the model, a line each. */
export function textLines({ config, corpus, tokenizers, model }: PreparedRun): string[] {
  const { train, valid, test } = corpus.splits;
  const labels = corpus.labels.length > 0 ? `, ${corpus.labels.length} labels` : '';
  const parameters = model.parameters().reduce((sum, { size }) => sum + size, 0);
  const encoder = `encoder ${config.encoder.name}${model.encoder.frozen ? ' (frozen)' : ''}`;
  return [
    `corpus: ${train.length} + ${valid.length} + ${test.length} sentences${labels}, ${tokenizers.decoder.vocabulary} tokens in the vocabulary`,
    `model: ${latentOf(config, encoder)}, ${(parameters / 1e6).toFixed(1)} million parameters to train`,
  ];
}

/** What stands between encoder and decoder. */
function latentOf(config: TextRunConfig, encoder: string): string {
  switch (config.model) {
    case 'optimus':
      return `Optimus, a Gaussian latent of ${config.latent} numbers, ${encoder}`;
    case 'ivae':
      return `iVAE, an implicit latent of ${config.latent} numbers, ${encoder}`;
    case 'vq':
      return `VQ-VAE, ${config.length} codes of ${config.symbols}, ${encoder}`;
    case 'language':
      return config.baseline
        ? 'baseline: the decoder without symbols'
        : `${config.symbols} symbols, walks of ${config.length} steps, ${encoder}`;
  }
}
