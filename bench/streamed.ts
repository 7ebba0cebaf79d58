import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setThreads } from '@hidden-schema/torch';
import { discover, prepare } from './discovered.ts';
import { type BenchOptions, costLine, type Measurement } from './measure.ts';
import { textsOf } from './passages.ts';

const sizes = [250_000, 1_000_000] as const;
/** How much more memory four times as many texts may take: their numbers are kept, their vectors are not. */
const most = 1.25;

/** Memory of discovery where vectors and points are read from disk: it must not grow as their number does. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    const peaks: number[] = [];
    for (const count of sizes) {
      const own = path.join(folder, `${count}`);
      fs.mkdirSync(own);
      const prepared = await prepare(own, differentTexts(count, options.corpus), false);
      prepared.vectors.free();
      const { seconds, peakMB } = await discover(prepared, options, 'run');
      fs.rmSync(own, { recursive: true });
      peaks.push(peakMB);
      yield costLine(`${count} vectors streamed: discovery`, 's', [seconds, null]);
      yield costLine(`${count} vectors streamed: memory`, 'MB', [peakMB, null]);
    }
    const [small, large] = peaks as [number, number];
    const what = `memory of discovery, ${sizes[1]} vectors (ours), ${most} times that of ${sizes[0]} (peer)`;
    yield costLine(what, 'MB', [large, most * small], 1);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Texts that come again get a number of their own, so that each has a vector of its own. */
function differentTexts(count: number, corpus: string | undefined): string[] {
  const some = textsOf(Math.min(count, 10_000), corpus);
  return Array.from({ length: count }, (_, at) => `${some[at % some.length]} number ${at}`);
}
