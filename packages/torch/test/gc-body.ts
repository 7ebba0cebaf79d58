// Run by lifetime.test.ts in a process of its own: tensors outside every scope are left to the garbage collector.
import { setImmediate as turn } from 'node:timers/promises';
import { call, Generator, liveTensors, type Tensor, zeros } from '../src/index.ts';

const float32 = 6;

function drop(count: number): void {
  for (let i = 0; i < count; i++) zeros([10]);
}

/** With --expose-gc: what is dropped goes, what is held stays, what was freed by hand is not freed twice. */
async function collected(collect: () => void): Promise<Record<string, unknown>> {
  const held = zeros([3]);
  const before = liveTensors().tensors;
  drop(1000);
  for (let i = 0; i < 10; i++) new Generator(i);
  zeros([5]).free();
  const dropped = liveTensors().tensors - before;
  for (let i = 0; i < 10; i++) {
    collect();
    await turn();
  }
  return { dropped, left: liveTensors().tensors - before, held: held.toNumbers() };
}

/** Without it: 16 MB each, 16 GB in all, which V8 only knows of because it is told. */
async function pressed(): Promise<Record<string, unknown>> {
  let peak = 0;
  let last: Tensor | undefined;
  for (let i = 0; i < 1000; i++) {
    last = call('empty.memory_format', [1 << 22], float32);
    peak = Math.max(peak, liveTensors().bytes);
    await turn();
  }
  return { peakMB: peak / 1e6, alive: last!.alive };
}

const { gc } = globalThis as { gc?: () => void };
console.log(JSON.stringify(gc === undefined ? await pressed() : await collected(gc)));
