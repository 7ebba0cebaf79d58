import type { JsonValue } from '@hidden-schema/base';
import { noGrad, scope } from '@hidden-schema/torch';
import { usesPursuit } from '../../config/language.ts';
import { linkRecords } from '../../graph/likely.ts';
import { Replicas } from '../../train/replicas.ts';
import type { Inspection, Preparation, Task } from '../../train/task.ts';
import { Trainer } from '../../train/trainer.ts';
import { WarmStart } from '../../train/warm-start.ts';
import type { Tokenizers } from '../language/build.ts';
import { exactInformation } from '../language/information.ts';
import { tupleFrames } from './build.ts';
import type { ReasoningNetwork, TupleBatch } from './network.ts';
import { writeObjects } from './objects.ts';
import type { PreparedReasoning } from './prepare.ts';
import { TupleTraining } from './training.ts';
import { TupleDiscovery } from './tuple-discovery.ts';
import { TupleWalkCodes } from './tuple-walk-codes.ts';
import { TupleWalks } from './walks.ts';

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
  readonly training: TupleTraining;
  readonly trainer: Trainer<TupleBatch>;
  readonly preparation: Preparation;
  readonly #tokenizers: Tokenizers;

  constructor({ model, corpus, tokens, tokenizers }: PreparedReasoning, replicas = Replicas.alone) {
    this.training = new TupleTraining(model, corpus, tokens);
    this.trainer = new Trainer(this.training, replicas);
    const { baseline, warmStart } = model.config;
    this.preparation = usesPursuit(model.config)
      ? new TupleDiscovery(this.training)
      : new WarmStart(this.trainer, new TupleWalkCodes(this.training), baseline ? 0 : warmStart.steps);
    this.#tokenizers = tokenizers;
  }

  get model(): ReasoningNetwork {
    return this.training.model;
  }

  async inspect(): Promise<Inspection> {
    if (this.model.config.baseline) return { figures: {}, notes: [await this.#example()] };
    const { valid } = this.training.corpus.splits;
    return { figures: this.#usage(valid.slice(0, looked)), notes: [await this.#example()] };
  }

  evaluate(): ReasoningFigures {
    const { model, corpus, config } = this.training;
    const rows = corpus.splits.test.slice(0, tested);
    const saved = model.generator.state();
    model.train(false);
    let [nll, tokens] = [0, 0];
    for (let first = 0; first < rows.length; first += atOnce)
      scope(() =>
        noGrad(() => {
          const batch = this.training.batch(rows.slice(first, first + atOnce));
          const terms = model.forward(batch, { step: this.trainer.step });
          nll += terms.reconstruction.item() * batch.prefixes.length;
          tokens += terms.tokens;
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
    const { config, model } = this.training;
    if (config.baseline) return {};
    const nodes = Array.from({ length: config.symbols }, (_, symbol) => ({ symbol, tokens: [] }));
    return {
      'graph.json': { symbols: config.symbols, nodes, links: linkRecords(model, config.symbols) },
    };
  }

  #usage(rows: Int32Array): { information: number; symbols_used: number } {
    const { model } = this.training;
    const saved = model.generator.state();
    model.train(false);
    try {
      return scope(() =>
        noGrad(() => {
          const posterior = model.encode(this.training.batch(rows));
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
    const { corpus, tokens, model, config } = this.training;
    const { valid } = corpus.splits;
    const look = Math.floor(this.trainer.step / config.training.evaluateEvery);
    const row = valid[(look * 97) % valid.length]!;
    const walk = config.baseline ? undefined : bestOf(new TupleWalks(model, tokens), row);
    const frame = tupleFrames(this.#tokenizers).decoder;
    const prompt = { prompt: tokens.prompt(row), ...(walk ? { walk } : {}) };
    const [written] = await writeObjects(model, { tokenizer: this.#tokenizers.decoder, frame }, [prompt]);
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
