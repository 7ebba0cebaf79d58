import type { Frames, TextCorpus } from '../text/index.ts';
import type { JsonValue } from '../trainer/files.ts';
import { linkRecords } from '../trainer/graph-record.ts';
import { Replicas } from '../trainer/replicas.ts';
import type { Inspection, Preparation, Task } from '../trainer/task.ts';
import {
  baselinePerplexity,
  evaluateLanguage,
  type LanguageEvaluation,
  type LanguageEvaluationOptions,
} from './evaluation.ts';
import { inspectLanguage } from './inspection.ts';
import type { LanguageNetwork } from './model.ts';
import type { PreparedLanguage } from './prepare.ts';
import { LanguageTexts } from './texts.ts';
import { LanguageTrainer } from './trainer.ts';
import { WarmStart } from './warm-start.ts';

/** A language run's figures; a baseline has its perplexity alone. */
export type LanguageFigures = Pick<LanguageEvaluation, 'sentences' | 'perplexity'> &
  Partial<LanguageEvaluation>;

/** At the end of training a quick look; `hsn eval` takes its time. */
const quickLook: LanguageEvaluationOptions = { limit: 500, walks: 20, graphs: 5 };

/** Training on natural language (Section 5), of a network or of its decoder alone. */
export class LanguageTask implements Task<LanguageFigures> {
  readonly trainer: LanguageTrainer;
  readonly texts: LanguageTexts;
  readonly preparation: Preparation;

  constructor({ config, model, corpus, tokenizers }: PreparedLanguage, replicas = Replicas.alone) {
    this.texts = new LanguageTexts(model, tokenizers);
    this.trainer = new LanguageTrainer(config, model, corpus, this.texts.frames, replicas);
    this.preparation = new WarmStart(this.trainer);
  }

  inspect(): Promise<Inspection> {
    return inspectLanguage(this.trainer, this.texts);
  }

  evaluate(): LanguageFigures {
    const { model, corpus, frames } = this.trainer;
    return languageFigures(model, corpus, frames, quickLook);
  }

  artifacts(): Record<string, JsonValue> {
    if (this.trainer.config.baseline) return {};
    const { symbols } = this.trainer.config;
    const nodes = Array.from({ length: symbols }, (_, symbol) => ({ symbol, tokens: [] }));
    return { 'graph.json': { symbols, nodes, links: linkRecords(this.trainer.model, symbols) } };
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
