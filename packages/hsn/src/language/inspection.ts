import { cat, noGrad, scope } from '@hidden-schema/torch';
import { batchesByLength } from '../text/index.ts';
import type { Inspection } from '../trainer/task.ts';
import { exactInformation } from './evaluation.ts';
import { expectedGraph, type LanguageTexts } from './texts.ts';
import type { LanguageTrainer } from './trainer.ts';

/** Validation sentences that a look reads. */
const looked = 300;
/** Below these a model is said to have collapsed. */
const leastInformation = 0.5;
const leastSymbols = 0.1;
/** Fewer sentences than this cannot show a collapse. */
const fewSentences = 20;
const sampleTokens = 40;

/** How many symbols are in use and how much walks tell of sentences, with one sentence read and written again. */
export async function inspectLanguage(trainer: LanguageTrainer, texts: LanguageTexts): Promise<Inspection> {
  if (trainer.config.baseline) return { figures: {} };
  const { sentences, symbols_used, information } = usage(trainer);
  const warnings = sentences < fewSentences ? [] : collapse(trainer, symbols_used, information);
  return {
    figures: { symbols_used, information },
    notes: [...warnings, await example(trainer, texts)],
  };
}

function usage(trainer: LanguageTrainer) {
  const { model, corpus, frames } = trainer;
  const rows = corpus.splits.valid.slice(0, looked);
  const saved = model.generator.state();
  model.train(false);
  try {
    return scope(() =>
      noGrad(() => {
        const scores = [...batchesByLength(corpus.store, rows, 100, frames)].map((batch) =>
          scope(() => model.scores(batch.encoder, trainer.hidden(batch))),
        );
        const posterior = model.posterior(cat(scores, 0), expectedGraph(model));
        const nodes = posterior.sampleNodes(model.generator);
        return {
          sentences: rows.length,
          symbols_used: new Set(nodes.toNumbers()).size,
          information: exactInformation(posterior, nodes),
        };
      }),
    );
  } finally {
    model.generator.restore(saved);
  }
}

function collapse({ config }: LanguageTrainer, used: number, information: number): string[] {
  const found = [
    ...(information < leastInformation ? [`walks tell ${information.toFixed(2)} nats of a sentence`] : []),
    ...(used < leastSymbols * config.symbols ? [`${used} of ${config.symbols} symbols are in use`] : []),
  ];
  if (found.length === 0) return [];
  return [
    `warning: the model ignores its symbols: ${found.join(' and ')}. A warm start (warmStart.steps), a pretrained encoder or a larger decoder.wordDropout may help`,
  ];
}

/** A validation sentence, another one at each look: input → walk → what the decoder makes of the walk. */
async function example(trainer: LanguageTrainer, texts: LanguageTexts): Promise<string> {
  const { valid } = trainer.corpus.splits;
  const look = Math.floor(trainer.step / trainer.config.training.evaluateEvery);
  const { text } = trainer.corpus.store.example(valid[look % valid.length]!);
  const { walks } = await texts.read([text]);
  const { walk } = walks[0]!;
  const [written] = await texts.write(walk, { maxTokens: sampleTokens });
  return `  ${clipped(text)} → ${walk.join(' ')} → ${clipped(written!)}`;
}

const clipped = (text: string): string =>
  JSON.stringify(text.length > 120 ? `${text.slice(0, 119)}…` : text).replace(/\p{Cf}/gu, '');
