import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type * as Torch from '@hidden-schema/torch';
import type * as Optim from '@hidden-schema/torch/optim';
import type * as Transformers from '@hidden-schema/transformers';
import { secondsOf } from './measure.ts';

/** The same work on the engine and the models of any version: that whose checkout the environment names. */
const checkout = process.env.HSN_BENCH_CHECKOUT ?? path.join(import.meta.dirname, '..');

const load = (file: string) => import(pathToFileURL(path.join(checkout, 'packages', file)).href);

/** Encoders and decoders had no package of their own before version 0.2.0. */
async function transformersOf(): Promise<typeof Transformers> {
  if (existsSync(path.join(checkout, 'packages/transformers'))) return load('transformers/src/index.ts');
  const parts = ['hsn/src/index.ts', 'hsn/src/encoder/pretrained.ts', 'hsn/src/encoder/text-encoder.ts'];
  return Object.assign({}, ...(await Promise.all(parts.map(load))));
}

const torch: typeof Torch = await load('torch/src/index.ts');
const { Generator, nn, noGrad, ones, rand, randint, randn, scope, setThreads, Tensor } = torch;
// Before version 0.4.0 optimisers came with the package's index.
const { optim = await load('torch/src/optim.ts') }: { optim?: typeof Optim } = torch as object;
setThreads(Number(process.argv[2] ?? 1));

type Work = () => void;

function product(n: number): Work {
  const generator = new Generator(0);
  const [a, b] = [rand([n, n], generator), rand([n, n], generator)];
  return () => noGrad(() => a.matmul(b).free());
}

/** 2000 sums of two short vectors, in scopes of 100 operators as in a small training step. */
function sums(): Work {
  const [a, b] = [ones([8]).requireGrad(), ones([8])];
  const hundred = () => {
    for (let i = 0; i < 100; i++) a.add(b);
  };
  return () => {
    for (let i = 0; i < 20; i++) scope(hundred);
  };
}

/** A training step of attention and a feed-forward network at the synthetic model's sizes. */
function block(): Work {
  const [batch, steps, width] = [256, 11, 256];
  const generator = new Generator(0);
  const attention = new nn.MultiHeadAttention(width, 2, generator, { dropout: 0.2 });
  const [rise, fall] = [new nn.Linear(width, width, generator), new nn.Linear(width, width, generator)];
  const parts = Object.entries({ attention, rise, fall });
  const parameters = parts.flatMap(([name, part]) =>
    [...part.namedParameters()].map(([own, tensor]): [string, Torch.Tensor] => [`${name}.${own}`, tensor]),
  );
  const adam = new optim.Adam([{ parameters, rate: 1e-4 }]);
  const x = randn([batch, steps, width], generator);
  return () => {
    adam.zeroGrad();
    scope(() => {
      const mixed = x.add(attention.forward(x));
      mixed
        .add(fall.forward(rise.forward(mixed).relu()))
        .sum()
        .backward();
    });
    adam.step();
  };
}

/** MiniLM on 32 sentences of 24 tokens. */
async function encoding(): Promise<Work> {
  const { DEFAULT_ENCODER, maskOfLengths, openPretrainedEncoder } = await transformersOf();
  const { encoder } = await openPretrainedEncoder(DEFAULT_ENCODER);
  encoder.train(false);
  const [count, width] = [32, 24];
  const ids = Int32Array.from({ length: count * width }, (_, i) => 1000 + ((i * 7919) % 20_000));
  const mask = maskOfLengths(new Int32Array(count).fill(width), width);
  return () =>
    scope(() =>
      noGrad(() =>
        encoder
          .hidden(Tensor.fromArray(ids, [count, width]), mask)
          .sum()
          .item(),
      ),
    );
}

/** New tokens for each of 8 texts, from GPT-2 small with random weights that reads walks of 5 symbols. */
async function writing(maxNewTokens: number): Promise<Work> {
  const { Gpt2Decoder, generateSync } = await transformersOf();
  const generator = new Generator(0);
  const decoder = new Gpt2Decoder({}, generator, { symbols: { symbols: 50 } });
  const schema = randint(50, [8, 5], generator).oneHot(50).to('float32');
  const prompts = Array.from({ length: 8 }, () => [50256]);
  return () => {
    generateSync(decoder, { prompts, schema, maxNewTokens, temperature: 0, cached: true });
  };
}

const works: Readonly<Record<string, () => Work | Promise<Work>>> = {
  product: () => product(1024),
  sums,
  block,
  encoding,
  writing: () => writing(32),
};
const made = new Map<string, Work>();

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, repeat } = JSON.parse(line) as { do: string; repeat: number };
  const work = made.get(name) ?? (await works[name]!());
  made.set(name, work);
  const seconds = secondsOf(() => {
    for (let i = 0; i < repeat; i++) work();
  });
  process.stdout.write(`${JSON.stringify({ seconds: seconds / repeat })}\n`);
}
