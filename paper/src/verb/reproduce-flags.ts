import type { ReproduceFlags } from './reproduce.ts';

type Flag = Exclude<keyof ReproduceFlags, 'out'>;

const ofRuns: readonly Flag[] = ['run', 'corpus', 'quick', 'json'];
const ofTexts: readonly Flag[] = [
  ...(['quick', 'seeds', 'steps', 'corpus', 'models', 'settings', 'set'] as const),
  ...(['limit', 'walks', 'graphs'] as const),
];

/** What each table or figure reads, besides --out. */
const used: Readonly<Record<string, readonly Flag[]>> = {
  all: ['quick', 'corpus', 'only', 'set', 'settings'],
  table1: [
    ...(['quick', 'seeds', 'paperSeeds', 'baselineSeeds', 'steps', 'paperSteps', 'lstmSteps'] as const),
    ...(['sentences', 'only', 'corpus', 'priors', 'settings'] as const),
  ],
  table2: [...ofTexts, 'systems'],
  table3: ['quick', 'steps', 'corpus', 'set', 'settings'],
  table4: ofRuns,
  table7: [...ofRuns, 'words'],
  table8: ofRuns,
  table9: [...ofRuns, 'pairs', 'seed'],
  figure2: ofRuns,
  figure3: ofRuns,
  figure4: ofRuns,
  figure7: [...ofRuns, 'words'],
  figure11: ofRuns,
  curves: ['quick', 'seeds'],
  topics: [
    ...(['corpus', 'symbols', 'length', 'seeds', 'limit', 'peers', 'json'] as const),
    ...(['judge', 'referenceCorpus', 'subsamples'] as const),
  ],
};

/** Pieces of the paper that are made together with another one, and names of earlier versions. */
const sameAs: Readonly<Record<string, string>> = {
  table5: 'table1',
  table6: 'table2',
  table10: 'table9',
  figure5: 'figure4',
  figure6: 'figure4',
  figure8: 'figure7',
  figure9: 'figure7',
  figure10: 'figure7',
  'table-graph': 'table4',
  'table-attention': 'table7',
  interpolations: 'table9',
};

/** What can be reproduced. */
export const reproducible: readonly string[] = [...Object.keys(used), ...Object.keys(sameAs)];

/** What is made for a name; refuses names that there are not, and flags that it would not look at. */
export async function checkFlags(name: string, flags: ReproduceFlags): Promise<string> {
  const { UserError } = await import('@hidden-schema/base');
  const made = Object.hasOwn(sameAs, name) ? sameAs[name]! : name;
  if (!Object.hasOwn(used, made))
    throw new UserError(`"${name}" cannot be reproduced: expected one of ${reproducible.join(', ')}`);
  const spelled = (flag: string) => `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const known: readonly string[] = [...used[made]!, 'out'];
  const unused = Object.keys(flags).find((flag) => !known.includes(flag));
  if (unused !== undefined)
    throw new UserError(`${name} does not use ${spelled(unused)}; it takes ${known.map(spelled).join(', ')}`);
  return made;
}
