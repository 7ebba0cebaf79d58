import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYNTHETIC_DEFAULTS, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { freePort } from '@hidden-schema/torch/distributed/place';
import { type BenchOptions, inMemory, type Measurement, median } from './measure.ts';
import { Peer } from './peer.ts';

const processes = 2;
const steps = 10;
/** The paper's batch, cut in two; and a whole one for each process. */
const batches = [256, 512];
const goal = 1.7;

/** Ranks of one group, one thread each. */
async function startGroup(options: BenchOptions): Promise<Peer[]> {
  const where = {
    WORLD_SIZE: String(processes),
    MASTER_ADDR: '127.0.0.1',
    MASTER_PORT: String(await freePort()),
  };
  return Array.from({ length: processes }, (_, rank) => {
    const environment = { ...options.environment, ...where, RANK: String(rank) };
    return Peer.node('distributed-rank.ts', { ...options, environment });
  });
}

/** Sentences per second of two processes of one thread each, against one. */
export async function* run({ rounds, budget, ...given }: BenchOptions): AsyncGenerator<Measurement> {
  const options = { ...given, rounds, budget, threads: 1 };
  const folder = mkdtempSync(join(tmpdir(), 'hsn-bench-'));
  const corpus = join(folder, 'corpus');
  writeSyntheticCorpus({ ...SYNTHETIC_DEFAULTS, sentences: 20_000, length: 11 }, corpus);
  const one = Peer.node('distributed-rank.ts', options);
  const group = await startGroup(options);
  try {
    for (const [at, batch] of batches.entries()) {
      const part = budget.next(batches.length - at);
      const request = { corpus, batch, steps };
      const rates: [together: number[], alone: number[]] = [[], []];
      for (let round = 0; round <= rounds; round++) {
        const began = performance.now();
        const alone = await one.seconds(request);
        const together = Math.max(...(await Promise.all(group.map((rank) => rank.seconds(request)))));
        if (round === 0) continue;
        rates[0].push((batch * steps) / together);
        rates[1].push((batch * steps) / alone);
        if (!part.fits((performance.now() - began) / 1000)) break;
      }
      const oursMB = group.reduce((sum, rank) => sum + rank.peakMB(), 0);
      const memory = inMemory({ oursMB, peerMB: one.peakMB() });
      yield { ...line(batch, median(rates[0]), median(rates[1])), ...memory };
    }
  } finally {
    await Promise.all([one, ...group].map((peer) => peer.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

function line(batch: number, ours: number, peer: number): Measurement {
  const ratio = Number((ours / peer).toPrecision(4));
  return {
    bench: `${processes} processes of one thread (ours) and one (peer), synthetic step, K = 100, batch ${batch}`,
    unit: 'sentences/s',
    ours: Math.round(ours),
    peer: Math.round(peer),
    ratio,
    goal: `ratio >= ${goal}`,
    met: ratio >= goal,
    list: 7,
  };
}
