import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Generator,
  nn,
  noGrad,
  ones,
  openSafetensors,
  optim,
  rand,
  randn,
  scope,
  setThreads,
  type Tensor,
  writeSafetensors,
} from '@hidden-schema/torch';
import { type BenchOptions, compare, type Measurement, Peer, secondsOf } from './measure.ts';

function repeated(times: number, body: () => void): number {
  return secondsOf(() => {
    for (let i = 0; i < times; i++) body();
  });
}

function gemm(n: number, repeat: number, rounds: number, peer?: Peer): Promise<Measurement> {
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
    ours,
    ...(peer && { peer: () => peer.seconds({ do: 'gemm', n, repeat }) }),
  });
}

/** Adds of two short vectors, in scopes of 100 operators as in a small training step. */
function small(gradients: boolean, rounds: number, peer?: Peer): Promise<Measurement> {
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
    goal: { atMost: 6 },
    rounds,
    ours: () => (gradients ? adds() : noGrad(adds)),
    ...(peer && { peer: () => peer.seconds({ do: 'small', grad: gradients, repeat }) }),
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

async function encoder(rounds: number, peer?: Peer): Promise<Measurement> {
  const repeat = 5;
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
  await expectSameSize(model, peer);
  return compare({
    bench: 'transformer encoder training step',
    unit: 'ms',
    scale: { time: 1e3 },
    goal: { ratio: 1 },
    rounds,
    ours: () => repeated(repeat, step) / repeat,
    ...(peer && { peer: () => peer.seconds({ do: 'encoder', repeat, ...sizes }) }),
  });
}

async function expectSameSize(model: nn.Module, peer?: Peer): Promise<void> {
  const ours = model.parameters().reduce((sum, p) => sum + p.size, 0);
  const theirs = (await peer?.ask({ do: 'encoder', repeat: 1, ...sizes }))?.parameters ?? ours;
  if (ours !== theirs) throw new Error(`the encoders differ: ${ours} parameters here, ${theirs} in the peer`);
}

/** Reads a file of 256 MB and sums every tensor, against Node reading the same bytes into a buffer. */
async function safetensors(rounds: number): Promise<Measurement> {
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
      ours,
      peer: async () => secondsOf(() => readFileSync(path)),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** libtorch through TypeScript against eager PyTorch in Python. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  const { rounds } = options;
  setThreads(options.threads);
  const peer = Peer.start('engine', options);
  try {
    yield await gemm(256, 200, rounds, peer);
    yield await gemm(1024, 10, rounds, peer);
    yield await gemm(2048, 2, rounds, peer);
    yield await small(false, rounds, peer);
    yield await small(true, rounds, peer);
    yield await encoder(rounds, peer);
    yield await safetensors(rounds);
  } finally {
    await peer?.stop();
  }
}
