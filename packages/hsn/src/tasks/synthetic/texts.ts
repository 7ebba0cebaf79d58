import { UserError } from '@hidden-schema/base';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import type { BestWalk } from '../../walk/best.ts';
import type { SyntheticCorpus } from './corpus/reader.ts';
import type { SyntheticNetwork } from './network.ts';

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
    return scope(() =>
      noGrad(() => {
        const tokens = Tensor.fromArray(Int32Array.from(ids), [texts.length, this.#length]);
        return this.#model.encode({ tokens }).best();
      }),
    );
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
