import { createInterface } from 'node:readline';
import { Replicas, readSyntheticCorpus, SyntheticTask, syntheticOptions } from '@hidden-schema/hsn';
import { setThreads } from '@hidden-schema/torch';
import { Group } from '@hidden-schema/torch/distributed/group';
import { placeOf } from '@hidden-schema/torch/distributed/place';

/** One process of a training, alone or in a group: answers with the seconds that `steps` updates took it. */
interface Request {
  corpus: string;
  batch: number;
  steps: number;
}

setThreads(Number(process.argv[2] ?? 1));
const place = placeOf(process.env);
const group = place && (await Group.open(place));
const replicas = new Replicas(group);
let current: { batch: number; trainer: SyntheticTask['trainer'] } | undefined;

function trainerOf({ corpus, batch }: Request): SyntheticTask['trainer'] {
  if (current?.batch === batch) return current.trainer;
  current?.trainer.free();
  const config = syntheticOptions.parse({ training: { batch, steps: 1_000_000 }, graph: { sweeps: 0 } });
  current = { batch, trainer: new SyntheticTask(config, readSyntheticCorpus(corpus), replicas).trainer };
  return current.trainer;
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  const trainer = trainerOf(request);
  await replicas.barrier();
  const start = performance.now();
  for (let step = 0; step < request.steps; step++) trainer.trainStep();
  process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - start) / 1000 })}\n`);
}
current?.trainer.free();
group?.close();
