import { noGrad, scope } from '@hidden-schema/torch';
import { exactInformation } from '../language/evaluation.ts';
import type { Tokenizers } from '../language/parts.ts';
import { expectedGraph } from '../language/texts.ts';
import type { JsonValue } from '../trainer/files.ts';
import { linkRecords } from '../trainer/graph-record.ts';
import type { Inspection, Preparation, Task } from '../trainer/task.ts';
import { writeObjects } from './objects.ts';
import { tupleFrames } from './parts.ts';
import type { PreparedReasoning } from './prepare.ts';
import { ReasoningTrainer } from './trainer.ts';
import { TupleWalks } from './walks.ts';
import { TwoPartWarmStart } from './warm-start.ts';

/** A quick look at the end of training; `hsn reason eval` takes its time. */
export interface ReasoningFigures {
  tuples: number;
  /** exp of −log p(o|s, r, z) per token of test objects, z from the posterior; COMET's without z. */
  perplexity: number;
  /** −E log p(o|s, r, z), nats an object. */
  reconstruction: number;
  /** I(z; s, r, o) of these tuples, exactly, and the symbols that their walks use. */
  information?: number;
  symbols_used?: number;
}

/** Tuples of a look while training, and at its end. */
const looked = 300;
const tested = 1000;
const atOnce = 100;

/** Training over tuples (Section 6, step I), of a network or of COMET. */
export class ReasoningTask implements Task<ReasoningFigures> {
  readonly trainer: ReasoningTrainer;
  readonly preparation: Preparation;
  readonly #tokenizers: Tokenizers;

  constructor({ config, model, corpus, tokens, tokenizers }: PreparedReasoning) {
    this.trainer = new ReasoningTrainer(config, model, corpus, tokens);
    this.preparation = new TwoPartWarmStart(this.trainer);
    this.#tokenizers = tokenizers;
  }

  async inspect(): Promise<Inspection> {
    if (this.trainer.config.baseline) return { figures: {}, notes: [await this.#example()] };
    const { valid } = this.trainer.corpus.splits;
    return { figures: this.#usage(valid.slice(0, looked)), notes: [await this.#example()] };
  }

  evaluate(): ReasoningFigures {
    const { model, corpus, config } = this.trainer;
    const rows = corpus.splits.test.slice(0, tested);
    const saved = model.generator.state();
    model.train(false);
    let [nll, tokens] = [0, 0];
    for (let first = 0; first < rows.length; first += atOnce)
      scope(() =>
        noGrad(() => {
          const batch = this.trainer.batch(rows.slice(first, first + atOnce));
          const terms = config.baseline
            ? { reconstruction: model.objectNll(batch, undefined).perSentence.mean(), tokens: 0 }
            : model.reconstruct(batch, this.trainer.step, {});
          nll += terms.reconstruction.item() * batch.rows.length;
          tokens += batch.prefixes.reduce((sum, given, i) => sum + batch.decoder.lengths[i]! - given, 0);
        }),
      );
    model.generator.restore(saved);
    const figures = {
      tuples: rows.length,
      perplexity: Math.exp(nll / tokens),
      reconstruction: nll / rows.length,
    };
    return config.baseline ? figures : { ...figures, ...this.#usage(rows) };
  }

  artifacts(): Record<string, JsonValue> {
    const { config, model } = this.trainer;
    if (config.baseline) return {};
    const nodes = Array.from({ length: config.symbols }, (_, symbol) => ({ symbol, tokens: [] }));
    return {
      'graph.json': { symbols: config.symbols, nodes, links: linkRecords(model, config.symbols) },
    };
  }

  #usage(rows: Int32Array): { information: number; symbols_used: number } {
    const { model } = this.trainer;
    const saved = model.generator.state();
    model.train(false);
    try {
      return scope(() =>
        noGrad(() => {
          const batch = this.trainer.batch(rows);
          const posterior = model.posterior(model.tupleScores(batch), expectedGraph(model));
          const nodes = posterior.sampleNodes(model.generator);
          const symbols_used = new Set(nodes.toNumbers()).size;
          return { information: exactInformation(posterior, nodes), symbols_used };
        }),
      );
    } finally {
      model.generator.restore(saved);
    }
  }

  /** A validation tuple, another one at each look: s, r, o → walk → what the decoder makes of it. */
  async #example(): Promise<string> {
    const { corpus, tokens, model, config, step } = this.trainer;
    const { valid } = corpus.splits;
    const look = Math.floor(step / config.training.evaluateEvery);
    const row = valid[(look * 97) % valid.length]!;
    const walk = config.baseline ? undefined : bestOf(new TupleWalks(model, tokens), row);
    const frame = tupleFrames(this.#tokenizers).decoder;
    const prompt = { prompt: tokens.prompt(row), ...(walk ? { walk } : {}) };
    const [written] = await writeObjects(
      model.decoder,
      this.#tokenizers.decoder,
      frame,
      [prompt],
      config.symbols,
    );
    const { head, relation, object } = corpus.table.tuple(row);
    const shown = walk ? `${walk.join(' ')} → ` : '';
    return `  ${JSON.stringify(head)} ${relation} ${JSON.stringify(object)} → ${shown}${JSON.stringify(written!.text)}`;
  }
}

function bestOf(walks: TupleWalks, row: number): number[] {
  try {
    return walks.whole(Int32Array.of(row), 'best')[0]!;
  } finally {
    walks.free();
  }
}
