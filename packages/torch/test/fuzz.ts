// npm run fuzz -- --count 1000000 --seed 1
// Expected: {"fuzz":"safetensors","inputs":1000000,...,"crashes":0}, in a minute or two on one core.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { liveTensors, openSafetensors, SafetensorsError } from '../src/index.ts';
import { parseHeader } from '../src/safetensors/header.ts';
import { dtypeBytes } from '../src/tensor-memory.ts';
import { type FuzzInput, fuzzInput } from './fuzz-inputs.ts';

export interface FuzzSummary {
  fuzz: 'safetensors';
  inputs: number;
  accepted: number;
  rejected: number;
  crashes: number;
  files: number;
  kinds: number;
  rules: string[];
  peakMemoryGrowthMB: number;
  seconds: number;
}

/** One input in so many goes through a real file; the rest through the header's parser. */
const fileShare = 100;
const batch = 10_000;
/** Far above what garbage between collections comes to, far below what a header that is believed would cost. */
const memoryLimitMB = 300;

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Every tensor of an accepted header must lie inside the data, and together they must fill it. */
function parse({ bytes }: FuzzInput): void {
  const { tensors, dataStart } = parseHeader(bytes, bytes.length);
  let total = 0;
  for (const { begin, bytes: length, shape, dtype } of tensors.values()) {
    demand(begin >= 0 && dataStart + begin + length <= bytes.length, 'a tensor outside the file');
    demand(
      shape.reduce((product, n) => product * n, dtypeBytes[dtype]) === length,
      'a length that is not the shape',
    );
    total += length;
  }
  demand(dataStart + total === bytes.length, 'tensors that do not cover the file');
}

function readFile({ bytes }: FuzzInput, path: string): void {
  writeFileSync(path, bytes);
  const before = liveTensors().tensors;
  const weights = openSafetensors(path);
  for (const name of weights.names.slice(0, 100)) {
    const tensor = weights.get(name);
    demand(tensor.toArray().length === tensor.size, 'a tensor without its data');
    tensor.free();
  }
  weights.close();
  demand(liveTensors().tensors === before, 'a tensor that was not freed');
}

function memoryMB(): number {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

/** Undefined when the input was accepted, else what was thrown. */
function attempt(input: FuzzInput, path: string | undefined): unknown {
  try {
    if (path === undefined) parse(input);
    else readFile(input, path);
    return undefined;
  } catch (error) {
    return error ?? new Error('nothing was thrown, but something was');
  }
}

export function fuzz(count: number, seed: number, report: (line: string) => void = () => {}): FuzzSummary {
  const folder = mkdtempSync(join(tmpdir(), 'hsn-fuzz-'));
  const started = performance.now();
  const baseline = memoryMB();
  const tensorsBefore = liveTensors().tensors;
  const kinds = new Set<string>();
  const rules = new Set<string>();
  const out = { inputs: count, accepted: 0, rejected: 0, crashes: 0, files: 0 };
  let peak = 0;
  for (let i = 0; i < count; i++) {
    const input = fuzzInput(seed, i);
    kinds.add(input.kind);
    const big = input.bytes.length > 100_000;
    // The place within each hundred moves on, so that every kind of input also meets a real file.
    const asFile = big || i % fileShare === Math.floor(i / fileShare) % fileShare;
    if (asFile) out.files++;
    const error = attempt(input, asFile ? join(folder, 'input.safetensors') : undefined);
    if (error === undefined) out.accepted++;
    else if (error instanceof SafetensorsError) {
      out.rejected++;
      rules.add(error.rule);
    } else {
      out.crashes++;
      report(
        `input ${i} of seed ${seed} (${input.kind}): ${error instanceof Error ? error.stack : String(error)}`,
      );
    }
    if (big || i % batch === batch - 1) peak = Math.max(peak, memoryMB() - baseline);
    if (i % (10 * batch) === 10 * batch - 1)
      report(`${i + 1} inputs, ${out.accepted} accepted, ${out.crashes} crashes`);
  }
  rmSync(folder, { recursive: true });
  demand(liveTensors().tensors === tensorsBefore, 'a tensor that outlived its file');
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const peakMemoryGrowthMB = Math.round(peak);
  return {
    fuzz: 'safetensors',
    ...out,
    kinds: kinds.size,
    rules: [...rules].sort(),
    peakMemoryGrowthMB,
    seconds,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string' } } });
  const summary = fuzz(Number(values.count ?? 1_000_000), Number(values.seed ?? 1), console.error);
  console.log(JSON.stringify(summary));
  if (summary.crashes > 0 || summary.peakMemoryGrowthMB > memoryLimitMB) process.exitCode = 1;
}
