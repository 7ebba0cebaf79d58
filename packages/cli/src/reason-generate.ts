import { UserError } from '@hidden-schema/base/errors';
import type { CandidateOptions, CometCandidate } from '@hidden-schema/hsn';
import type { MixedCandidate } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { knownPaths } from './reason-eval.ts';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ReasonGenerateFlags {
  relation: string[];
  path?: string;
  search?: string;
  count?: string;
  walks?: string;
  along?: string;
  temperature?: string;
  walkTemperature?: string;
  seed?: string;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn reason generate run "PersonX goes home" --relation xWant -n 10
  $ hsn reason generate run "PersonX goes home" --relation xWant,xNeed --search sample --seed 3
  $ hsn reason generate run "PersonX goes home" --json      all relations
  $ hsn reason generate run "PersonX goes home" --relation xWant --along 48,29     walks that begin so
  $ hsn reason generate comet "PersonX goes home" -n 3      COMET writes without walks; the beam is one of words

Where the run has a mixture (--part mixture), answers are weighed objects of near training events and written ones; beneath
each stand its path, what each part counted (nats above the mean of the objects weighed) and the training events that have it.
Otherwise each object stands with the walk that it was written from: the first half says what (event, relation) is about, the second
what follows. Where the run has counts (--part path --set path.kind=counts), symbols are told in words, and beneath are
the training tuples whose walks have most steps in common with it.
`;

export function register(parent: Command): void {
  parent
    .command('generate')
    .description('Write different objects that may follow an event, each with its walk and what it is like.')
    .argument('<run>', 'run folder of a network with a path model, or of COMET')
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
    .option(
      '--search <how>',
      'mixture, greedy, sample or beam (default: mixture where the run has one and walks are free, else beam)',
    )
    .option('-n, --count <n>', 'different objects, at most (default: 5)')
    .option('--walks <n>', 'walks to write them from (default: as many as objects)')
    .option('--along <symbols>', 'symbols that every walk begins with, with commas between')
    .option('--temperature <t>', 'of the words; 0 takes the best (default: 0)')
    .option('--walk-temperature <t>', 'sample: of the walks (default: 1)')
    .option('--seed <n>', "draws (default: the run's)")
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(generate);
}

/** An object with its score, and the walk it was written from where there is one. */
type Shown = CometCandidate & Partial<MixedCandidate>;

async function generate(run: string, event: string, flags: ReasonGenerateFlags): Promise<void> {
  const { openReasoner } = await import('@hidden-schema/hsn/tasks/tuples/path/reasoner');
  const options = await searching(flags);
  const count = wholeNumber('--count', flags.count) ?? 5;
  const walks = wholeNumber('--walks', flags.walks) ?? count;
  const comet = await openComet(run, flags);
  if (comet) {
    const { cometCandidates } = await import('@hidden-schema/hsn/tasks/tuples/comet');
    const asked = { ...options, ...(options.how === 'greedy' ? {} : { count }) };
    const ask = (relation: string) => cometCandidates(comet, event, relation, asked);
    return printFound(event, await ofRelations(flags, comet.relations, ask), flags);
  }
  const mixed = await mixtureFound(run, event, flags, count);
  if (mixed) return printFound(event, mixed, flags);
  const [path] = flags.path === undefined ? [] : await knownPaths(run, [flags.path]);
  const reasoner = await openReasoner(run, path ? { path } : {});
  const { explainedCandidates, explainerOf } = await import('@hidden-schema/studies/reasoning/explained');
  const explainer = explainerOf(reasoner.opened);
  if (!explainer)
    say(
      `to see walks in words, count them first: hsn reason train --part path --run ${run} --set path.kind=counts\n`,
    );
  const asked = { ...options, count, walks, along: symbolsOf(flags.along) };
  const ask = (relation: string) => explainedCandidates({ reasoner, explainer }, { event, relation }, asked);
  printFound(event, await ofRelations(flags, reasoner.relations, ask), flags);
}

/** What is found by each relation that was named; by all that there are where none was. */
async function ofRelations<T>(
  { relation: named }: ReasonGenerateFlags,
  all: readonly string[],
  ask: (relation: string) => Promise<T[]>,
): Promise<Map<string, T[]>> {
  const found = new Map<string, T[]>();
  for (const relation of named.length > 0 ? named : all) found.set(relation, await ask(relation));
  return found;
}

/** Answers by the run's mixture; nothing where it has none, or flags ask for written ones. */
async function mixtureFound(
  run: string,
  event: string,
  flags: ReasonGenerateFlags,
  count: number,
): Promise<Map<string, MixedCandidate[]> | undefined> {
  const ofWriting = { path: flags.path, walks: flags.walks, along: flags.along, seed: flags.seed };
  const given = Object.entries(ofWriting).find(([, value]) => value !== undefined)?.[0];
  const drawn = flags.temperature !== undefined || flags.walkTemperature !== undefined;
  if (flags.search !== undefined && flags.search !== 'mixture') return undefined;
  if (flags.search === undefined && (given !== undefined || drawn)) return undefined;
  if (given !== undefined || drawn)
    throw new UserError(
      `--${given ?? 'temperature'} is for objects that are written, and a mixture weighs given ones`,
    );
  const { openReasoning } = await import('@hidden-schema/hsn/tasks/tuples/open');
  const { explainedMixture } = await import('@hidden-schema/studies/reasoning/explained-mixture');
  const { explainerOf } = await import('@hidden-schema/studies/reasoning/explained');
  const { openMixture } = await import('@hidden-schema/studies/reasoning/mixture-run');
  const opened = await openReasoning(run);
  const mixture = await openMixture(opened);
  if (!mixture && flags.search === undefined) return undefined;
  if (!mixture)
    throw new UserError(
      `${run} has no mixture yet; fit one with: hsn reason train --part mixture --run ${run}`,
    );
  const explainer = explainerOf(opened);
  return ofRelations(flags, opened.relations, (relation) =>
    explainedMixture({ mixture, explainer }, { event, relation }, count),
  );
}

function symbolsOf(text: string | undefined): number[] {
  if (text === undefined) return [];
  if (!/^\d{1,7}(,\d{1,7})*$/.test(text))
    throw new UserError(`--along takes symbols with commas between, such as 48,29; got ${text}`);
  return text.split(',').map(Number);
}

/** COMET in a run folder; nothing where it holds a network. */
async function openComet(run: string, { path, walks, along, walkTemperature }: ReasonGenerateFlags) {
  const { tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { openReasoning } = await import('@hidden-schema/hsn/tasks/tuples/open');
  if (!tuplesConfig(Run.open(run).config, `the run ${run}`).baseline) return undefined;
  const ofWalks = {
    '--path': path,
    '--walks': walks,
    '--along': along,
    '--walk-temperature': walkTemperature,
  };
  for (const [flag, value] of Object.entries(ofWalks))
    if (value !== undefined) throw new UserError(`${flag} is for walks, and ${run} is COMET, which has none`);
  return openReasoning(run);
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

function shown(relation: string, candidates: readonly Shown[]): string {
  const width = Math.max(0, ...candidates.map(({ object }) => object.length));
  const lines = candidates.map(({ object, score, walk = [], words, like = [], parts, events }) => {
    const half = walk.length / 2;
    const steps = walk.map((symbol, i) =>
      words ? `${symbol} ${words[i]!.join('/')}`.trim() : String(symbol),
    );
    const between = words ? ' → ' : ' ';
    const halves = [steps.slice(0, half), steps.slice(half)].map((some) => some.join(between));
    const path = steps.length > 0 ? `  ${halves.join(' | ')}` : '';
    const others = like.map(
      (tuple) =>
        `      like ${oneLine(tuple.event)} → ${oneLine(tuple.object)} (${tuple.same} of ${walk.length} steps)\n`,
    );
    if (parts && events)
      return `  ${oneLine(object).padEnd(width)}  ${score.toFixed(2).padStart(7)}\n${reasons({ path: pathOf(steps), parts, events })}`;
    return `  ${oneLine(object).padEnd(width)}  ${score.toFixed(2).padStart(7)}${path}\n${others.join('')}`;
  });
  return `${relation}\n${lines.join('')}`;
}

/** Both halves of a walk; a symbol that it stays at is told once. */
function pathOf(steps: readonly string[]): string {
  const moves = (some: readonly string[]) => some.filter((step, i) => step !== some[i - 1]).join(' → ');
  const half = steps.length / 2;
  return `${moves(steps.slice(0, half))} | ${moves(steps.slice(half))}`;
}

/** What speaks for an answer: its path in words, the parts in nats, the training events that have it. */
function reasons({
  path,
  parts,
  events,
}: Pick<MixedCandidate, 'parts' | 'events'> & { path: string }): string {
  const counted = Object.entries(parts).map(
    ([part, nats]) => `${part} ${nats < 0 ? '−' : '+'}${Math.abs(nats).toFixed(1)}`,
  );
  const behind = events.map(
    ({ event, share, same }) =>
      `      from ${oneLine(event)} (${(100 * share).toFixed(1)} % of the near events' weight, ${same} ${same === 1 ? 'step' : 'steps'} in common)\n`,
  );
  return `      path ${path}\n      parts ${counted.join(', ')}\n${behind.join('')}`;
}

async function searching(flags: ReasonGenerateFlags): Promise<CandidateOptions> {
  const { checkSampling } = await import('@hidden-schema/transformers/generation');
  const { search = 'beam' } = flags;
  const how = search === 'mixture' ? 'beam' : search;
  if (how !== 'greedy' && how !== 'sample' && how !== 'beam')
    throw new UserError(`--search takes mixture, greedy, sample or beam, got ${how}`);
  const seed = wholeNumber('--seed', flags.seed, 0);
  const number = (text: string | undefined) => Number(text?.trim() || Number.NaN);
  const options: CandidateOptions = {
    how,
    temperature: number(flags.temperature ?? '0'),
    walkTemperature: number(flags.walkTemperature ?? '1'),
    ...(seed === undefined ? {} : { seed }),
  };
  checkSampling(options);
  return options;
}
