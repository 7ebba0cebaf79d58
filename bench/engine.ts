import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Generator,
  nn,
  noGrad,
  ones,
  openSafetensors,
  rand,
  randn,
  scope,
  setThreads,
  type Tensor,
  writeSafetensors,
} from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import type { Budget } from './budget.ts';
import { type BenchOptions, compare, type Measurement, noTime, secondsOf, unmeasured } from './measure.ts';
import { Peer, unready } from './peer.ts';
import { profiledSteps } from './profiled.ts';

function repeated(times: number, body: () => void): number {
  return secondsOf(() => {
    for (let i = 0; i < times; i++) body();
  });
}

/** How long and how often a part is measured, and who beside. */
interface Turn {
  rounds: number;
  budget: Budget;
  peer: Peer | undefined;
}

function gemm(n: number, repeat: number, { rounds, budget, peer }: Turn): Promise<Measurement> {
  const generator = new Generator(0);
  const [a, b] = [rand([n, n], generator), rand([n, n], generator)];
  const ours = () => {
    noGrad(() => a.matmul(b).free());
    return noGrad(() => repeated(repeat, () => a.matmul(b).free())) / repeat;
  };
  return compare({
    bench: `gemm ${n}`,
    unit: 'GFLOP/s',
    scale: { throughput: (2 * n ** 3) / 1e9 },
    goal: { ratio: 0.97 },
    // Its goal leaves 3 % and a round is short: more of them even the noise out.
    rounds: 3 * rounds,
    budget,
    ours,
    beside: peer,
    peer: peer && (() => peer.seconds({ do: 'gemm', n, repeat })),
  });
}

/** Adds of two short vectors, in scopes of 100 operators as in a small training step. */
function small(gradients: boolean, { rounds, budget, peer }: Turn): Promise<Measurement> {
  const [scopes, repeat] = [200, 20_000];
  const [a, b] = [ones([8]), ones([8])];
  if (gradients) a.requireGrad();
  const adds = () =>
    repeated(scopes, () =>
      scope(() => {
        for (let i = 0; i < repeat / scopes; i++) a.add(b);
      }),
    ) / repeat;
  return compare({
    bench: `small operator, ${gradients ? 'with' : 'without'} gradient`,
    unit: 'µs',
    scale: { time: 1e6 },
    // With a gradient there is no bound in the list; it is held to the one of the first round.
    goal: { atMost: gradients ? 6 : 1.3 },
    ...(gradients ? {} : { list: 2 }),
    rounds,
    budget,
    ours: () => (gradients ? adds() : noGrad(adds)),
    beside: peer,
    peer: peer && (() => peer.seconds({ do: 'small', grad: gradients, repeat })),
  });
}

const sizes = { batch: 256, time_steps: 11, width: 256, heads: 2, feed: 256, blocks: 2, dropout: 0.2 };

/** A Transformer encoder block with the norm after each residual sum, as PyTorch's TransformerEncoderLayer. */
class EncoderBlock extends nn.Module {
  readonly attention: nn.MultiHeadAttention;
  readonly rise: nn.Linear;
  readonly fall: nn.Linear;
  readonly norms = [new nn.LayerNorm(sizes.width), new nn.LayerNorm(sizes.width)];
  readonly dropout: nn.Dropout;

  constructor(generator: Generator) {
    super();
    this.attention = new nn.MultiHeadAttention(sizes.width, sizes.heads, generator, sizes);
    this.rise = new nn.Linear(sizes.width, sizes.feed, generator);
    this.fall = new nn.Linear(sizes.feed, sizes.width, generator);
    this.dropout = new nn.Dropout(sizes.dropout, generator);
  }

  forward(x: Tensor): Tensor {
    const mixed = this.norms[0]!.forward(x.add(this.dropout.forward(this.attention.forward(x))));
    const inner = this.dropout.forward(this.rise.forward(mixed).relu());
    return this.norms[1]!.forward(mixed.add(this.dropout.forward(this.fall.forward(inner))));
  }
}

class Encoder extends nn.Module {
  readonly blocks: readonly EncoderBlock[];

  constructor(generator: Generator) {
    super();
    this.blocks = Array.from({ length: sizes.blocks }, () => new EncoderBlock(generator));
  }

  forward(x: Tensor): Tensor {
    return this.blocks.reduce((out, block) => block.forward(out), x);
  }
}

/** Our side: the model and one training step of it. */
function encoderStep(): { model: Encoder; step: () => void } {
  const generator = new Generator(0);
  const model = new Encoder(generator);
  const optimiser = new optim.Adam([{ parameters: [...model.namedParameters()], rate: 1e-4 }]);
  const x = randn([sizes.batch, sizes.time_steps, sizes.width], generator);
  const step = () =>
    scope(() => {
      optimiser.zeroGrad();
      model.forward(x).pow(2).mean().backward();
      optimiser.step();
    });
  return { model, step };
}

/** The 2-block step against PyTorch, eager or compiled; compiling is part of no round. */
async function encoder(compiled: boolean, { rounds, budget, peer }: Turn): Promise<Measurement> {
  const repeat = 5;
  const bench = `2-block Transformer training step, ${compiled ? 'compiled' : 'eager'} PyTorch (peer)`;
  const { model, step } = encoderStep();
  const request = { do: 'encoder', repeat, compiled, ...sizes };
  // Compiling takes a minute or two, and may take longer than there is time.
  const first = await (compiled ? peer?.askWithin(budget.left(), request) : peer?.ask(request));
  const why = peer && unready(first);
  if (why !== undefined) return unmeasured(bench, why, { list: 2 });
  expectSameSize(model, first?.parameters);
  return compare({
    bench,
    unit: 'ms',
    scale: { time: 1e3 },
    // The list asks nothing of the compiled one: it stands beside.
    goal: compiled ? 'none' : { ratio: 1.5 },
    list: 2,
    rounds,
    budget,
    ours: () => repeated(repeat, step) / repeat,
    beside: peer,
    peer: peer && (() => peer.seconds(request)),
  });
}

function expectSameSize(model: nn.Module, theirs: number | undefined): void {
  const ours = model.parameters().reduce((sum, p) => sum + p.size, 0);
  if (theirs !== undefined && ours !== theirs)
    throw new Error(`the encoders differ: ${ours} parameters here, ${theirs} in the peer`);
}

/** Reads a file of 256 MB and sums every tensor, against Node reading the same bytes into a buffer. */
async function safetensors({ rounds, budget }: Turn): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'hsn-bench-'));
  const path = join(folder, 'weights.safetensors');
  try {
    const names = Array.from({ length: 16 }, (_, i) => `layer.${i}`);
    scope(() => writeSafetensors(path, new Map(names.map((name) => [name, ones([2048, 2048])]))));
    const ours = () =>
      secondsOf(() =>
        scope(() => {
          const weights = openSafetensors(path);
          for (const name of names) weights.get(name).sum();
          weights.close();
        }),
      );
    return await compare({
      bench: 'safetensors read, against plain file read',
      unit: 'GB/s',
      scale: { throughput: (names.length * 2048 * 2048 * 4) / 1e9 },
      goal: { ratio: 1 },
      rounds,
      budget,
      ours,
      peer: async () => secondsOf(() => readFileSync(path)),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** libtorch through TypeScript against PyTorch in Python, eager and compiled. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  const { rounds, budget } = options;
  setThreads(options.threads);
  const peer = await Peer.ready('engine', options, { do: 'gemm', n: 8, repeat: 1 });
  // The compiled step takes as much time as three others.
  const turn = (left: number): Turn => ({ rounds, budget: budget.next(left + 3), peer });
  try {
    yield await encoder(false, turn(7));
    yield await small(false, turn(6));
    yield await small(true, turn(5));
    yield await gemm(256, 200, turn(4));
    yield await gemm(1024, 10, turn(3));
    yield await gemm(2048, 2, turn(2));
    yield await safetensors(turn(1));
  } finally {
    await peer?.stop();
  }
  yield* compiledStep(options);
}

async function* compiledStep(options: BenchOptions): AsyncGenerator<Measurement> {
  const { rounds, budget } = options;
  if (options.python === undefined) return;
  if (!budget.fits(20)) return yield noTime('2-block Transformer training step, compiled PyTorch (peer)', 2);
  const peer = Peer.start('engine', options);
  try {
    yield await encoder(true, { rounds, budget, peer });
  } finally {
    await peer?.stop();
  }
}

/** Where the time of the 2-block step goes. */
export async function profile(options: BenchOptions): Promise<string> {
  setThreads(options.threads);
  return profiledSteps('2-block Transformer training step', encoderStep().step);
}
