import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { PresetName } from '../reproduction/presets/preset.ts';
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

/** A flag as it is typed. */
export const spelled = (flag: string): string =>
  `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** What can be reproduced. */
export const reproducible: readonly string[] = [...Object.keys(used), ...Object.keys(sameAs)];

/** What is made for a name; refuses names that there are not, and flags that it would not look at. */
export async function checkFlags(name: string, flags: ReproduceFlags): Promise<string> {
  const { UserError } = await import('@hidden-schema/base');
  const made = Object.hasOwn(sameAs, name) ? sameAs[name]! : name;
  if (!Object.hasOwn(used, made))
    throw new UserError(`"${name}" cannot be reproduced: expected one of ${reproducible.join(', ')}`);
  const known: readonly string[] = [...used[made]!, 'out', 'write'];
  const unused = Object.keys(flags).find((flag) => !known.includes(flag));
  if (unused !== undefined)
    throw new UserError(`${name} does not use ${spelled(unused)}; it takes ${known.map(spelled).join(', ')}`);
  return made;
}

/** What --settings names: a table's own settings, which it has unless told, or a preset. */
export async function settingsFlag<Own extends string>(
  table: string,
  own: Own,
  given: string = own,
): Promise<Own | PresetName> {
  const { UserError } = await import('@hidden-schema/base');
  // Version 0.2 called the paper's so.
  if (given === 'paper' || given === 'written') return 'paper';
  if (given === 'authors' || given === own) return given as Own | 'authors';
  throw new UserError(`${table} takes --settings ${own}, paper or authors, got "${given}"`);
}

/** Whose settings a piece has; table1 without a preset is near the paper's. */
export function presetOf(made: string, { settings }: { settings?: string }): PresetName | 'near' | 'ours' {
  if (settings === 'authors') return 'authors';
  if (settings === 'paper' || settings === 'written') return 'paper';
  return made === 'table1' ? 'near' : 'ours';
}

/** What perplexity is estimated from: test sentences, walks and graphs of each. */
export interface Look {
  limit: number;
  walks: number;
  graphs: number;
}

const fullLook: Look = { limit: 2000, walks: 100, graphs: 10 };

/** As the flags say; where they say nothing, the sizes of a quick look with --quick, or those of a full one. */
export async function lookOf(flags: ReproduceFlags, quickLook: Look): Promise<Look> {
  const usual = flags.quick ? quickLook : fullLook;
  return {
    limit: (await wholeNumber('--limit', flags.limit)) ?? usual.limit,
    walks: (await wholeNumber('--walks', flags.walks)) ?? usual.walks,
    graphs: (await wholeNumber('--graphs', flags.graphs)) ?? usual.graphs,
  };
}

/** `NAME=PATH,NAME=PATH` as a flag gives it, each name once; `expected` says in a fault what was. */
export async function namedPaths(list: string, expected: string): Promise<[string, string][]> {
  const { UserError } = await import('@hidden-schema/base');
  const seen = new Set<string>();
  return list.split(',').map((part) => {
    const [name = '', ...rest] = part.trim().split('=');
    if (name === '' || rest.join('=') === '') throw new UserError(`--corpus has "${part}": ${expected}`);
    if (seen.has(name))
      throw new UserError(`--corpus has "${name}" twice; give each corpus a name of its own`);
    seen.add(name);
    return [name, rest.join('=')];
  });
}
