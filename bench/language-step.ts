import { createInterface } from 'node:readline';
import { languageConfigSchema, makeNetwork } from '@hidden-schema/hsn';
import { decoderSource } from '@hidden-schema/hsn/tasks/language/build';
import type { TextBatch } from '@hidden-schema/text';
import { Generator, scope, setThreads } from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import { BertEncoder, bertConfigSchema } from '@hidden-schema/transformers';
import { flopsWithin } from './flops.ts';
import { secondsOf } from './measure.ts';
import { peakMB } from './peak-memory.ts';
import { profiledSteps } from './profiled.ts';

/** Our side of the language benchmark: a training step at the shapes of BERT-base and GPT-2 small, random weights. */
interface Request {
  do: 'step' | 'count' | 'profile';
  lengths: number[];
  /** Tokens that every sentence is padded to; the longest of the batch unless given. */
  width?: number;
}

const [bertVocabulary, gptVocabulary] = [30522, 50257];
setThreads(Number(process.argv[2] ?? 1));
const generator = new Generator(1);
const config = languageConfigSchema.parse({
  model: 'language',
  encoder: { frozen: false },
  decoder: { width: 768, layers: 12, heads: 12, longest: 140 },
});
const bert = new BertEncoder(
  bertConfigSchema.parse({
    model_type: 'bert',
    vocab_size: bertVocabulary,
    hidden_size: 768,
    num_hidden_layers: 12,
    num_attention_heads: 12,
    intermediate_size: 3072,
    max_position_embeddings: 512,
  }),
  generator,
);
const model = makeNetwork(
  config,
  {
    ...{ encoder: bert, frozen: false, decoderVocabulary: gptVocabulary, sentences: 42_000 },
    decoder: await decoderSource(config),
  },
  generator,
);
const parameters = [...model.namedParameters()];
const adam = new optim.Adam([{ parameters, rate: 1e-5, decay: 0.01 }], { decoupled: true });

/** Tokens are drawn by a fixed rule: what they are does not change the work. */
function padded(lengths: readonly number[], width: number, vocabulary: number) {
  const ids = Int32Array.from({ length: lengths.length * width }, (_, i) => (i * 7919 + 13) % vocabulary);
  return { ids, lengths: Int32Array.from(lengths), width };
}

function batchOf({ lengths, width = Math.max(...lengths) }: Request): TextBatch {
  return {
    rows: Int32Array.from(lengths.keys()),
    labels: new Int32Array(lengths.length),
    encoder: padded(lengths, width, bertVocabulary),
    decoder: padded(lengths, width, gptVocabulary),
  };
}

function step(batch: TextBatch): void {
  scope(() => {
    adam.zeroGrad();
    model.forward(batch, { step: 0 }).loss.backward();
    optim.clipGradients(
      parameters.map(([, tensor]) => tensor),
      1,
    );
    adam.step();
  });
}

function answer(request: Request): Record<string, number | string> {
  const batch = batchOf(request);
  const once = () => step(batch);
  switch (request.do) {
    case 'count':
      return { gflop: flopsWithin(once) / 1e9 };
    case 'profile':
      return { text: profiledSteps('language step', once) };
    case 'step':
      return { seconds: secondsOf(once) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const figures = answer(JSON.parse(line) as Request);
  const count = parameters.reduce((sum, [, { size }]) => sum + size, 0);
  process.stdout.write(`${JSON.stringify({ ...figures, peakMB: peakMB(), parameters: count })}\n`);
}
