import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { textVectors } from '@hidden-schema/hsn';
import type { Tensor } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import type { BenchOptions } from './measure.ts';
import { longest } from './minilm-folder.ts';
import { peakMB } from './peak-memory.ts';
import { sideEnvironment } from './peer.ts';

/** Milliseconds between two looks at a process's memory. */
const lookMs = 50;

export interface Ended {
  seconds: number;
  peakMB: number;
  /** What it printed on stdout and stderr. */
  said: string;
}

/** Runs a program to its end, and says how long it took and the most memory that it had. */
export async function measuredProcess(
  [command, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let [said, most] = ['', 0];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      said += `${line}\n`;
    });
  const timer = setInterval(() => {
    most = Math.max(most, peakNow(child.pid));
  }, lookMs);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    const seconds = (performance.now() - began) / 1000;
    if (code !== 0)
      throw new Error(`${args.join(' ')} ended with ${code}: ${said.trim().split('\n').at(-1)}`);
    return { seconds, peakMB: most, said };
  } finally {
    clearInterval(timer);
  }
}

function peakNow(pid: number | undefined): number {
  try {
    return pid === undefined ? 0 : peakMB(pid);
  } catch {
    // It has ended between two looks.
    return 0;
  }
}

/** The `hsn` of this checkout. */
export const hsn = fileURLToPath(new URL('../packages/cli/bin/hsn.js', import.meta.url));

/** Texts as a corpus, with their vectors in a cache as if they had been encoded before. */
export interface Prepared {
  folder: string;
  corpus: string;
  cache: string;
  /** [N, D] */
  vectors: Tensor;
}

/**
 * Writes texts and fills the store of vectors for them. `whole` reads them with all of MiniLM; else a text's vector is
 * the mean of its pieces' embeddings, which costs little and is as wide and as spread: for speed it is all the same.
 */
export async function prepare(folder: string, texts: readonly string[], whole: boolean): Promise<Prepared> {
  const [corpus, cache] = [path.join(folder, 'texts.txt'), path.join(folder, 'cache')];
  fs.writeFileSync(corpus, texts.map((text) => `${text}\n`).join(''));
  const { encoder, tokenizer } = await openPretrainedEncoder();
  if (!whole) {
    encoder.hidden = (ids) => encoder.embeddings.word_embeddings.forward(ids);
    encoder.vectors = () => undefined;
  }
  const vectors = await textVectors(texts, { encoder, tokenizer }, { cache, longest });
  encoder.free();
  return { folder, corpus, cache, vectors };
}

/** `hsn train --stage discover` on a file of texts, with its own folder of caches. */
export async function discoverFile(
  { folder, corpus, cache }: Omit<Prepared, 'vectors'>,
  options: BenchOptions,
  name: string,
  flags: readonly string[] = [],
): Promise<Ended & { run: string }> {
  const run = path.join(folder, name);
  const env = { ...sideEnvironment(options), HSN_CACHE: cache };
  const all = ['--corpus', corpus, '--stage', 'discover', '--out', run, '--threads', `${options.threads}`];
  return { ...(await measuredProcess([process.execPath, hsn, 'train', ...all, ...flags], env)), run };
}

/** Likewise, on texts whose vectors are stored. */
export async function discover(
  prepared: Prepared,
  options: BenchOptions,
  name: string,
): Promise<Ended & { run: string }> {
  const ended = await discoverFile(prepared, options, name);
  if (!/were in the cache/.test(ended.said))
    throw new Error(
      'vectors were encoded again, though they had been stored: the time would be that of encoding',
    );
  return ended;
}
