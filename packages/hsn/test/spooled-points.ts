// Discovers symbols among random points that lie on disk; prints the most memory that was resident, in MB. Run with --expose-gc.
import { Generator, randn, scope, setThreads } from '@hidden-schema/torch';
import { unitRows } from '../src/discovery/dictionary.ts';
import { fitDictionary } from '../src/discovery/fit.ts';
import { RowSpool } from '../src/discovery/scratch.ts';

setThreads(1);
const count = Number(process.argv[2]);
const width = 256;
/** Collects what nobody holds as blocks are read, so that what is resident is what is held. */
class CollectedSpool extends RowSpool {
  override rows(from: number, to: number) {
    globalThis.gc?.({ type: 'minor' });
    return super.rows(from, to);
  }
}
const points = new CollectedSpool({ count, width, first: 0, end: count, memory: 4 << 20 });
const generator = new Generator(1);
const atOnce = 4096;
for (let first = 0; first < count; first += atOnce)
  scope(() => {
    globalThis.gc?.({ type: 'minor' });
    points.add(unitRows(randn([Math.min(atOnce, count - first), width], generator)));
  });
const sizes = { symbols: 8, length: 2, clusterRounds: 1, clusterStarts: 1, seedingPoints: 1000 };
const stages: string[] = [];
await fitDictionary(points, {
  ...{ ...sizes, mostDiffused: 4000 },
  onStage: ({ stage }) => stages.push(stage),
});
points.free();
const megabytes = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ megabytes, onDisk: points.onDisk, stages }));
