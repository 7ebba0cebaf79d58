import { createInterface } from 'node:readline';
import { padded } from '@hidden-schema/text';
import { Generator, randint, scope, setThreads } from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import { Gpt2Decoder } from '@hidden-schema/transformers';
import { flopsWithin } from './flops.ts';
import { secondsOf } from './measure.ts';
import { profiledSteps } from './profiled.ts';

/** The decoder's stage: symbols and walks are given, GPT-2 small is trained to write the sentences, random weights. */
interface Request {
  do: 'step' | 'count' | 'profile';
  lengths: number[];
}

const [symbols, steps, vocabulary] = [50, 5, 50257];
setThreads(Number(process.argv[2] ?? 1));
const generator = new Generator(1);
const decoder = new Gpt2Decoder({}, generator, { symbols: { symbols } });
const parameters = [...decoder.namedParameters()];
const adam = new optim.Adam([{ parameters, rate: 1e-5, decay: 0.01 }], { decoupled: true });

/** Tokens are drawn by a fixed rule: what they are does not change the work. */
function batchOf(lengths: readonly number[]) {
  const sentences = lengths.map((length, row) =>
    Int32Array.from({ length }, (_, at) => ((row * 131 + at) * 7919 + 13) % vocabulary),
  );
  return { decoder: padded(sentences, { pad: 0 }) };
}

function step(batch: ReturnType<typeof batchOf>, sentences: number): void {
  scope(() => {
    adam.zeroGrad();
    const schema = randint(symbols, [sentences, steps], generator).oneHot(symbols).to('float32');
    const { perSentence } = decoder.logLikelihood(batch, { vectors: () => schema }, generator);
    perSentence.mean().neg().backward();
    optim.clipGradients(
      parameters.map(([, tensor]) => tensor),
      1,
    );
    adam.step();
  });
}

function answer({ do: what, lengths }: Request): Record<string, number | string> {
  const batch = batchOf(lengths);
  const once = () => step(batch, lengths.length);
  switch (what) {
    case 'count':
      return { gflop: flopsWithin(once) / 1e9 };
    case 'profile':
      return { text: profiledSteps(`decoder's stage, ${lengths.length} sentences`, once) };
    case 'step':
      return { seconds: secondsOf(once) };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line) as Request))}\n`);
