import { UserError } from '@hidden-schema/base';
import { Generator, scope } from '@hidden-schema/torch';
import type { PathChoice, PathKind, ReasoningConfig } from '../../../config/tuples.ts';
import { loadCheckpoint, whichCheckpoint } from '../../../run/checkpoint.ts';
import { Run } from '../../../run/run.ts';
import { tupleFrames } from '../build.ts';
import { type ObjectSearch, searchObjects } from '../object-search.ts';
import { type ObjectOptions, writeObjects } from '../objects.ts';
import { type OpenedReasoning, openReasoning, promptTable } from '../open.ts';
import type { TupleTokens } from '../tokens.ts';
import { TrainedWalks } from '../trained-walks.ts';
import { continueWalks, type SearchOptions } from '../walk-search.ts';
import { TupleWalks } from '../walks.ts';
import { CombinedPath } from './continuation.ts';
import { CountedPath } from './counted-path.ts';
import { PathModel } from './path.ts';
import { openPathContext } from './path-encoder.ts';
import { pathChoices, pathFolder, pathKinds } from './path-task.ts';
import type { WalkPath } from './walk-path.ts';

/** Opens a network's path model, or counts together with a network's. */
async function openPath(
  opened: OpenedReasoning,
  choice: PathChoice,
  walks: TupleWalks,
  which: { checkpoint?: string } = {},
): Promise<WalkPath> {
  const kinds = choice.split('+') as PathKind[];
  const parts: WalkPath[] = [];
  for (const kind of kinds)
    parts.push(kind === 'counts' ? openCounts(opened, walks) : await openNetwork(opened, kind, walks, which));
  return parts.length === 1 ? parts[0]! : new CombinedPath(parts);
}

/** The run of a path model; refused where the network was trained anew since. */
function pathRun(opened: OpenedReasoning, kind: PathKind): Run & { config: ReasoningConfig } {
  const directory = pathFolder(opened.run.directory, kind);
  const run = Run.open(directory);
  const { config } = run;
  if (config.model !== 'reasoning' || config.part !== 'path')
    throw new UserError(`${directory} holds no path model`);
  const network = run.record.network as { step: number; created: string } | undefined;
  if (network?.created !== opened.run.record.created || network.step !== opened.step)
    throw new UserError(
      `${directory} was trained on walks of another state of its network; train it again with: hsn reason train --part path --run ${opened.run.directory} --set path.kind=${kind} --force`,
    );
  return run as Run & { config: ReasoningConfig };
}

/** The training walks that counts are of, where a run has them. */
export function openTrainedWalks(opened: OpenedReasoning): TrainedWalks | undefined {
  if (!pathKinds(opened.run.directory).includes('counts')) return undefined;
  const { files } = pathRun(opened, 'counts');
  const { symbols, length } = opened.config;
  return TrainedWalks.load(files, { relations: opened.relations.length, symbols, length });
}

const openCounts = (opened: OpenedReasoning, walks: TupleWalks): CountedPath =>
  new CountedPath(openTrainedWalks(opened)!, walks, opened.relations);

async function openNetwork(
  opened: OpenedReasoning,
  kind: PathKind,
  walks: TupleWalks,
  { checkpoint = 'best' }: { checkpoint?: string },
): Promise<PathModel> {
  const run = pathRun(opened, kind);
  const { config } = run;
  const generator = new Generator(config.seed);
  const encoder = await openPathContext(config, opened, walks, generator);
  const model = new PathModel(config, encoder, walks, generator);
  scope(() => model.load(loadCheckpoint(run, whichCheckpoint(checkpoint)).model));
  return model.train(false);
}

export interface CandidateOptions extends ObjectOptions {
  /** How second halves are found: `beam` unless given. */
  how?: SearchOptions['how'];
  /** Candidates: 5 unless given, 1 for greedy. */
  count?: number;
  /** sample: temperature of walks. */
  walkTemperature?: number;
  /** The symbols that walks begin with, up to a whole walk; each a link of the graph from the one before it. */
  along?: readonly number[];
  /** Several objects from each walk, searched for so; one by the writing options unless given. */
  words?: ObjectSearch;
}

/** An object that may follow, with the walk it was written from. */
export interface Candidate {
  object: string;
  /** z_{1:L}: the first half from the posterior of (s, r), the second from the path model. */
  walk: number[];
  /** log p(z_{L/2+1:L}|z_{1:L/2}, s, r) and log p(o|s, r, z). */
  walkLogProb: number;
  objectLogProb: number;
  /** log Σ_z p(z|s, r) p(o|s, r, z) over the walks that led to it, by which candidates are sorted. */
  score: number;
  /** Different walks that led to the same object; `walk` is the best of them. */
  walks: number;
}

/** A walk of a prompt, before its objects are written. */
interface Draft {
  /** Place of the prompt. */
  of: number;
  walk: number[];
  logProb: number;
}

/** Objects written from the walks of one prompt. */
function candidatesOf(
  prompt: number,
  drafts: readonly Draft[],
  written: readonly (readonly { text: string; logProb: number }[])[],
): Candidate[] {
  return drafts.flatMap(({ of, walk, logProb }, i) => {
    if (of !== prompt) return [];
    return written[i]!.map(({ text, logProb: objectLogProb }) => {
      const score = logProb + objectLogProb;
      return { object: text, walk, walkLogProb: logProb, objectLogProb, score, walks: 1 };
    });
  });
}

/** A network with a path model: step III of Section 6. */
export class Reasoner {
  readonly opened: OpenedReasoning;
  readonly kind: PathChoice;
  readonly path: WalkPath;
  readonly walks: TupleWalks;

  constructor(opened: OpenedReasoning, kind: PathChoice, path: WalkPath, walks: TupleWalks) {
    this.opened = opened;
    this.kind = kind;
    this.path = path;
    this.walks = walks;
  }

  get relations(): readonly string[] {
    return this.opened.relations;
  }

  /** Objects that may follow an event by a relation, the most probable first; equal ones are told once. */
  async candidates(event: string, relation: string, options: CandidateOptions = {}): Promise<Candidate[]> {
    const tokens = await promptTable(this.opened, [{ head: event, relation }]);
    const [found] = await this.continued(tokens, Int32Array.of(0), options);
    return found!;
  }

  /** The same for rows of a table. */
  async continued(
    tokens: TupleTokens,
    rows: Int32Array,
    options: CandidateOptions = {},
  ): Promise<Candidate[][]> {
    const { how = 'beam', count = how === 'greedy' ? 1 : 5, walkTemperature, words, ...rest } = options;
    const { along = [], ...writing } = rest;
    const { model, tokenizers, config } = this.opened;
    const own = tokens === this.walks.tokens ? this.walks : new TupleWalks(model, tokens);
    try {
      checkAlong(along, own);
      const seed = options.seed ?? config.seed;
      const reading = config.path.reading === 'drawn' ? new Generator(seed) : 'best';
      const first = along.length === 0 ? own.first(rows, reading) : own.firstAlong(rows, along);
      const search = {
        how,
        count,
        along: along.slice(own.half),
        ...(walkTemperature === undefined ? {} : { temperature: walkTemperature }),
        generator: new Generator(seed),
      };
      const found = continueWalks(this.path, { rows, first, tokens }, search);
      const drafts = found.flatMap((walks, i) =>
        walks.map(({ second, logProb }) => ({ of: i, walk: [...first[i]!, ...second], logProb })),
      );
      const prompts = drafts.map(({ of, walk }) => ({ prompt: tokens.prompt(rows[of]!), walk }));
      const frame = tupleFrames(tokenizers).decoder;
      const writer = { tokenizer: tokenizers.decoder, frame };
      const written = words
        ? await searchObjects(model, writer, prompts, { seed, ...words })
        : (await writeObjects(model, writer, prompts, writing)).map((one) => [one]);
      return Array.from(rows, (_, of) => ranked(candidatesOf(of, drafts, written)));
    } finally {
      if (own !== this.walks) own.free();
    }
  }

  free(): void {
    this.path.free();
    this.walks.free();
    this.opened.model.free();
  }
}

/** Refuses steps that a walk of this network cannot begin with. */
function checkAlong(along: readonly number[], { model, adjacency, half }: TupleWalks): void {
  const { symbols } = model.config;
  if (along.length > 2 * half)
    throw new UserError(`walks of this run have ${2 * half} steps, got ${along.length}`);
  const strange = along.find((symbol) => !(Number.isInteger(symbol) && symbol >= 0 && symbol < symbols));
  if (strange !== undefined) throw new UserError(`symbols are 0 to ${symbols - 1}, got ${strange}`);
  for (const [at, to] of along.slice(1).entries()) {
    const links = scope(() => adjacency.select(0, along[at]!).toNumbers());
    // From a symbol without links a walk goes anywhere.
    if (links[to] === 0 && links.some((there) => there > 0))
      throw new UserError(
        `no link leads from symbol ${along[at]} to ${to}; choose one of ${links.flatMap((there, k) => (there > 0 ? [k] : [])).join(', ')}`,
      );
  }
}

/** Each object once, with the best of its walks and the probability of all of them; sorted by that. */
function ranked(candidates: readonly Candidate[]): Candidate[] {
  const found = new Map<string, { best: Candidate; walks: Set<string>; sum: number }>();
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score)) {
    const key = candidate.walk.join();
    const known = found.get(candidate.object);
    if (!known) found.set(candidate.object, { best: candidate, walks: new Set([key]), sum: 1 });
    // The same walk drawn twice is one term of the sum.
    else if (!known.walks.has(key)) {
      known.walks.add(key);
      known.sum += Math.exp(candidate.score - known.best.score);
    }
  }
  return [...found.values()]
    .map(({ best, walks, sum }) => ({ ...best, score: best.score + Math.log(sum), walks: walks.size }))
    .sort((a, b) => b.score - a.score);
}

/** Opens a run of `hsn reason train` with its path model. */
export async function openReasoner(
  directory: string,
  { path, ...which }: { path?: PathChoice; checkpoint?: string } = {},
): Promise<Reasoner> {
  const opened = await openReasoning(directory, which);
  try {
    return await reasonerOf(opened, path);
  } catch (error) {
    opened.model.free();
    throw error;
  }
}

/** An opened network with a path model; of several the last of `pathChoices` unless one is named. */
export async function reasonerOf(opened: OpenedReasoning, named?: PathChoice): Promise<Reasoner> {
  const { directory } = opened.run;
  const kinds = pathChoices(directory);
  const kind = named ?? kinds.at(-1);
  if (kind === undefined || !kinds.includes(kind))
    throw new UserError(
      `${directory} has no ${kind ? `${kind} ` : ''}path model yet; train one with: hsn reason train --part path --run ${directory}`,
    );
  // No tuples yet: candidates bring their own.
  const walks = new TupleWalks(opened.model, await promptTable(opened, []));
  return new Reasoner(opened, kind, await openPath(opened, kind, walks), walks);
}
