import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setThreads } from '@hidden-schema/torch';
import { discover, prepare } from './discovered.ts';
import { type BenchOptions, boundLine, inMemory, type Measurement } from './measure.ts';
import { textsOf } from './passages.ts';

/** Texts that the goal is made for, and how many where time is short. */
const [asked, few] = [100_000, 2000];
/** Seconds that writing, storing and discovering 100 000 texts take on two slow cores. */
const wholeSeconds = 150;
const [mostSeconds, mostMB] = [180, 2048];

/**
 * 100 000 texts discovered, once they are vectors. Speeches do not have so many passages, so that texts come more than
 * once, and vectors are means of pieces' embeddings: neither changes what is computed.
 */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const count = options.budget.fits(wholeSeconds) ? asked : few;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    const prepared = await prepare(folder, textsOf(count, options.corpus), false);
    prepared.vectors.free();
    const { seconds, peakMB } = await discover(prepared, options, 'run');
    const note = 'vectors are means of embeddings, not encoded texts';
    const told =
      count === asked
        ? { note }
        : { met: null, note: `${count} texts: no time for ${asked} in this budget; ${note}` };
    const memory = inMemory({ oursMB: peakMB });
    const what = `${count} texts discovered, after encoding`;
    yield { ...boundLine(what, 's', seconds, mostSeconds), ...memory, list: 5, ...told };
    yield { ...boundLine(`${what}: memory`, 'MB', peakMB, mostMB), list: 5, ...told };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
