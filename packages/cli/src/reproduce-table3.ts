import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { PathChoice, PathKind } from '@hidden-schema/hsn';
import type { ReproduceFlags } from './reproduce.ts';
import { print, say } from './terminal.ts';

interface Table3Sizes {
  network: readonly string[];
  path: readonly string[];
  /** Path models that are trained, and those that answer. */
  kinds: readonly PathKind[];
  paths: readonly PathChoice[];
  questions: number;
}

/** A table in a quarter of an hour on two cores, small models of few events; and one on all tuples. */
const quick: Table3Sizes = {
  network: [
    'tuples.heads=600',
    'symbols=100',
    'length=6',
    'decoder.width=128',
    'decoder.layers=2',
    'decoder.vocabularySize=3000',
    'training.steps=1000',
    'training.evaluateEvery=500',
  ],
  path: ['training.steps=200', 'training.evaluateEvery=100', 'path.hidden=128'],
  kinds: ['counts', 'lstm'],
  paths: ['counts', 'lstm', 'counts+lstm'],
  questions: 150,
};
const full: Table3Sizes = {
  network: ['symbols=100', 'length=8', 'training.steps=30000'],
  path: ['training.steps=10000'],
  kinds: ['counts', 'prior', 'lstm', 'transformer'],
  paths: ['counts', 'prior', 'lstm', 'transformer', 'counts+transformer'],
  questions: 5000,
};

/** Trains what Table 3 compares, each in a folder of --out; runs that are there and finished are kept. */
export async function reproduceTable3(flags: ReproduceFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { evaluateReasoning, table3Caption, table3Text } = await import('@hidden-schema/studies');
  if (!flags.corpus) throw new UserError('table3 needs tuples: give --corpus, a file or folder of ATOMIC');
  const sizes = flags.quick ? quick : full;
  const changes = [...(flags.steps ? [`training.steps=${flags.steps}`] : []), ...(flags.set ?? [])];
  const { trainReasoning } = await import('./reason-train.ts');
  const folder = (name: string) => path.join(flags.out, name);
  const shared = { set: [...sizes.network, ...changes], tuples: flags.corpus };
  await trainReasoning({ ...shared, part: 'network', out: folder('table3-hsn') });
  await trainReasoning({ ...shared, part: 'comet', out: folder('table3-comet') });
  await trainReasoning({ ...shared, part: 'comet', decoder: 'bart', out: folder('table3-bart') });
  for (const kind of sizes.kinds)
    await trainReasoning({
      part: 'path',
      run: folder('table3-hsn'),
      set: [...sizes.path, `path.kind=${kind}`],
    });
  const table = await evaluateReasoning(folder('table3-hsn'), {
    comet: folder('table3-comet'),
    bart: folder('table3-bart'),
    limit: sizes.questions,
    paths: sizes.paths,
    onProgress: (text) => say(`${text}\n`),
  });
  const caption = table3Caption(table);
  mkdirSync(flags.out, { recursive: true });
  writeFileSync(folder('table3.md'), `${table3Text(table, 'markdown')}\n${caption}`);
  writeFileSync(folder('table3.json'), `${JSON.stringify(table, null, 2)}\n`);
  print(`${table3Text(table, 'terminal')}\n${caption}written to ${folder('table3.md')}\n`);
}
