import { batchesByLength } from '@hidden-schema/text/text-batches';
import { cat, scope, withoutGrad } from '@hidden-schema/torch';
import { drawnAside } from '../../model.ts';
import type { Inspection } from '../../train/task.ts';
import { exactInformation } from './information.ts';
import type { LanguageTexts } from './texts.ts';
import type { LanguageTraining } from './training.ts';

/** Validation sentences that a look reads. */
const looked = 300;
/** Below these a model is said to have collapsed. */
const leastInformation = 0.5;
const leastSymbols = 0.1;
/** Fewer sentences than this cannot show a collapse. */
const fewSentences = 20;
const sampleTokens = 40;

/** How many symbols are in use and how much walks tell of sentences, with one sentence read and written again. */
export async function inspectLanguage(
  training: LanguageTraining,
  step: number,
  texts: LanguageTexts,
): Promise<Inspection> {
  // A small corpus may have no text for validation.
  if (training.config.baseline || training.corpus.splits.valid.length === 0) return { figures: {} };
  const { sentences, symbols_used, information } = usage(training);
  const warnings = sentences < fewSentences ? [] : collapse(training, symbols_used, information);
  const examples = step === 0 ? [] : [await example(training, step, texts)];
  return { figures: { symbols_used, information }, notes: [...warnings, ...examples] };
}

function usage(training: LanguageTraining) {
  const { model, corpus, frames } = training;
  const rows = corpus.splits.valid.slice(0, looked);
  model.train(false);
  return drawnAside(model, () =>
    withoutGrad(() => {
      const scores = [...batchesByLength(corpus.store, rows, 100, frames)].map((batch) =>
        scope(() => model.encoder.scores(training.withReading(batch))),
      );
      const posterior = model.posterior(cat(scores, 0), model.expectedGraph());
      const nodes = posterior.sampleNodes(model.generator);
      return {
        sentences: rows.length,
        symbols_used: new Set(nodes.toNumbers()).size,
        information: exactInformation(posterior, nodes),
      };
    }),
  );
}

function collapse({ config }: LanguageTraining, used: number, information: number): string[] {
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
async function example(training: LanguageTraining, step: number, texts: LanguageTexts): Promise<string> {
  const { valid } = training.corpus.splits;
  const look = Math.floor(step / training.config.training.evaluateEvery);
  const { text } = training.corpus.store.example(valid[look % valid.length]!);
  const { walks } = await texts.read([text]);
  const { walk } = walks[0]!;
  const [written] = await texts.write(walk, { maxTokens: sampleTokens });
  return `  ${clipped(text)} → ${walk.join(' ')} → ${clipped(written!)}`;
}

const clipped = (text: string): string =>
  JSON.stringify(text.length > 120 ? `${text.slice(0, 119)}…` : text).replace(/\p{Cf}/gu, '');
