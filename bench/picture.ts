import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startExplorer } from '@hidden-schema/explorer';
import { discoveryDefaults, fitPointSpace, fitSymbols, toPoints } from '@hidden-schema/hsn';
import { setThreads, writeSafetensors } from '@hidden-schema/torch';
import { operatorTotals, startProfile, stopProfile } from '@hidden-schema/torch/profile';
import { whenOpened } from '../packages/explorer/test/requests.ts';
import { discover, discoverFile, type Ended, measuredProcess, type Prepared, prepare } from './discovered.ts';
import {
  type BenchOptions,
  boundLine,
  costLine,
  inMemory,
  type Measurement,
  median,
  unmeasured,
} from './measure.ts';
import { textsOf } from './passages.ts';
import { sideEnvironment } from './peer.ts';
import { totalsText } from './profiled.ts';

/** Texts that the goal is made for, and how many are taken where there is not the time to encode them. */
const [asked, few] = [10_000, 300];
/** Seconds that encoding 10 000 texts and BERTopic take on two slow cores. */
const wholeSeconds = 150;
const mostSeconds = 15;
/** Seconds from a file of texts to the explorer: with the encoder that is the default, and distilled. */
const fromFile = { whole: 60, fast: 15 };
const goal = 2;
const topics = fileURLToPath(new URL('peers/topics.py', import.meta.url));

/** Time to the first picture once texts are vectors, and BERTopic with its defaults on the same vectors. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const count = options.budget.fits(wholeSeconds) ? asked : few;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    const began = performance.now();
    const prepared = await prepare(folder, textsOf(count, options.corpus), true);
    const encoding = (performance.now() - began) / 1000;
    yield costLine(`first picture: encoding ${count} texts of 50 words, once`, 's', [encoding, null]);
    yield* pictures(prepared, count, options);
    yield* fileToExplorer(prepared, count, options);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function* pictures(
  prepared: Prepared,
  count: number,
  options: BenchOptions,
): AsyncGenerator<Measurement> {
  const ours: (Ended & { opening: number })[] = [];
  const theirs: Ended[] = [];
  const bertopic = options.python === undefined ? undefined : bertopicOf(prepared, options);
  let fault: string | undefined;
  for (let round = 0; round < Math.min(options.rounds, 3); round++) {
    const began = performance.now();
    ours.push(await pictured(prepared, options, `run-${round}`));
    if (bertopic && fault === undefined)
      await bertopic().then(
        (ended) => theirs.push(ended),
        (error: Error) => {
          fault = error.message;
        },
      );
    if (!options.budget.fits((performance.now() - began) / 1000)) break;
  }
  yield* lines(ours, theirs, count);
  if (fault !== undefined)
    yield unmeasured('first picture, BERTopic (peer)', `failed: ${fault}`, { list: 4 });
}

function* lines(
  ours: readonly (Ended & { opening: number })[],
  theirs: readonly Ended[],
  count: number,
): Generator<Measurement> {
  const typical = (of: readonly Ended[]) => median(of.map(({ seconds }) => seconds));
  const most = (of: readonly Ended[]) => Math.max(...of.map(({ peakMB }) => peakMB));
  const memory = inMemory({ oursMB: most(ours), ...(theirs.length > 0 ? { peerMB: most(theirs) } : {}) });
  const opening = median(ours.map((one) => one.opening));
  // At another size the goal is neither reached nor missed.
  const smaller =
    count === asked ? {} : { met: null, note: `${count} texts: no time for ${asked} in this budget` };
  const what = `${count} texts as vectors`;
  yield {
    ...boundLine(
      `first picture: ${what} to symbols, graph and explorer`,
      's',
      typical(ours) + opening,
      mostSeconds,
    ),
    ...{ ...inMemory({ oursMB: most(ours) }), list: 4, ...smaller },
  };
  const peer = theirs.length > 0 ? typical(theirs) : null;
  yield {
    ...costLine(`discovery of ${what}, BERTopic with its defaults (peer)`, 's', [typical(ours), peer], goal),
    ...{ ...memory, list: 4, ...smaller },
  };
}

/** The whole program from its start, and then the explorer until its page can be used. */
async function pictured(
  prepared: Prepared,
  options: BenchOptions,
  name: string,
): Promise<Ended & { opening: number }> {
  const { run, ...ended } = await discover(prepared, options, name);
  return { ...ended, opening: await secondsToOpen(run) };
}

/** Until the explorer's page of a run can be used. */
async function secondsToOpen(run: string): Promise<number> {
  const began = performance.now();
  const explorer = await startExplorer({ run });
  try {
    await whenOpened(explorer.url);
    return (performance.now() - began) / 1000;
  } finally {
    await explorer.close();
  }
}

/** Everything: reading, encoding, discovering, opening. The distilled encoder is made once for a model, and kept. */
async function* fileToExplorer(
  { folder, corpus }: Prepared,
  count: number,
  options: BenchOptions,
): AsyncGenerator<Measurement> {
  const smaller = count === asked ? {} : { met: null };
  const measured = async (name: string, cache: string, flags: readonly string[]) => {
    fs.rmSync(path.join(cache, 'vectors'), { recursive: true, force: true });
    const { seconds, peakMB, run } = await discoverFile({ folder, corpus, cache }, options, name, flags);
    return { seconds: seconds + (await secondsToOpen(run)), oursMB: peakMB };
  };
  const what = `${count} texts of 50 words from a file to the explorer`;
  const whole = await measured('whole', path.join(folder, 'whole-cache'), []);
  yield { ...boundLine(what, 's', whole.seconds, fromFile.whole), ...inMemory(whole), list: 3, ...smaller };
  const cache = path.join(folder, 'fast-cache');
  const first = await measured('fast-first', cache, ['--encoder', 'fast']);
  const fast = await measured('fast', cache, ['--encoder', 'fast']);
  const note = `the encoder was distilled before; the first time ${first.seconds.toFixed(1)} s`;
  const line = boundLine(`${what}, --encoder fast`, 's', fast.seconds, fromFile.fast);
  yield { ...line, ...inMemory(fast), list: 3, note, ...smaller };
}

/** BERTopic's fit alone counts, without the imports that come before it. */
function bertopicOf({ folder, corpus, vectors }: Prepared, options: BenchOptions): () => Promise<Ended> {
  const file = path.join(folder, 'vectors.safetensors');
  writeSafetensors(file, [['vectors', vectors]]);
  const flags = ['--texts', corpus, '--vectors', file, '--models', 'bertopic'];
  return async () => {
    const ended = await measuredProcess([options.python!, topics, ...flags], sideEnvironment(options));
    const line = ended.said.split('\n').find((text) => text.startsWith('{'));
    if (line === undefined) throw new Error(`it answered nothing: ${ended.said.slice(-200)}`);
    return { ...ended, seconds: (JSON.parse(line) as { seconds: number }).seconds };
  };
}

/** Where the time of discovery goes, on 10 000 texts whose vectors are means of their pieces' embeddings. */
export async function profile(options: BenchOptions): Promise<string> {
  setThreads(options.threads);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    const { vectors } = await prepare(folder, textsOf(asked, options.corpus), false);
    const space = fitPointSpace(vectors, undefined, { seed: 0, wordWeight: 0 });
    const points = toPoints(space, vectors, undefined);
    startProfile();
    const began = performance.now();
    await fitSymbols(points, { symbols: discoveryDefaults.symbols, length: discoveryDefaults.length });
    const seconds = (performance.now() - began) / 1000;
    return totalsText(`discovery of ${asked} texts, without words`, seconds, operatorTotals(stopProfile()));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
