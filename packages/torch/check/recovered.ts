import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runNode } from './run-tests.ts';

/** A graph hidden in sentences whose bags share most of their tokens, so that a token alone does not tell its node. */
const hidden = '--nodes 80 --tokens 90 --bag 2 --length 8 --sentences 6000 --seed 3'.split(' ');
const settings = ['seed=3', 'training.steps=60', 'training.batch=64', 'training.evaluateEvery=60'];

/** What a short training found: how many links, and a name of their set that other builds can be compared by. */
export interface Recovered {
  readonly links: number;
  readonly digest: string;
}

/** A short training with a fixed seed, by the program that users run, on the build of the engine that `env` names. */
export async function recoveredGraph(env: Record<string, string>): Promise<Recovered | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'hsn-recovered-'));
  const [corpus, run] = [join(folder, 'corpus'), join(folder, 'run')];
  const hsn = join(root, 'packages/cli/bin/hsn.js');
  const set = settings.flatMap((setting) => ['--set', setting]);
  try {
    for (const words of [
      ['synth', ...hidden, '--out', corpus],
      ['train', '--corpus', corpus, '--out', run, ...set],
    ]) {
      const [code] = await runNode([hsn, ...words], env, false);
      if (code !== 0) return undefined;
    }
    return recoveredFrom(readFileSync(join(run, 'graph.json'), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Links that are more probable than not; their probabilities may differ in the last digits. */
function recoveredFrom(graph: string): Recovered {
  const { links } = JSON.parse(graph) as { links: [from: number, to: number, probability: number][] };
  const found = links.filter(([, , probability]) => probability > 0.5).map(([from, to]) => `${from}-${to}`);
  const digest = createHash('sha256').update(found.sort().join()).digest('hex').slice(0, 16);
  return { links: found.length, digest };
}

/** How a line of the matrix tells it, and how it is read from there. */
export const recoveredText = ({ links, digest }: Recovered): string => `${links} links found (${digest})`;

export function recoveredIn(line: string): Recovered | undefined {
  const [, links, digest] = /(\d+) links found \((\w+)\)/.exec(line) ?? [];
  return digest === undefined ? undefined : { links: Number(links), digest };
}

/** What is wrong with the graphs that builds found, by name; nothing where all are the same. */
export function disagreement(found: ReadonlyMap<string, Recovered>): string | undefined {
  const all = [...found];
  const [first] = all;
  if (!first || all.every(([, { digest }]) => digest === first[1].digest)) return undefined;
  return `the same seed finds other links: ${all.map(([name, { links, digest }]) => `${name} ${links} (${digest})`).join(', ')}`;
}
