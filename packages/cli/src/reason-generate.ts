import type { Candidate, CandidateOptions } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { knownPaths } from './reason-eval.ts';
import { print } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ReasonGenerateFlags {
  relation: string[];
  path?: string;
  search: string;
  count?: string;
  temperature?: string;
  walkTemperature?: string;
  seed?: string;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn reason generate run "PersonX goes home" --relation xWant
  $ hsn reason generate run "PersonX goes home" --relation xWant,xNeed --count 10 --search sample --seed 3
  $ hsn reason generate run "PersonX goes home" --json      all relations
`;

export function register(parent: Command): void {
  parent
    .command('generate')
    .description('Write objects that may follow an event, with the walks they were written from.')
    .argument('<run>', 'run folder of a network with a path model')
    .argument('<event>', 'such as "PersonX goes home"')
    .option(
      '--relation <names>',
      'relations with commas between (default: all)',
      (value: string, all: string[]) => [...all, ...value.split(',')],
      [],
    )
    .option(
      '--path <kind>',
      'counts, prior, lstm, transformer, or counts+ one of these (default: the last of those there are)',
    )
    .option('--search <how>', 'greedy, sample or beam', 'beam')
    .option('--count <n>', 'walks to try (default: 5)')
    .option('--temperature <t>', 'of the words; 0 takes the best', '0')
    .option('--walk-temperature <t>', 'sample: of the walks', '1')
    .option('--seed <n>', "draws (default: the run's)")
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(generate);
}

async function generate(run: string, event: string, flags: ReasonGenerateFlags): Promise<void> {
  const { openReasoner } = await import('@hidden-schema/hsn');
  const options = await searching(flags);
  const [path] = flags.path === undefined ? [] : await knownPaths(run, [flags.path]);
  const reasoner = await openReasoner(run, path ? { path } : {});
  const relations = flags.relation.length > 0 ? flags.relation : reasoner.relations;
  const found = new Map<string, Candidate[]>();
  for (const relation of relations) found.set(relation, await reasoner.candidates(event, relation, options));
  if (flags.json) print(`${JSON.stringify({ event, candidates: Object.fromEntries(found) }, null, 2)}\n`);
  else for (const [relation, all] of found) print(shown(relation, all));
}

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

function shown(relation: string, candidates: readonly Candidate[]): string {
  const width = Math.max(...candidates.map(({ object }) => object.length));
  const lines = candidates.map(({ object, score, walk }) => {
    const half = walk.length / 2;
    const steps = `${walk.slice(0, half).join(' ')} | ${walk.slice(half).join(' ')}`;
    return `  ${oneLine(object).padEnd(width)}  ${score.toFixed(2).padStart(7)}  ${steps}\n`;
  });
  return `${relation}\n${lines.join('')}`;
}

async function searching(flags: ReasonGenerateFlags): Promise<CandidateOptions> {
  const { UserError } = await import('@hidden-schema/base');
  const { checkSampling } = await import('@hidden-schema/transformers');
  const { search: how } = flags;
  if (how !== 'greedy' && how !== 'sample' && how !== 'beam')
    throw new UserError(`--search takes greedy, sample or beam, got ${how}`);
  const count = await wholeNumber('--count', flags.count);
  const seed = await wholeNumber('--seed', flags.seed, 0);
  const number = (text: string | undefined) => Number(text?.trim() || Number.NaN);
  const options: CandidateOptions = {
    how,
    temperature: number(flags.temperature),
    walkTemperature: number(flags.walkTemperature),
    ...(count === undefined ? {} : { count }),
    ...(seed === undefined ? {} : { seed }),
  };
  checkSampling(options);
  return options;
}
