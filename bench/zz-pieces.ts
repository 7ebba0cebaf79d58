import fs from 'node:fs';
import { setThreads } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { meanVectors } from '../packages/hsn/src/discovery/text-vectors.ts';
setThreads(1);
const { encoder } = await openPretrainedEncoder();
for (const [, t] of encoder.namedTensors()) t.requireGrad(false);
const out: Buffer[] = [];
const c0 = process.cpuUsage();
for (let first = 0; first < 30522; first += 1024) {
  const texts = Array.from({ length: Math.min(1024, 30522 - first) }, (_, i) =>
    Int32Array.of(101, first + i, 102),
  );
  out.push(Buffer.from(meanVectors(encoder, texts).slice().buffer));
}
fs.writeFileSync('/tmp/vec/pieces.f32', Buffer.concat(out));
console.log('cpu', process.cpuUsage(c0).user / 1e6);
