import type { JsonValue } from '@hidden-schema/base';
import type { Frames, TextBatch, TextCorpus } from '@hidden-schema/text';
import { Discovery } from '../../discovery/text-discovery.ts';
import { linkRecords } from '../../graph/likely.ts';
import { Replicas } from '../../train/replicas.ts';
import type { Inspection, Preparation, Task } from '../../train/task.ts';
import { Trainer } from '../../train/trainer.ts';
import { WarmStart } from '../../train/warm-start.ts';
import {
  baselinePerplexity,
  evaluateLanguage,
  type LanguageEvaluation,
  type LanguageEvaluationOptions,
} from './evaluation.ts';
import { inspectLanguage } from './inspection.ts';
import type { LanguageNetwork, ReadTexts } from './network.ts';
import type { PreparedLanguage } from './prepare.ts';
import { LanguageTexts } from './texts.ts';
import { LanguageTraining } from './training.ts';

/** A language run's figures; a baseline has its perplexity alone. */
export type LanguageFigures = Pick<LanguageEvaluation, 'sentences' | 'perplexity'> &
  Partial<LanguageEvaluation>;

/** At the end of training a quick look; `hsn eval` takes its time. */
const quickLook: LanguageEvaluationOptions = { limit: 500, walks: 20, graphs: 5 };

/** Training on natural language (Section 5), of a network or of its decoder alone. */
export class LanguageTask implements Task<LanguageFigures> {
  readonly training: LanguageTraining;
  readonly trainer: Trainer<ReadTexts>;
  readonly texts: LanguageTexts;
  readonly preparation: Preparation;
  readonly usablePrepared: boolean;

  constructor(
    { model, corpus, tokenizers, discovery, walkCodes }: PreparedLanguage,
    replicas = Replicas.alone,
  ) {
    this.texts = new LanguageTexts(model, tokenizers);
    this.training = new LanguageTraining(model, corpus, this.texts.frames, discovery);
    this.trainer = new Trainer(this.training, replicas);
    this.usablePrepared = discovery !== undefined;
    this.preparation = discovery
      ? new Discovery(this.training, discovery, replicas)
      : this.#warmStart(walkCodes!);
  }

  #warmStart(codes: NonNullable<PreparedLanguage['walkCodes']>): WarmStart {
    const { baseline, warmStart } = this.model.config;
    return new WarmStart(this.trainer, codes(this.training), baseline ? 0 : warmStart.steps);
  }

  get model(): LanguageNetwork {
    return this.training.model;
  }

  inspect(): Promise<Inspection> {
    return inspectLanguage(this.training, this.trainer.step, this.texts);
  }

  evaluate(onProgress?: LanguageEvaluationOptions['onProgress']): LanguageFigures {
    const { model, corpus, frames } = this.training;
    const read = (batch: TextBatch) => this.training.withReading(batch);
    return languageFigures(model, corpus, frames, {
      ...quickLook,
      read,
      ...(onProgress ? { onProgress } : {}),
    });
  }

  artifacts(): Record<string, JsonValue> {
    const { symbols, baseline } = this.model.config;
    if (baseline) return {};
    const nodes = Array.from({ length: symbols }, (_, symbol) => ({ symbol, tokens: [] }));
    return { 'graph.json': { symbols, nodes, links: linkRecords(this.model, symbols) } };
  }
}

/** The figures of a network, or of a baseline. */
export function languageFigures(
  model: LanguageNetwork,
  corpus: TextCorpus,
  frames: Frames,
  options: LanguageEvaluationOptions = {},
): LanguageFigures {
  if (!model.config.baseline) return evaluateLanguage(model, corpus, frames, options);
  const sentences = Math.min(corpus.splits.test.length, options.limit ?? Number.POSITIVE_INFINITY);
  return { sentences, perplexity: baselinePerplexity(model, corpus, frames, options.limit) };
}
