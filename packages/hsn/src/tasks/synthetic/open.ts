import { reasonOf, UserError } from '@hidden-schema/base';
import { scope, Tensor, withoutGrad } from '@hidden-schema/torch';
import { syntheticConfig } from '../../config/settings.ts';
import { loadCheckpoint, whichCheckpoint } from '../../run/checkpoint.ts';
import { checkContent, corpusPlaces } from '../../run/corpus-places.ts';
import { Run } from '../../run/run.ts';
import type { BestWalk } from '../../walk/best.ts';
import { readSyntheticCorpus, type SyntheticCorpus } from './corpus/reader.ts';
import { type SyntheticNetwork, syntheticNetwork } from './network.ts';
import { modelShape } from './training.ts';

export interface OpenedModel {
  run: Run;
  model: SyntheticNetwork;
  corpus: SyntheticCorpus;
  step: number;
  notes: string[];
}

/** Opens a run's model at a checkpoint (`best`, `last` or a step), with the corpus it was trained on or another. */
export function openSyntheticRun(
  directory: string,
  options: { checkpoint?: string; corpus?: string } = {},
): OpenedModel {
  const run = Run.open(directory);
  const config = syntheticConfig(run.config, `the run ${directory}`);
  const corpus = readSyntheticCorpus(options.corpus ?? corpusPlaces(run)[0]!, {
    seed: config.seed,
  });
  if (!options.corpus) checkContent(run, corpus);
  const notes: string[] = [];
  const model = scope(() => syntheticNetwork(config, modelShape(config, corpus)));
  const step = scope(() => {
    const saved = loadCheckpoint(run, whichCheckpoint(options.checkpoint ?? 'best'));
    notes.push(...saved.notes);
    try {
      model.load(saved.model);
    } catch (error) {
      throw new UserError(`${directory} does not fit the corpus ${corpus.directory}: ${reasonOf(error)}`);
    }
    return saved.step;
  });
  return { run, model, corpus, step, notes };
}

const atOnce = 256;

/** Reads sentences of a synthetic language: tokens with spaces between, as many as a walk has steps. */
export class SyntheticTexts {
  readonly #model: SyntheticNetwork;
  readonly #length: number;
  readonly #numbers: ReadonlyMap<string, number>;

  constructor(model: SyntheticNetwork, { vocabulary, length }: SyntheticCorpus) {
    this.#model = model;
    this.#length = length;
    this.#numbers = new Map(vocabulary.map((token, number) => [token, number]));
  }

  /** The most probable walk of each sentence. */
  async read(texts: readonly string[]): Promise<{ walks: BestWalk[]; cut: number }> {
    this.#model.train(false);
    const walks: BestWalk[] = [];
    for (let first = 0; first < texts.length; first += atOnce)
      walks.push(...this.#read(texts.slice(first, first + atOnce)));
    return { walks, cut: 0 };
  }

  #read(texts: readonly string[]): BestWalk[] {
    const ids = texts.flatMap((text) => this.#tokenNumbers(text));
    return withoutGrad(() => {
      const tokens = Tensor.fromArray(Int32Array.from(ids), [texts.length, this.#length]);
      return this.#model.encode({ tokens }).best();
    });
  }

  #tokenNumbers(text: string): number[] {
    const tokens = text.trim().split(/\s+/);
    const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
    if (tokens.length !== this.#length)
      throw new UserError(
        `${shown} has ${tokens.length} tokens; sentences of this language have ${this.#length}`,
      );
    return tokens.map((token) => {
      const number = this.#numbers.get(token);
      if (number === undefined)
        throw new UserError(`${shown}: ${JSON.stringify(token.slice(0, 40))} is no token of this language`);
      return number;
    });
  }
}
