import { Tensor, withoutGrad } from '@hidden-schema/torch';
import { BleuIndex } from '../measures/bleu-index.ts';
import type { EventRegression } from './event-regression.ts';

// Shapes: n events of a relation, D width of their vectors, M texts, B questions.

/** Penalty of the ridge regression, per event; chosen on valid events of ATOMIC. */
const PENALTY = 1e-4;
/** Texts that are regressed at a time. */
const AT_ONCE = 100;

/** What is foreseen of a text: its mean BLEU-2 against events, and the slope of that. [D] */
interface Line {
  mean: number;
  slope: Float32Array;
}

/**
 * BLEU-2 of texts as answers to new events, foreseen from the vectors of these: for each text a ridge regression of its
 * BLEU-2 against what each known event has by the relation.
 */
export class ExpectedBleu {
  readonly #regression: EventRegression;
  readonly #index: BleuIndex;
  readonly #lines = new Map<string, Line>();
  /** BLEU-2 of some texts against each event: one array for all, since fresh ones are not collected while a loop runs. */
  readonly #values: Float32Array;

  /** `objects` are those of the regression's events. */
  constructor(regression: EventRegression, objects: readonly (readonly string[])[]) {
    this.#regression = regression;
    this.#index = new BleuIndex(objects);
    this.#values = new Float32Array(AT_ONCE * regression.events.length);
  }

  /** Of each question's texts. `vectors` are those of the questions' events. [B, D] */
  of(vectors: Tensor, texts: readonly (readonly string[])[]): number[][] {
    const fresh = [...new Set(texts.flat())].filter((text) => !this.#lines.has(text));
    if (fresh.length > 0) {
      const events = withoutGrad(() => this.#regression.centred());
      for (let first = 0; first < fresh.length; first += AT_ONCE)
        this.#regress(fresh.slice(first, first + AT_ONCE), events);
      events.free();
    }
    const width = vectors.dim(1);
    const centred = withoutGrad(() =>
      vectors.to('float64').sub(this.#regression.mean).toArray(),
    ) as Float64Array;
    return texts.map((some, row) =>
      some.map((text) => {
        const { mean, slope } = this.#lines.get(text)!;
        return slope.reduce((sum, value, d) => sum + value * centred[row * width + d]!, mean);
      }),
    );
  }

  /** `events` are the regression's, centred. [n, D] */
  #regress(texts: readonly string[], events: Tensor): void {
    const { length } = this.#regression.events;
    const [values, one] = [this.#values.subarray(0, texts.length * length), new Float64Array(length)];
    const means = texts.map((text, m) => {
      values.set(this.#index.against(text, one), m * length);
      let sum = 0;
      for (let event = 0; event < length; event++) sum += one[event]!;
      return sum / length;
    });
    const slopes = withoutGrad(() => {
      const sums = Tensor.fromArray(values, [texts.length, length]).matmul(events); // [M, D]
      return this.#regression.slopes(sums.transpose(0, 1), PENALTY).transpose(0, 1).to('float32').toArray();
    }) as Float32Array;
    const width = slopes.length / texts.length;
    for (const [m, text] of texts.entries())
      this.#lines.set(text, {
        mean: means[m]!,
        slope: slopes.slice(m * width, (m + 1) * width),
      });
  }
}
