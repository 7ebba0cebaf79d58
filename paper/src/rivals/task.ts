import type { JsonValue } from '@hidden-schema/base/files';
import type { RivalConfig } from '@hidden-schema/hsn/config/rivals';
import { decoderSource } from '@hidden-schema/hsn/tasks/language/build';
import type { ReadTexts } from '@hidden-schema/hsn/tasks/language/network';
import { checkVocabulary } from '@hidden-schema/hsn/tasks/language/prepare';
import {
  type PrepareOptions,
  prepareTexts,
  type TextInput,
} from '@hidden-schema/hsn/tasks/language/prepare-texts';
import { createLanguageRun } from '@hidden-schema/hsn/tasks/language/text-record';
import type { PreparedRivalTexts, PreparedRun, RivalFigures } from '@hidden-schema/hsn/text-run';
import { Replicas } from '@hidden-schema/hsn/train/replicas';
import type { Inspection, Task } from '@hidden-schema/hsn/train/task';
import { Trainer } from '@hidden-schema/hsn/train/trainer';
import { noGrad } from '@hidden-schema/torch/autograd';
import { cat } from '@hidden-schema/torch/functional';
import { startEngine } from '@hidden-schema/torch/native';
import { scope } from '@hidden-schema/torch/scope';
import { checkRivalProcesses, makeRival } from './build.ts';
import { evaluateRival, latentInformation, type RivalEvaluationOptions } from './evaluation.ts';
import type { Rival } from './rival.ts';
import { RivalTexts } from './texts.ts';
import { RivalTraining } from './training.ts';

/** Texts and a rival for them, ready for a run. */
interface PreparedRival extends PreparedRivalTexts {
  model: Rival;
}

/** Reads and tokenises a corpus and makes a rival for it; nothing is written but a cache of tokens. */
export async function prepareRival(
  asked: RivalConfig,
  source: TextInput,
  options: PrepareOptions = {},
): Promise<PreparedRival> {
  startEngine();
  const prepared = await prepareTexts(asked, source, options);
  const { encoder, frozen, folder, generator, read: config, ...texts } = prepared;
  try {
    const { decoder } = texts.tokenizers;
    const source = await decoderSource(config, { folder });
    const sources = { encoder, frozen, decoderVocabulary: decoder.vocabulary, decoder: source };
    const model = makeRival(config, sources, generator);
    checkVocabulary(model, decoder, config.decoder.name);
    return { ...texts, config, model };
  } catch (error) {
    texts.close();
    throw error;
  }
}

/** The same with its task and its run, for `hsn train`. */
export async function prepareRivalRun(
  config: RivalConfig,
  source: TextInput,
  options: PrepareOptions,
): Promise<PreparedRun> {
  const prepared = await prepareRival(config, source, options);
  return {
    ...prepared,
    task: (replicas) => new RivalTask(prepared, replicas),
    create: (directory, how) => createLanguageRun(directory, prepared, how),
  };
}

/** At the end of training a quick look; `hsn eval` takes its time. */
const quickLook: RivalEvaluationOptions = { limit: 500, draws: 20 };
/** Validation sentences that a look reads. */
const looked = 300;
/** Below this a model is said to have collapsed. */
const leastInformation = 0.5;

/** Training of a rival on texts. */
export class RivalTask implements Task<RivalFigures> {
  readonly training: RivalTraining;
  readonly trainer: Trainer<ReadTexts>;
  readonly texts: RivalTexts;

  constructor({ model, corpus, tokenizers }: PreparedRival, replicas = Replicas.alone) {
    checkRivalProcesses(model.config, replicas.size);
    this.texts = new RivalTexts(model, tokenizers);
    this.training = new RivalTraining(model, corpus, this.texts.frames);
    this.trainer = new Trainer(this.training, replicas);
  }

  /** How much latents tell of validation sentences. */
  inspect(): Inspection {
    const { model } = this.training;
    const saved = model.generator.state();
    model.train(false);
    try {
      const {
        mutual_information_exact: information,
        mutual_information_bound: _,
        ...used
      } = scope(() =>
        noGrad(() => {
          const beliefs = [...this.training.looked(looked)].map((batch) =>
            scope(() => model.beliefs(this.training.withStates(batch))),
          );
          return latentInformation(model, cat(beliefs, 0));
        }),
      );
      const collapsed = information < leastInformation && this.trainer.step > 0;
      const notes = collapsed
        ? [`warning: the model ignores its latents: they tell ${information.toFixed(2)} nats of a sentence`]
        : [];
      return { figures: { information, ...used }, notes };
    } finally {
      model.generator.restore(saved);
    }
  }

  evaluate(onProgress?: (done: number, total: number) => void): RivalFigures {
    const { model, corpus, frames } = this.training;
    return evaluateRival(model, corpus, frames, { ...quickLook, ...(onProgress ? { onProgress } : {}) });
  }

  artifacts(): Record<string, JsonValue> {
    return {};
  }
}
