import type { Candidate, CandidateOptions, CometCandidate } from '@hidden-schema/hsn';
import type { Command } from 'commander';
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
  $ hsn reason generate comet "PersonX goes home" --count 3 COMET writes without walks; the beam is one of words
`;

export function register(parent: Command): void {
  parent
    .command('generate')
    .description('Write objects that may follow an event, with the walks they were written from.')
    .argument('<run>', 'run folder of a network with a path model, or of COMET')
    .argument('<event>', 'such as "PersonX goes home"')
    .option(
      '--relation <names>',
      'relations with commas between (default: all)',
      (value: string, all: string[]) => [...all, ...value.split(',')],
      [],
    )
    .option('--path <kind>', 'lstm or transformer (default: transformer where there is one)')
    .option('--search <how>', 'greedy, sample or beam', 'beam')
    .option('--count <n>', 'walks to try; of COMET, objects to find (default: 5)')
    .option('--temperature <t>', 'of the words; 0 takes the best', '0')
    .option('--walk-temperature <t>', 'sample: of the walks (default: 1)')
    .option('--seed <n>', "draws (default: the run's)")
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(generate);
}

async function generate(run: string, event: string, flags: ReasonGenerateFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { openReasoner } = await import('@hidden-schema/hsn');
  const options = await searching(flags);
  const { path } = flags;
  if (path !== undefined && path !== 'lstm' && path !== 'transformer')
    throw new UserError(`--path takes lstm or transformer, got ${path}`);
  const comet = await openComet(run, flags);
  if (comet) return printFound(event, await cometFound(comet, event, flags, options), flags);
  const reasoner = await openReasoner(run, path ? { path } : {});
  const relations = flags.relation.length > 0 ? flags.relation : reasoner.relations;
  const found = new Map<string, Candidate[]>();
  for (const relation of relations) found.set(relation, await reasoner.candidates(event, relation, options));
  printFound(event, found, flags);
}

/** COMET in a run folder; nothing where it holds a network. */
async function openComet(run: string, { path, walkTemperature }: ReasonGenerateFlags) {
  const { UserError } = await import('@hidden-schema/base');
  const hsn = await import('@hidden-schema/hsn');
  if (!hsn.tuplesConfig(hsn.Run.open(run).config, `the run ${run}`).baseline) return undefined;
  const strange = path !== undefined ? '--path' : walkTemperature !== undefined ? '--walk-temperature' : '';
  if (strange !== '') throw new UserError(`${strange} is for walks, and ${run} is COMET, which has none`);
  return hsn.openReasoning(run);
}

async function cometFound(
  opened: NonNullable<Awaited<ReturnType<typeof openComet>>>,
  event: string,
  flags: ReasonGenerateFlags,
  options: CandidateOptions,
): Promise<Map<string, CometCandidate[]>> {
  const { cometCandidates } = await import('@hidden-schema/hsn');
  const found = new Map<string, CometCandidate[]>();
  for (const relation of flags.relation.length > 0 ? flags.relation : opened.relations)
    found.set(relation, await cometCandidates(opened, event, relation, options));
  return found;
}

function printFound(
  event: string,
  found: ReadonlyMap<string, readonly Shown[]>,
  { json }: ReasonGenerateFlags,
): void {
  if (json) print(`${JSON.stringify({ event, candidates: Object.fromEntries(found) }, null, 2)}\n`);
  else for (const [relation, all] of found) print(shown(relation, all));
}

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

/** An object with its score, and the walk it was written from where there is one. */
type Shown = CometCandidate & Partial<Pick<Candidate, 'walk'>>;

function shown(relation: string, candidates: readonly Shown[]): string {
  const width = Math.max(...candidates.map(({ object }) => object.length));
  const lines = candidates.map(({ object, score, walk }) => {
    const half = (walk?.length ?? 0) / 2;
    const steps = walk ? `  ${walk.slice(0, half).join(' ')} | ${walk.slice(half).join(' ')}` : '';
    return `  ${oneLine(object).padEnd(width)}  ${score.toFixed(2).padStart(7)}${steps}\n`;
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
    walkTemperature: number(flags.walkTemperature ?? '1'),
    ...(count === undefined ? {} : { count }),
    ...(seed === undefined ? {} : { seed }),
  };
  checkSampling(options);
  return options;
}
