import type { ReproduceFlags } from './reproduce.ts';

type Flag = Exclude<keyof ReproduceFlags, 'out'>;

const ofRuns: readonly Flag[] = ['run', 'corpus', 'quick', 'json'];

/** What each table reads, besides --out. */
const used: Readonly<Record<string, readonly Flag[]>> = {
  table1: ['quick', 'seeds', 'paperSeeds', 'steps', 'paperSteps', 'lstmSteps', 'sentences', 'only', 'corpus'],
  table2: ['quick', 'steps', 'corpus', 'systems', 'set'],
  table3: ['quick', 'steps', 'corpus'],
  curves: ['quick', 'seeds'],
  topics: ['corpus', 'symbols', 'length', 'seeds', 'limit', 'peers', 'json'],
  figure3: ofRuns,
  figure4: ofRuns,
  'table-graph': ofRuns,
  'table-attention': [...ofRuns, 'words'],
  interpolations: ofRuns,
};

/** What can be reproduced. */
export const reproducible: readonly string[] = Object.keys(used);

/** Refuses names that there are not, and flags that the table would not look at. */
export async function checkFlags(name: string, flags: ReproduceFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  if (!Object.hasOwn(used, name))
    throw new UserError(`"${name}" cannot be reproduced: expected one of ${reproducible.join(', ')}`);
  const spelled = (flag: string) => `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const known: readonly string[] = [...used[name]!, 'out'];
  const unused = Object.keys(flags).find((flag) => !known.includes(flag));
  if (unused !== undefined)
    throw new UserError(`${name} does not use ${spelled(unused)}; it takes ${known.map(spelled).join(', ')}`);
}
