import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ReproduceFlags } from './reproduce.ts';
import { print, say } from './terminal.ts';

/** Settings of a table in about an hour on two cores, and of one at the paper's walks on all tuples. */
const quick = ['tuples.heads=2000', 'training.steps=1500', 'warmStart.hold=1000'];
const full = [
  'training.steps=30000',
  'warmStart.steps=2000',
  'warmStart.sentences=20000',
  'warmStart.hold=20000',
];
/** Walks that the decoder has learned to read change slowly, as in experiments/reasoning. */
const slowly = 'training.encoderRate=1e-4';

/** Trains what Table 3 compares, each in a folder of --out; runs that are there and finished are kept. */
export async function reproduceTable3(flags: ReproduceFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { evaluateReasoning, table3Caption, table3Text } = await import('@hidden-schema/studies');
  if (!flags.corpus) throw new UserError('table3 needs tuples: give --corpus, a file or folder of ATOMIC');
  const sizes = [
    slowly,
    ...(flags.quick ? quick : full),
    ...(flags.steps ? [`training.steps=${flags.steps}`] : []),
  ];
  const { trainReasoning } = await import('./reason-train.ts');
  const folder = (name: string) => path.join(flags.out, name);
  const shared = { set: sizes, tuples: flags.corpus };
  await trainReasoning({ ...shared, part: 'network', out: folder('table3-hsn') });
  await trainReasoning({ ...shared, part: 'comet', out: folder('table3-comet') });
  for (const kind of ['lstm', 'transformer'])
    await trainReasoning({ part: 'path', run: folder('table3-hsn'), set: [`path.kind=${kind}`] });
  const table = await evaluateReasoning(folder('table3-hsn'), {
    comet: folder('table3-comet'),
    limit: flags.quick ? 500 : 5000,
    onProgress: (text) => say(`${text}\n`),
  });
  mkdirSync(flags.out, { recursive: true });
  writeFileSync(folder('table3.md'), `${table3Text(table, 'markdown')}\n${table3Caption(table)}`);
  writeFileSync(folder('table3.json'), `${JSON.stringify(table, null, 2)}\n`);
  print(`${table3Text(table, 'terminal')}\n${table3Caption(table)}written to ${folder('table3.md')}\n`);
}
