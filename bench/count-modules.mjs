// With `node --import`: notes the address of every module that is loaded, a line each, in the file HSN_BENCH_MODULES.
import { appendFileSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Hooks run in a thread of their own, which reads this file again.
if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  appendFileSync(process.env.HSN_BENCH_MODULES, `${url}\n`);
  return next(url, context);
}
