import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FuzzSummary } from '../packages/torch/test/operator-fuzz.ts';
import type { Fault, Tally } from './tally.ts';

export const program = fileURLToPath(new URL('../packages/hsn/test/kernel-fuzz.ts', import.meta.url));

/** Row 32: calls of every fused operator, in a process of their own, which memory touched wrongly would end. */
const operators = (tally: Tally): Promise<void> =>
  callOperators(tally, 32, [program, '--count', String(tally.count(100_000, 1000))]);

/** Counts the calls of a program that prints how they went. */
export async function callOperators(tally: Tally, row: number, words: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['--import', 'tsx', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  child.stderr
    .setEncoding('utf8')
    .on('data', (chunk: string) => process.stderr.write(chunk.replace(/^(?=.)/gm, `row ${row}: `)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  await tally.expect('the process lives to the end', () => assert.equal(signal ?? code, 0));
  if (out === '') return;
  const summary = JSON.parse(out) as FuzzSummary;
  tally.injected += summary.calls;
  tally.survived += summary.agreed + summary.refused;
  tally.notes.push(
    `${summary.operators} operators: ${summary.agreed} calls gave libtorch's values and gradients, ${summary.refused} a typed error`,
  );
}

export const faults: readonly Fault[] = [
  { row: 32, fault: 'arguments of fused operators', inject: operators },
];
