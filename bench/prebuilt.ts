import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setThreads } from '@hidden-schema/torch';
import { here } from '../packages/torch/setup/main.ts';
import { readPrebuilt } from '../packages/torch/src/engine-files.ts';
import { TARBALLS } from '../packaging/packages.ts';
import { discover, prepare } from './discovered.ts';
import { type BenchOptions, costLine, type Measurement, median, unmeasured } from './measure.ts';
import { textsOf } from './passages.ts';
import { Peer } from './peer.ts';
import { childrenSeconds } from './processor-time.ts';
import { batchAt, sentenceLengths } from './sentence-lengths.ts';
import { walkSizes } from './walk.ts';

/** What the prebuilt engine may be slower than the compiled one and still count as no slower. */
const leastRatio = 0.97;
/** Texts to discover symbols in: enough that sweeps take most of the time. */
const texts = 5000;

type Request = Readonly<Record<string, unknown>>;
/** The prebuilt engine and the compiled one. */
type Sides = readonly [prebuilt: BenchOptions, compiled: BenchOptions];

/**
 * The engine of `npm run package` beside the one that this checkout compiled, in turns. Times are the processor's, so
 * that they hold on a busy machine too; take --threads 1, since threads that wait cost time as well.
 */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  const folder = path.join(TARBALLS, `engine-${process.platform}-${process.arch}`);
  const prebuilt = readPrebuilt(folder);
  if (prebuilt === undefined) {
    yield unmeasured('prebuilt', 'left out: no engine in packaging/out; npm run package makes it');
    return;
  }
  const { version } = JSON.parse(fs.readFileSync(path.join(here.build, 'info.json'), 'utf8')) as {
    version: string;
  };
  const withAddon = (addon: string): BenchOptions => ({
    ...options,
    environment: { ...options.environment, HSN_ADDON: addon },
  });
  const sides: Sides = [
    withAddon(path.join(folder, 'lib/torch.node')),
    withAddon(path.join(here.build, 'torch.node')),
  ];
  const versions = `libtorch ${prebuilt.manifest.libtorch} prebuilt, ${version} compiled (peer)`;
  const lengths = batchAt(await sentenceLengths(options.corpus), 0.5, 32);
  const encoding = { 'encoding with MiniLM, 32 sentences': { do: 'encoding', repeat: 5 } };
  yield* stepsOf('version-step.ts', encoding, sides, versions);
  yield* discovery(sides, versions);
  const walk = { ...walkSizes, symbols: 100, model: 'paper', repeat: 3 };
  yield* stepsOf('walk-step.ts', { "training step with the paper's graph, K = 100": walk }, sides, versions);
  const language = { 'training step, BERT-base and GPT-2 small, 32 sentences': { do: 'step', lengths } };
  yield* stepsOf('language-step.ts', language, sides, versions);
}

async function* stepsOf(
  script: string,
  requests: Readonly<Record<string, Request>>,
  sides: Sides,
  versions: string,
): AsyncGenerator<Measurement> {
  const [ours, theirs] = sides.map((side) => Peer.node(path.join(import.meta.dirname, script), side));
  for (const [name, request] of Object.entries(requests)) {
    const times: [number[], number[]] = [[], []];
    // Round 0 warms up and is not counted.
    for (let round = 0; round <= sides[0].rounds; round++)
      for (const [side, peer] of [ours!, theirs!].entries()) {
        const before = peer.processorSeconds();
        await peer.ask(request);
        if (round > 0) times[side]!.push((peer.processorSeconds() - before) / repeatsOf(request));
      }
    yield costLine(
      `${name}, ${versions}`,
      's of the processor',
      times.map(median) as [number, number],
      leastRatio,
    );
  }
  await Promise.all([ours!.stop(), theirs!.stop()]);
}

const repeatsOf = ({ repeat = 1 }: Request & { repeat?: unknown }): number => Number(repeat);

/** `hsn train --stage discover` on texts whose vectors are stored, as a whole process. */
async function* discovery(sides: Sides, versions: string): AsyncGenerator<Measurement> {
  const [{ threads, rounds, corpus }] = sides;
  setThreads(threads);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    const prepared = await prepare(folder, textsOf(texts, corpus), false);
    prepared.vectors.free();
    const times: [number[], number[]] = [[], []];
    for (let round = 0; round < Math.min(rounds, 3); round++)
      for (const [side, options] of sides.entries()) {
        const before = childrenSeconds();
        await discover(prepared, options, `run-${side}-${round}`);
        times[side]!.push(childrenSeconds() - before);
      }
    const medians = times.map(median) as [number, number];
    yield costLine(
      `${texts} texts discovered, after encoding, ${versions}`,
      's of the processor',
      medians,
      leastRatio,
    );
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
