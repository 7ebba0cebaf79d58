import fs from 'node:fs';
import { setThreads, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import {
  encodeTexts,
  encoderTokens,
  meanVectors,
  batchesOfLikeLength,
} from '../packages/hsn/src/discovery/text-vectors.ts';
setThreads(Number(process.env.T ?? 1));
const opened = await openPretrainedEncoder();
for (const [, t] of opened.encoder.namedTensors()) t.requireGrad(false);
opened.encoder.train(false);
const texts = fs
  .readFileSync(process.env.F ?? '/root/data/dbpedia14/all.tsv', 'utf8')
  .split('\n')
  .filter(Boolean)
  .filter((_, i) => i % 50 === 0)
  .slice(0, 256)
  .map((l) => l.split('\t').at(-1)!);
const tokens = await encoderTokens(texts, opened, { longest: 256 });
console.log(
  'texts',
  texts.length,
  'tokens',
  tokens.reduce((a, t) => a + t.length, 0),
);
const plain = opened.encoder.vectors;
const only = process.env.ONLY;
const kinds: [string, () => void][] = (
  [
    [
      'padded',
      () => {
        (opened.encoder as any).vectors = undefined;
      },
    ],
    [
      'float32',
      () => {
        (opened.encoder as any).vectors = plain;
        opened.encoder.precision = 'float32';
      },
    ],
    [
      'bfloat16',
      () => {
        (opened.encoder as any).vectors = plain;
        opened.encoder.precision = 'bfloat16';
      },
    ],
    [
      'int8',
      () => {
        (opened.encoder as any).vectors = plain;
        opened.encoder.precision = 'int8';
      },
    ],
  ] as [string, () => void][]
).filter(([n]) => !only || only.split(',').includes(n));
const times: Record<string, number[]> = {},
  out: Record<string, Float32Array> = {};
const t0 = process.cpuUsage();
const tk = performance.now();
await encoderTokens(texts, opened, { longest: 256 });
console.log('tokenise ms', performance.now() - tk, process.cpuUsage(t0).user / 1000);
for (let round = 0; round < Number(process.env.R ?? 5); round++)
  for (const [name, set] of kinds) {
    set();
    if (round === 0) meanVectors(opened.encoder, tokens.slice(0, 2));
    const all = new Float32Array(texts.length * 384);
    const c0 = process.cpuUsage();
    for (const rows of batchesOfLikeLength(tokens)) {
      const m = meanVectors(
        opened.encoder,
        rows.map((r) => tokens[r]!),
      );
      rows.forEach((r, i) => all.set(m.subarray(i * 384, (i + 1) * 384), r * 384));
    }
    const { user, system } = process.cpuUsage(c0);
    (times[name] ??= []).push((user + system) / 1e6);
    out[name] = all;
  }
for (const [name, t] of Object.entries(times)) {
  let worst = 0,
    cos = 1,
    mean = 0;
  for (let r = 0; r < texts.length; r++) {
    let c = 0;
    for (let i = 0; i < 384; i++) {
      const a = out[name]![r * 384 + i]!,
        b = (out.padded ?? out[name]!)[r * 384 + i]!;
      worst = Math.max(worst, Math.abs(a - b));
      c += a * b;
    }
    cos = Math.min(cos, c);
    mean += c / texts.length;
  }
  t.sort((a, b) => a - b);
  console.log(
    name,
    'cpu s median',
    t[t.length >> 1]!.toFixed(3),
    'best',
    t[0]!.toFixed(3),
    'texts/s',
    (texts.length / t[t.length >> 1]!).toFixed(0),
    'worst',
    worst.toExponential(2),
    'cos',
    cos.toFixed(5),
    'mean',
    mean.toFixed(5),
  );
}
