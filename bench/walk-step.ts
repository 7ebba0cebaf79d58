import { createInterface } from 'node:readline';
import {
  ClosedFormPosterior,
  exactMarginals,
  type ModelShape,
  type SyntheticConfig,
  type SyntheticNetwork,
  syntheticNetwork,
  syntheticOptions,
} from '@hidden-schema/hsn';
import { Generator, rand, randint, scope, setThreads, type Tensor } from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import { flopsWithin } from './flops.ts';
import { secondsOf } from './measure.ts';
import { peakMB } from './peak-memory.ts';
import { profiledSteps } from './profiled.ts';

/** Our side of the walk benchmark, in a process of its own so that its memory can be told. */
interface Request {
  symbols: number;
  length: number;
  vocabulary: number;
  batch: number;
  repeat: number;
  p: number;
  /** paper: the network over pairs and sampled walks. closed-form: our default. */
  model: 'paper' | 'closed-form';
  /** closed-form: so many links a symbol are sure and no others are, as sweeps leave it; all are open unless given. */
  links?: number;
}

/** Log-odds of a link that is surely there. */
const sureLogit = 12;
/** What the program takes before it has a model. */
const idleMB = process.memoryUsage().rss / 2 ** 20;

setThreads(Number(process.argv[2] ?? 1));
const configs: Record<Request['model'], SyntheticConfig> = {
  paper: syntheticOptions.parse({
    graph: { posterior: 'pairs', prior: 'bernoulli', klWeight: 'batch' },
    walk: { expectation: 'sampled' },
    encoder: { teacher: 'none' },
    objective: { aggregation: 'mean' },
  }),
  'closed-form': syntheticOptions.parse({}),
};

function shapeOf({ symbols, vocabulary, length, batch }: Request): ModelShape {
  const bags = new Float64Array(symbols * vocabulary);
  for (let k = 0; k < symbols; k++)
    for (const token of [2 * k, 2 * k + 1]) bags[k * vocabulary + (token % vocabulary)] = 0.5;
  return { symbols, vocabulary, length, sentences: batch, bags };
}

class Step {
  readonly #model: SyntheticNetwork;
  readonly #adam: optim.Adam;
  readonly #generator = new Generator(1);
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
    this.#model = syntheticNetwork(configs[request.model], shapeOf(request));
    if (request.links) this.#settle(request.links);
    this.#adam = new optim.Adam([{ parameters: [...this.#model.namedParameters()], rate: 1e-4 }]);
  }

  /** Each symbol linked to others at random, as sure as the closed form makes it. */
  #settle(links: number): void {
    const { graph } = this.#model;
    if (!(graph instanceof ClosedFormPosterior)) return;
    const K = this.#request.symbols;
    scope(() => {
      const present = rand([graph.logits.size], this.#generator).lt((2 * links) / (K - 1));
      graph.logits.copy_(
        present
          .to('float32')
          .sub(0.5)
          .mul(2 * sureLogit),
      );
    });
  }

  seconds(repeat: number): number {
    return (
      scope(() => {
        const tokens = this.#tokens();
        return secondsOf(() => {
          for (let i = 0; i < repeat; i++) this.#once(tokens);
        });
      }) / repeat
    );
  }

  /** Billions of floating-point operations in the matrix products of one step. */
  gflop(): number {
    return scope(() => {
      const tokens = this.#tokens();
      return flopsWithin(() => this.#once(tokens)) / 1e9;
    });
  }

  profile(): string {
    const { symbols, model } = this.#request;
    return scope(() => {
      const tokens = this.#tokens();
      return profiledSteps(`synthetic step, ${model}, K = ${symbols}`, () => this.#once(tokens));
    });
  }

  #tokens(): Tensor {
    const { vocabulary, batch, length } = this.#request;
    return randint(vocabulary, [batch, length], this.#generator);
  }

  #once(tokens: Tensor): void {
    this.#adam.zeroGrad();
    scope(() => this.#model.forward({ tokens }, { step: 0, teacher: this.#teacher(tokens) }).loss.backward());
    this.#adam.step();
  }

  #teacher(tokens: Tensor): readonly Tensor[] | undefined {
    const { graph } = this.#model;
    if (!(graph instanceof ClosedFormPosterior)) return undefined;
    return exactMarginals(this.#model, { tokens }, graph);
  }

  free(): void {
    this.#model.free();
    this.#adam.free();
  }
}

let current: { key: string; step: Step } | undefined;

function answer(step: Step, what: 'count' | 'profile' | undefined, repeat: number) {
  if (what === 'count') return { gflop: step.gflop() };
  return what === 'profile' ? { text: step.profile() } : { seconds: step.seconds(repeat) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { repeat, do: what, ...request } = JSON.parse(line) as Request & { do?: 'count' | 'profile' };
  const key = JSON.stringify(request);
  if (current?.key !== key) {
    current?.step.free();
    current = { key, step: new Step({ ...request, repeat }) };
  }
  const figures = answer(current.step, what, repeat);
  process.stdout.write(`${JSON.stringify({ ...figures, peakMB: peakMB(), idleMB })}\n`);
}
