import { jsonText, Random, UserError } from '@hidden-schema/base';
import type { PathKind } from '@hidden-schema/hsn/config/tuples';
import { RunFiles } from '@hidden-schema/hsn/run/run-files';
import { type OpenedReasoning, openReasoning, runTuples } from '@hidden-schema/hsn/tasks/tuples/open';
import { pathFolder, pathKinds } from '@hidden-schema/hsn/tasks/tuples/path/path-task';
import { reasonerOf } from '@hidden-schema/hsn/tasks/tuples/path/reasoner';
import { prefixesOf } from '@hidden-schema/hsn/tasks/tuples/tuples';
import { recallAt } from '../measures/recall.ts';
import { type AnswerPool, AnswerPools, answerParts } from './answer-pools.ts';
import { mostAnswers, type Question } from './answers.ts';
import { type MemoryOptions, openMemory } from './event-memory.ts';
import { type MixtureKind, mixedObjects, mixtureKinds } from './mixture.ts';
import { fitMixture, type MixtureWeights } from './mixture-fit.ts';

const FILE = 'analysis/mixture.json';
/** Valid questions that weights are fitted on unless said, and those that are read at a time. */
const FITTED_ON = 800;
const AT_ONCE = 100;

/** What is kept of fitted mixtures, in the folder of the counted path model. */
interface StoredMixture {
  /** The network's checkpoint that they were fitted for. */
  step: number;
  /** What answers are remembered from; nothing was said of it in earlier versions. */
  memory?: MemoryOptions;
  /** The network's path model among the parts. */
  learned?: PathKind;
  questions: number;
  weights: Partial<Record<MixtureKind, MixtureWeights>>;
}

/** A run's mixtures, ready to answer. */
export interface AnswerMixture {
  pools: AnswerPools;
  weights: StoredMixture['weights'];
}

const filesOf = (directory: string): RunFiles => new RunFiles(pathFolder(directory, 'counts'));

/** Path models that are networks, of which the last trained kind is taken. */
const networkOf = (directory: string): PathKind | undefined =>
  pathKinds(directory)
    .filter((kind) => kind !== 'counts')
    .at(-1);

async function poolsOf(
  opened: OpenedReasoning,
  { learned, memory = {} }: Pick<StoredMixture, 'learned' | 'memory'>,
  comet?: OpenedReasoning,
): Promise<AnswerPools> {
  const reasoner = await reasonerOf(opened, 'counts');
  const network = learned === undefined ? undefined : await reasonerOf(opened, learned);
  return new AnswerPools(reasoner, await openMemory(opened, memory), {
    ...(network ? { learned: network.path } : {}),
    ...(comet ? { comet } : {}),
  });
}

/** Whether mixtures were fitted for a run. */
export function storedMixture(opened: OpenedReasoning): StoredMixture | undefined {
  const { directory } = opened.run;
  if (!pathKinds(directory).includes('counts')) return undefined;
  const stored = filesOf(directory).readJson<StoredMixture>(FILE);
  if (!stored) return undefined;
  const whole = typeof stored.weights === 'object' && stored.weights?.neighbours?.shared !== undefined;
  if (!whole) throw new UserError(`${directory}: its mixture is damaged; ${fitAgain(directory)}`);
  const gone = Object.values(stored.weights)
    .flatMap(({ parts }) => parts as readonly string[])
    .find((part) => !(answerParts as readonly string[]).includes(part));
  if (gone !== undefined)
    throw new UserError(
      `${directory}: its mixture was fitted by an earlier version, with the part "${gone}" that is no more; ${fitAgain(directory)}`,
    );
  if (stored.step !== opened.step)
    throw new UserError(
      `${directory}: its mixture is of another state of the network; ${fitAgain(directory)}`,
    );
  return stored;
}

const fitAgain = (directory: string) =>
  `fit it again with: hsn reason train --part mixture --run ${directory}`;

/** Opens the mixtures of a run; those with COMET only where it is given. */
export async function openMixture(
  opened: OpenedReasoning,
  comet?: OpenedReasoning,
): Promise<AnswerMixture | undefined> {
  const stored = storedMixture(opened);
  if (!stored) return undefined;
  const kinds = (Object.keys(stored.weights) as MixtureKind[]).filter(
    (kind) => comet || !stored.weights[kind]!.parts.includes('comet'),
  );
  const weights = Object.fromEntries(kinds.map((kind) => [kind, stored.weights[kind]!]));
  return { pools: await poolsOf(opened, stored, comet), weights };
}

/** Pools of many questions, some at a time. */
export async function manyPools(
  pools: AnswerPools,
  questions: readonly Question[],
  onProgress?: (done: number, total: number) => void,
): Promise<AnswerPool[]> {
  const out: AnswerPool[] = [];
  onProgress?.(0, questions.length);
  for (let first = 0; first < questions.length; first += AT_ONCE) {
    out.push(...(await pools.of(questions.slice(first, first + AT_ONCE))));
    onProgress?.(out.length, questions.length);
  }
  return out;
}

export interface FittedMixture {
  questions: number;
  recall: Partial<Record<MixtureKind, number>>;
  weights: StoredMixture['weights'];
}

/** Fits the weights of all mixtures on valid questions, and keeps them in the run. */
export async function trainMixture(
  run: string,
  {
    comet,
    memory = {},
    limit = FITTED_ON,
    onProgress,
  }: {
    comet?: string;
    memory?: MemoryOptions;
    limit?: number;
    onProgress?: (done: number, total: number) => void;
  } = {},
): Promise<FittedMixture> {
  const opened = await openReasoning(run);
  if (opened.config.baseline) throw new UserError(`${run} is COMET, which has no walks`);
  const other = comet === undefined ? undefined : await openReasoning(comet);
  if (other && !other.config.baseline)
    throw new UserError(`${comet} has symbols; expected COMET, trained with --part comet`);
  const learned = networkOf(opened.run.directory);
  const network = learned === undefined ? {} : { learned };
  // Valid events are asked here, so that they cannot be remembered yet.
  const pools = await poolsOf(opened, { ...network, memory: { ...memory, splits: 'train' } }, other);
  const questions = validQuestions(opened, limit);
  const found = await manyPools(pools, questions, onProgress);
  const weights: StoredMixture['weights'] = {};
  const recall: FittedMixture['recall'] = {};
  for (const kind of Object.keys(mixtureKinds) as MixtureKind[]) {
    if (!other && (mixtureKinds[kind] as readonly string[]).includes('comet')) continue;
    const parts = mixtureKinds[kind].filter((part) => part !== 'learned' || learned !== undefined);
    weights[kind] = fitMixture(found, parts);
    recall[kind] = recallOf(found, weights[kind]);
  }
  const stored = { step: opened.step, memory, ...network, questions: found.length, weights };
  filesOf(opened.run.directory).store({ [FILE]: jsonText(JSON.parse(JSON.stringify(stored))) });
  return { questions: found.length, recall, weights };
}

/** Mean recall@10 in the order of the mixture. */
function recallOf(pools: readonly AnswerPool[], weights: MixtureWeights): number {
  const scores = pools.map((pool) => {
    const texts = mixedObjects(pool, weights).map(({ object }) => object);
    return recallAt(mostAnswers, texts, pool.references);
  });
  return scores.reduce((sum, one) => sum + one, 0) / scores.length;
}

/** (s, r) of valid events with their objects, drawn by the run's seed. */
function validQuestions(opened: OpenedReasoning, limit: number): Question[] {
  const { table, splits } = runTuples(opened, undefined, { none: 'drop' });
  const all = prefixesOf(table, splits.valid);
  return new Random(opened.config.seed).shuffle([...all]).slice(0, limit);
}
