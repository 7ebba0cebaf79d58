import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type PaddedIds, rowsOfPadded } from '@hidden-schema/text';
import {
  type EncoderPrecision,
  noGrad,
  packedProductsHere,
  scope,
  setThreads,
  Tensor,
} from '@hidden-schema/torch';
import {
  distilledPieces,
  maskOfLengths,
  openPretrainedEncoder,
  type PretrainedEncoder,
} from '@hidden-schema/transformers';
import { fitStatic, rarityOf } from '../packages/hsn/src/discovery/vectors/fit-static.ts';
import {
  encoderTokens,
  encodeTexts,
  type OpenedEncoder,
} from '../packages/hsn/src/discovery/vectors/text-vectors.ts';
import {
  type BenchOptions,
  compare,
  type Measurement,
  noTime,
  rounded,
  spentOn,
  unmeasured,
} from './measure.ts';
import { longest, writeMiniLm } from './minilm-folder.ts';
import { startOnnxPeer } from './onnx-peer.ts';
import { textsOf } from './passages.ts';
import { Peer } from './peer.ts';
import { profiledSteps } from './profiled.ts';
import { batchAt, sentenceLengths } from './sentence-lengths.ts';

/** Ratios to sentence-transformers and onnxruntime in float32, and the least cosine to their vectors. */
const goals = {
  float32: { ratio: 1.4, cosine: 0.99999 },
  bfloat16: { ratio: 2, cosine: 0.999 },
  int8: { ratio: 2.5, cosine: 0.995 },
} as const;
const onnxGoal = 1.2;
const fastGoal = 50;
/** Texts of a round, and fewer where time is short: turns are short, so that other work on the machine meets both sides. */
const [texts, fewTexts] = [96, 32];
const perBatch = 32;
/** Texts that the fast encoder is fitted on. */
const fitted = 300;
const name = {
  precision: (precision: EncoderPrecision) =>
    `encoding texts of 50 words with MiniLM in ${precision}, sentence-transformers in float32 (peer)`,
  fast: 'encoding texts of 50 words with MiniLM distilled and fitted (fast), sentence-transformers (peer)',
  onnx: `encoding with MiniLM, ${perBatch} sentences a batch, onnxruntime (peer)`,
};

/** Texts a second with the same weights: against sentence-transformers, in each precision and distilled, and onnxruntime. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const opened = await openPretrainedEncoder();
  freeze(opened);
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

function encodeWith(opened: OpenedEncoder): Encode {
  return async (some) => {
    const vectors = await encodeTexts(some, opened, { longest });
    const numbers = vectors.toArray() as Float32Array;
    vectors.free();
    return numbers;
  };
}

function freeze({ encoder }: PretrainedEncoder): void {
  encoder.train(false);
  for (const [, tensor] of encoder.namedTensors()) tensor.requireGrad(false);
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
    yield unmeasured(name.precision('float32'), 'left out: sentence-transformers was not ready in its time', {
      list: 3,
    });
    return;
  }
  const compared = { given, peer, expected: theirs?.vectors.flat() };
  try {
    for (const precision of ['float32', 'bfloat16', 'int8'] as const) {
      opened.encoder.precision = precision;
      const asked = { bench: name.precision(precision), ...goals[precision] };
      if (!packedProductsHere()[precision] && precision !== 'float32')
        yield unmeasured(asked.bench, 'left out: this processor has no such products', { list: 3 });
      else
        yield await encodingLine(asked, encodeWith(opened), compared, { ...options, budget: budget.next(3) });
    }
    opened.encoder.precision = 'float32';
    const fast = await fastEncoder(opened, options);
    const asked = { bench: name.fast, ratio: fastGoal, more: textsOf(50 * given.length, options.corpus) };
    yield await encodingLine(asked, encodeWith(fast), compared, { ...options, budget: budget.next(2) });
  } finally {
    await peer?.stop();
  }
}

/** Distilled, and fitted on other texts of the same kind than those that are measured. */
async function fastEncoder(opened: PretrainedEncoder, { corpus }: BenchOptions): Promise<OpenedEncoder> {
  const sample = textsOf(texts + fitted, corpus).slice(texts);
  const tokens = await encoderTokens(sample, opened, { longest });
  const vectors = await encodeTexts(sample, opened, { longest });
  const special = Object.values(opened.tokenizer.special).filter((id) => typeof id === 'number');
  const rarity = rarityOf(tokens, opened.encoder.vocabulary, special);
  const pieces = await distilledPieces(opened);
  const { encoder } = fitStatic({ texts: tokens, vectors, rarity, pieces }, opened.name);
  vectors.free();
  pieces.free();
  return { encoder, tokenizer: opened.tokenizer };
}

interface Compared {
  given: readonly string[];
  peer: Peer | undefined;
  /** The peer's vectors, one after the other; ours in float32 would be the measure without one. */
  expected: readonly number[] | undefined;
}

/** Ours reads `more` texts, all different, where those that the peer reads are too few to be timed. */
async function encodingLine(
  { bench, ratio, cosine, more }: { bench: string; ratio: number; cosine?: number; more?: string[] },
  encode: Encode,
  { given, peer, expected }: Compared,
  { rounds, budget, processorTime }: BenchOptions,
): Promise<Measurement> {
  const own = await encode(given);
  const least = expected && leastCosine(own, expected, given.length);
  const line = await compare({
    bench,
    unit: 'texts/s',
    scale: { throughput: given.length },
    goal: { ratio },
    list: 3,
    rounds,
    budget,
    ours: async () => {
      const spent = await spentOn({ processorTime }, async () => {
        await encode(more ?? given);
      });
      return (spent * given.length) / (more ?? given).length;
    },
    beside: peer,
    peer: peer && (() => secondsOfPeer(peer, { texts: given }, processorTime)),
  });
  if (least === undefined) return line;
  const close = cosine === undefined || least >= cosine;
  const note = `least cosine to the peer's vectors ${least.toFixed(5)}${close ? '' : `, ${cosine} is asked`}`;
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

/** The encoder alone, on the treebank's lengths in batches as they are grouped. */
async function* againstOnnx(opened: PretrainedEncoder, options: BenchOptions): AsyncGenerator<Measurement> {
  if (!options.budget.fits(10)) return yield noTime(name.onnx, 3);
  const { encoder } = opened;
  const lengths = await sentenceLengths(options.corpus);
  const batches = [0.1, 0.3, 0.5, 0.7, 0.9].map((q) => paddedBatch(batchAt(lengths, q, perBatch)));
  const request = {
    batches: batches.map(({ ids, ...rest }) => ({ ...rest, ids: [...ids], lengths: [...rest.lengths] })),
  };
  const states = ({ ids, lengths: own, width }: PaddedIds): Tensor =>
    encoder.hidden(Tensor.fromArray(ids, [own.length, width]), maskOfLengths(own, width));
  const encode = (batch: PaddedIds): Tensor => encoder.vectors(rowsOfPadded(batch)) ?? states(batch);
  const ours = () =>
    spentOn(options, () => {
      for (const batch of batches) scope(() => noGrad(() => encode(batch).select(0, 0).sum().item()));
    });
  const peer = startOnnxPeer(options);
  if (peer) await expectSameStates(peer, request, () => states(batches.at(-1)!));
  yield await compare({
    bench: name.onnx,
    unit: 'sentences/s',
    scale: { throughput: perBatch * batches.length },
    goal: { ratio: onnxGoal },
    list: 3,
    rounds: options.rounds,
    budget: options.budget,
    ours,
    beside: peer,
    peer: peer && (() => secondsOfPeer(peer, request, options.processorTime)),
  });
  await peer?.stop();
}

async function secondsOfPeer(
  peer: Peer,
  request: Record<string, unknown>,
  processorTime = false,
): Promise<number> {
  const { seconds, processor } = await peer.ask(request);
  return processorTime ? processor! : seconds!;
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
  const opened = await openPretrainedEncoder();
  freeze(opened);
  const batch = rowsOfPadded(paddedBatch(new Array<number>(perBatch).fill(64)));
  return profiledSteps('MiniLM, 32 sentences of 64 tokens', () =>
    scope(() => noGrad(() => opened.encoder.vectors(batch))),
  );
}
