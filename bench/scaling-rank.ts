import fs from 'node:fs';
import { Replicas, readSyntheticCorpus, SyntheticTask, syntheticOptions } from '@hidden-schema/hsn';
import { Generator, randn, scope, setThreads, type Tensor } from '@hidden-schema/torch';
import { Group } from '@hidden-schema/torch/distributed/group';
import { placeOf } from '@hidden-schema/torch/distributed/place';
import { unitRows } from '../packages/hsn/src/discovery/dictionary.ts';
import { fitDictionary } from '../packages/hsn/src/discovery/fit.ts';
import { ownPart } from '../packages/hsn/src/discovery/point-source.ts';
import { RowSpool } from '../packages/hsn/src/discovery/scratch.ts';
import { sizes } from './scaling.ts';

/** Counts what is handed to the group. */
class CountedReplicas extends Replicas {
  bytes = 0;

  override sum(tensors: readonly Tensor[]): void {
    for (const { size, dtype } of tensors) this.bytes += size * (dtype === 'float64' ? 8 : 4);
    super.sum(tensors);
  }

  override broadcast(tensors: readonly Tensor[], root = 0): void {
    for (const { size } of tensors) this.bytes += 4 * size;
    super.broadcast(tensors, root);
  }
}

/** Bytes that went over this machine's loopback so far, of all processes: others' too, but for a namespace of its own. */
function wireBytes(): number {
  const line = fs
    .readFileSync('/proc/self/net/dev', 'utf8')
    .split('\n')
    .find((text) => text.trim().startsWith('lo:'));
  return Number(line?.split(':')[1]?.trim().split(/\s+/)[0] ?? 0);
}

const [, , corpus] = process.argv;
setThreads(1);
const group = await Group.open(placeOf(process.env)!);
const replicas = new CountedReplicas(group);
const { symbols, length, width, exchanged: count } = sizes;
const part = ownPart(count, replicas);
const points = new RowSpool({ count, width, ...part });
scope(() => points.add(unitRows(randn([part.end - part.first, width], new Generator(replicas.rank)))));
const stages: { stage: string; bytes: number; wire: number }[] = [];
let last = { bytes: 0, wire: wireBytes() };
await fitDictionary(points, {
  ...{ symbols, length, clusterRounds: 1, clusterStarts: 1, seedingPoints: 1000, replicas },
  onStage: ({ stage }) => {
    const now = { bytes: replicas.bytes, wire: wireBytes() };
    stages.push({ stage, bytes: now.bytes - last.bytes, wire: now.wire - last.wire });
    last = now;
  },
});
points.free();

const config = syntheticOptions.parse({ training: { batch: 256, steps: 1000 }, graph: { sweeps: 0 } });
const { trainer } = new SyntheticTask(config, readSyntheticCorpus(corpus!), replicas);
trainer.trainStep();
await replicas.barrier();
const before = wireBytes();
const steps = 4;
for (let step = 0; step < steps; step++) trainer.trainStep();
await replicas.barrier();
const parameters = trainer.model.parameters().reduce((sum, { size }) => sum + size, 0);
const training = { parameters, wire: (wireBytes() - before) / steps };
trainer.free();
if (replicas.leads) process.stdout.write(`${JSON.stringify({ stages, training })}\n`);
group.close();
