import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Inference } from '../src/server/inference.ts';

/** Lets a client leave once some tokens are written; gives how many were written after that. */
export async function tokensAfterLeaving(inference: Inference, written: number, seed = 1): Promise<number> {
  const left = new AbortController();
  const before = inference.tokens;
  const input = { walk: [1, 2], count: 20, temperature: 5, seed, maxTokens: 120, force: true };
  const writing = assert.rejects(inference.ask('generate', input, left.signal), { code: 'left' });
  while (inference.tokens - before < written) await setImmediate();
  left.abort();
  const atLeaving = inference.tokens;
  await writing;
  // Answered once the worker is free again.
  await inference.ask('reading', { text: 'the cat' });
  return inference.tokens - atLeaving;
}
