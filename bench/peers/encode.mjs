// MiniLM by onnxruntime: one JSON request a line in, one JSON answer a line out. The packages lie in a folder of their own.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = process.env.HSN_PEER_FOLDER;
const { InferenceSession, Tensor } = createRequire(join(folder, 'package.json'))('onnxruntime-node');
const session = await InferenceSession.create(process.env.HSN_PEER_MODEL, {
  intraOpNumThreads: Number(process.argv[2]),
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
});

function inputs({ ids, lengths, width }) {
  const shape = [lengths.length, width];
  const mask = lengths.flatMap((length) => Array.from({ length: width }, (_, t) => (t < length ? 1n : 0n)));
  return {
    input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
    attention_mask: new Tensor('int64', BigInt64Array.from(mask), shape),
    token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { batches } = JSON.parse(line);
  const feeds = batches.map(inputs);
  const start = process.hrtime.bigint();
  const spent = process.cpuUsage();
  let last;
  for (const feed of feeds) last = await session.run(feed);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const { user, system } = process.cpuUsage(spent);
  const [first] = Object.values(last)[0].data;
  process.stdout.write(`${JSON.stringify({ seconds, processor: (user + system) / 1e6, first })}\n`);
}
