import type { PaddedIds } from '@hidden-schema/text';
import { Generator, noGrad, randint, scope, setThreads, Tensor } from '@hidden-schema/torch';
import {
  DEFAULT_ENCODER,
  Gpt2Decoder,
  generateSync,
  maskOfLengths,
  openPretrainedEncoder,
} from '@hidden-schema/transformers';
import {
  type BenchOptions,
  compare,
  costLine,
  type Measurement,
  median,
  Peer,
  rateLine,
  rounded,
  secondsOf,
} from './measure.ts';
import { startOnnxPeer } from './onnx-peer.ts';
import { batchAt, sentenceLengths } from './sentence-lengths.ts';

const sentences = 32;
/** What the authors pad every sentence to. */
const authorsWidth = 140;
const newTokens = 64;

/** Ratios 3, 5 and 6: training, encoding and generating with language models. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const lengths = await sentenceLengths(options.corpus);
  yield* training(lengths, options);
  yield* encoding(lengths, options);
  yield* generation(options);
}

/** Ratio 3: a step at the shapes of BERT-base and GPT-2 small, against eager PyTorch and against padding to 140. */
async function* training(lengths: readonly number[], options: BenchOptions): AsyncGenerator<Measurement> {
  const rounds = Math.min(options.rounds, 3);
  const request = { do: 'step', lengths: batchAt(lengths, 0.5, sentences) };
  const ours = Peer.node('language-step.ts', options);
  const peer = Peer.start('language', options);
  const times: [own: number[], theirs: number[]] = [[], []];
  let [own, theirs] = [await ours.ask(request), await peer?.ask(request)];
  expectSameSize(own, theirs);
  for (let round = 0; round < rounds; round++) {
    own = await ours.ask(request);
    theirs = await peer?.ask(request);
    times[0].push(own.seconds!);
    if (theirs) times[1].push(theirs.seconds!);
  }
  await peer?.stop();
  const typical = median(times[0]);
  const what = `language step, BERT-base and GPT-2 small, ${sentences} treebank sentences`;
  yield costLine(`${what}, eager PyTorch (peer)`, 's', typical, peer ? median(times[1]) : null, 1);
  yield costLine(`${what}: memory (ours), 12 GB (peer)`, 'MB', own.peakMB!, 12_288, 1);
  yield rateLine(`${what}`, 'sentences/s', sentences / typical, null);
  const { gflop } = await ours.ask({ ...request, do: 'count' });
  yield rateLine(`${what}: products`, 'GFLOP/s', gflop! / typical, null);
  const { seconds: wide } = await ours.ask({ ...request, width: authorsWidth });
  yield costLine(`${what}, ours padded to ${authorsWidth} (peer)`, 's', typical, wide!, 3);
  await ours.stop();
}

/** The two programs build the same model but for one bias of the walk's queries here and there: sizes within 1 %. */
function expectSameSize(own: Record<string, number>, theirs: Record<string, number> | undefined): void {
  if (theirs && Math.abs(own.parameters! / theirs.parameters! - 1) > 0.01)
    throw new Error(`the models differ: ${own.parameters} parameters here, ${theirs.parameters} in the peer`);
}

/** Ratio 5: MiniLM on the treebank's lengths, in batches as they are grouped, against onnxruntime. */
async function* encoding(lengths: readonly number[], options: BenchOptions): AsyncGenerator<Measurement> {
  const { encoder } = await openPretrainedEncoder(DEFAULT_ENCODER);
  encoder.train(false);
  const batches = [0.1, 0.3, 0.5, 0.7, 0.9].map((q) => paddedBatch(batchAt(lengths, q, sentences)));
  const request = {
    batches: batches.map(({ ids, ...rest }) => ({ ...rest, ids: [...ids], lengths: [...rest.lengths] })),
  };
  const encode = ({ ids, lengths: own, width }: PaddedIds): Tensor =>
    encoder.hidden(Tensor.fromArray(ids, [own.length, width]), maskOfLengths(own, width));
  const ours = () =>
    secondsOf(() => {
      for (const batch of batches) scope(() => noGrad(() => encode(batch).select(0, 0).sum().item()));
    });
  const peer = startOnnxPeer(options);
  if (peer) await expectSameStates(peer, request, () => encode(batches.at(-1)!));
  yield await compare({
    bench: `encoding with MiniLM, ${sentences} sentences a batch, onnxruntime (peer)`,
    unit: 'sentences/s',
    scale: { throughput: sentences * batches.length },
    goal: { ratio: 1 },
    rounds: options.rounds,
    ours,
    ...(peer && { peer: () => peer.seconds(request) }),
  });
  await peer?.stop();
}

/** Ours are fp16 weights read as float32, so the first number agrees to three digits or so. */
async function expectSameStates(
  peer: Peer,
  request: Record<string, unknown>,
  encode: () => Tensor,
): Promise<void> {
  const { first } = await peer.ask(request);
  const own = scope(() => noGrad(() => encode().reshape(-1).narrow(0, 0, 1).item()));
  if (Math.abs(own - first!) > 0.02)
    throw new Error(`the encoders differ: ${rounded(own)} here, ${rounded(first!)} in the peer`);
}

/** Token numbers by a fixed rule, above BERT's special ones. */
function paddedBatch(lengths: readonly number[]): PaddedIds {
  const width = Math.max(...lengths);
  const ids = Int32Array.from({ length: lengths.length * width }, (_, i) => 1000 + ((i * 7919) % 20_000));
  return { ids, lengths: Int32Array.from(lengths), width };
}

/** Ratio 6: 64 new tokens from GPT-2 small with random weights, with the cache of keys and values and without. */
async function* generation({ rounds }: BenchOptions): AsyncGenerator<Measurement> {
  const generator = new Generator(0);
  const decoder = new Gpt2Decoder({}, generator, { symbols: { symbols: 50 } });
  for (const batch of [1, 8, 32]) {
    const schema = randint(50, [batch, 5], generator).oneHot(50).to('float32');
    const prompts = Array.from({ length: batch }, () => [50256]);
    const seconds = (cached: boolean) =>
      secondsOf(() =>
        generateSync(decoder, { prompts, schema, maxNewTokens: newTokens, temperature: 0, cached }),
      );
    const given: [number[], number[]] = [[], []];
    for (let round = 0; round <= Math.min(rounds, 3); round++) {
      const pair = [seconds(true), seconds(false)] as const;
      if (round > 0) for (const i of [0, 1] as const) given[i].push(pair[i]);
    }
    schema.free();
    const [cached, plain] = given.map((times) => (batch * newTokens) / median(times)) as [number, number];
    const what = `generation, GPT-2 small, ${newTokens} new tokens, batch ${batch}`;
    yield rateLine(`${what}, without cache (peer)`, 'tokens/s', cached, plain, 5);
  }
  decoder.free();
}
