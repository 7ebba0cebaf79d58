import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { PaddedIds } from '@hidden-schema/text';
import { autocast, noGrad, scope, setThreads, Tensor } from '@hidden-schema/torch';
import { maskOfLengths, openPretrainedEncoder, type PretrainedEncoder } from '@hidden-schema/transformers';
import { encodeTexts } from '../packages/hsn/src/discovery/text-vectors.ts';
import {
  type BenchOptions,
  compare,
  type Measurement,
  noTime,
  rounded,
  secondsOf,
  unmeasured,
} from './measure.ts';
import { longest, writeMiniLm } from './minilm-folder.ts';
import { startOnnxPeer } from './onnx-peer.ts';
import { textsOf } from './passages.ts';
import { Peer } from './peer.ts';
import { profiledSteps } from './profiled.ts';
import { batchAt, sentenceLengths } from './sentence-lengths.ts';

const goal = { float32: 1.2, bfloat16: 2, cosine: 0.999 };
/** Texts of a round, and fewer where time is short. */
const [texts, fewTexts] = [256, 64];
const perBatch = 32;
const name = {
  sentences: 'encoding texts of 50 words with MiniLM, sentence-transformers (peer)',
  bfloat16: 'encoding texts of 50 words with MiniLM in bfloat16, sentence-transformers in float32 (peer)',
  onnx: `encoding with MiniLM, ${perBatch} sentences a batch, onnxruntime (peer)`,
};

/** Texts a second with the same weights: against sentence-transformers, in bfloat16 too, and against onnxruntime. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const opened = await openPretrainedEncoder();
  opened.encoder.train(false);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    await writeMiniLm(folder);
    yield* againstSentenceTransformers(opened, folder, options);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  yield* againstOnnx(opened, options);
}

/** Row-major vectors of texts. */
type Encode = (texts: readonly string[]) => Promise<Float32Array>;

function encodeWith(opened: PretrainedEncoder): Encode {
  return async (some) => {
    const vectors = await encodeTexts(some, opened, { longest });
    const numbers = vectors.toArray() as Float32Array;
    vectors.free();
    return numbers;
  };
}

/** The same encoder with products in bfloat16. */
function inBfloat16(opened: PretrainedEncoder): PretrainedEncoder {
  const { encoder } = opened;
  const plain = encoder.hidden.bind(encoder);
  encoder.hidden = (ids, mask) => autocast(() => plain(ids, mask)).to('float32');
  return opened;
}

async function* againstSentenceTransformers(
  opened: PretrainedEncoder,
  folder: string,
  options: BenchOptions,
): AsyncGenerator<Measurement> {
  const { budget, environment } = options;
  const peer = Peer.start('sentences', {
    ...options,
    environment: { ...environment, HSN_PEER_MODEL: folder },
  });
  const given = textsOf(budget.left() < 60 ? fewTexts : texts, options.corpus);
  const theirs = (await peer?.askWithin(budget.left(), { texts: given, vectors: true })) as
    | { vectors: number[][] }
    | undefined;
  if (peer && !theirs) {
    yield unmeasured(name.sentences, 'left out: sentence-transformers was not ready in its time', {
      list: 3,
    });
    return;
  }
  const compared = { given, peer, expected: theirs?.vectors.flat() };
  try {
    yield await encodingLine(name.sentences, encodeWith(opened), compared, {
      ...options,
      budget: budget.next(3),
    });
    yield await inBfloat16Line(compared, { ...options, budget: budget.next(2) });
  } finally {
    await peer?.stop();
  }
}

async function inBfloat16Line(compared: Compared, options: BenchOptions): Promise<Measurement> {
  if (!hasBfloat16())
    return unmeasured(name.bfloat16, 'left out: this processor has no products in bfloat16', { list: 3 });
  return encodingLine(
    name.bfloat16,
    encodeWith(inBfloat16(await openPretrainedEncoder())),
    compared,
    options,
  );
}

interface Compared {
  given: readonly string[];
  peer: Peer | undefined;
  /** The peer's vectors, one after the other; ours in float32 would be the measure without one. */
  expected: readonly number[] | undefined;
}

async function encodingLine(
  bench: string,
  encode: Encode,
  { given, peer, expected }: Compared,
  { rounds, budget }: BenchOptions,
): Promise<Measurement> {
  const own = await encode(given);
  const least = expected && leastCosine(own, expected, given.length);
  const line = await compare({
    bench,
    unit: 'texts/s',
    scale: { throughput: given.length },
    goal: { ratio: bench === name.bfloat16 ? goal.bfloat16 : goal.float32 },
    list: 3,
    rounds,
    budget,
    ours: async () => {
      const began = performance.now();
      await encode(given);
      return (performance.now() - began) / 1000;
    },
    beside: peer,
    peer: peer && (() => peer.seconds({ texts: given })),
  });
  if (least === undefined) return line;
  const close = least >= goal.cosine;
  const note = `least cosine to the peer's vectors ${least.toFixed(5)}${close ? '' : `, ${goal.cosine} is asked`}`;
  return { ...line, met: line.met && close, note };
}

/** Of rows of unit length. */
function leastCosine(ours: Float32Array, theirs: readonly number[], rows: number): number {
  const width = ours.length / rows;
  let least = 1;
  for (let row = 0; row < rows; row++) {
    let cosine = 0;
    for (let at = row * width; at < (row + 1) * width; at++) cosine += ours[at]! * theirs[at]!;
    least = Math.min(least, cosine);
  }
  return least;
}

/** Whether the processor multiplies bfloat16 by itself; elsewhere it is slower than float32. */
function hasBfloat16(): boolean {
  return /\b(avx512_bf16|amx_bf16|bf16)\b/.test(fs.readFileSync('/proc/cpuinfo', 'utf8'));
}

/** The encoder alone, on the treebank's lengths in batches as they are grouped. */
async function* againstOnnx(opened: PretrainedEncoder, options: BenchOptions): AsyncGenerator<Measurement> {
  if (!options.budget.fits(10)) return yield noTime(name.onnx, 3);
  const { encoder } = opened;
  const lengths = await sentenceLengths(options.corpus);
  const batches = [0.1, 0.3, 0.5, 0.7, 0.9].map((q) => paddedBatch(batchAt(lengths, q, perBatch)));
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
    bench: name.onnx,
    unit: 'sentences/s',
    scale: { throughput: perBatch * batches.length },
    goal: { ratio: goal.float32 },
    list: 3,
    rounds: options.rounds,
    budget: options.budget,
    ours,
    beside: peer,
    peer: peer && (() => peer.seconds(request)),
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

/** Where the time of a batch of 32 sentences of 64 tokens goes. */
export async function profile(options: BenchOptions): Promise<string> {
  setThreads(options.threads);
  const { encoder } = await openPretrainedEncoder();
  encoder.train(false);
  const { ids, lengths, width } = paddedBatch(new Array<number>(perBatch).fill(64));
  return profiledSteps('MiniLM, 32 sentences of 64 tokens', () =>
    scope(() =>
      noGrad(() =>
        encoder.hidden(Tensor.fromArray(ids, [lengths.length, width]), maskOfLengths(lengths, width)),
      ),
    ),
  );
}
