import type { PrepareOptions, Replicas, RunConfig, Task, TextInput } from '@hidden-schema/hsn';
import type { GroupConfig } from '@hidden-schema/torch';
import { LAUNCHED, LOST_CODE } from './processes.ts';
import { STOP_SIGNALS } from './stopping.ts';

/** What rank 0 gives the other ranks to train on: settings, where the corpus is, and what it drew from it. */
export interface Assignment {
  config: RunConfig;
  fingerprint: string;
  corpus?: string;
  texts?: TextInput & TextTerms & { tokenizer: string };
  tuples?: { input: string; tokenizer: string };
  /** A path model of the network in a run. */
  path?: { run: string; tuples?: string };
}

/** What is asked for of symbols, and the space that a run's were found in. */
export type TextTerms = Pick<
  PrepareOptions,
  'seeds' | 'chooseSymbols' | 'discovery' | 'onlyDiscover' | 'encoderFolder'
>;

/**
 * Trains in the group that the environment names, or alone. Other ranks than 0 follow; `lead` is for rank 0. All have
 * to agree on `terms`.
 */
export async function inGroup(
  lead: (replicas: Replicas) => Promise<void>,
  terms: () => Promise<GroupConfig>,
): Promise<void> {
  const { Replicas } = await import('@hidden-schema/hsn/train/replicas');
  const { Group, placeOf, RankLostError } = await import('@hidden-schema/torch');
  const place = placeOf(process.env);
  if (!place || place.size === 1) return lead(Replicas.alone);
  let group: Awaited<ReturnType<typeof Group.open>> | undefined;
  try {
    group = await Group.open(place, { terms: await terms() });
    if (group.rank === 0) await lead(new Replicas(group));
    else await followTraining(new Replicas(group));
  } catch (error) {
    if (!(error instanceof RankLostError)) {
      group?.fail(`ended: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
    if (process.env[LAUNCHED] === undefined) throw error;
    // The parent, which saw who ended and how, says so.
    process.exitCode = LOST_CODE;
  } finally {
    group?.close();
  }
}

/** Rank 0: what the others are to train on. */
export async function assign(replicas: Replicas, assignment: Assignment): Promise<void> {
  if (replicas.size === 1) return;
  // The others wait here without holding up their signals, however long the corpus took.
  await replicas.barrier();
  replicas.tell(assignment);
}

async function followTraining(replicas: Replicas): Promise<void> {
  const { follow } = await import('@hidden-schema/hsn/train/follow');
  const stop = new AbortController();
  const ask = () => stop.abort();
  for (const signal of STOP_SIGNALS) process.once(signal, ask);
  process.once('disconnect', ask);
  process.channel?.unref();
  await replicas.barrier();
  const assignment = replicas.tell<Assignment>();
  let own: OwnTask | undefined;
  try {
    own = await assignedTask(assignment, replicas, stop.signal);
    await follow(own.task, replicas, stop.signal);
  } catch (error) {
    // A rank that was asked to stop while it read the corpus has nothing to say: rank 0 speaks for all.
    if (!stop.signal.aborted || own) throw error;
  } finally {
    own?.close();
  }
}

/** A rank's own task, with what has to be closed after it. */
interface OwnTask {
  task: Task<unknown>;
  close(): void;
}

type CheckFingerprint = (found: string, where: string) => void;

async function assignedTask(
  assignment: Assignment,
  replicas: Replicas,
  signal: AbortSignal,
): Promise<OwnTask> {
  const { UserError } = await import('@hidden-schema/base');
  const { config, fingerprint, corpus, texts, tuples, path } = assignment;
  const check: CheckFingerprint = (found, where) => {
    if (found === fingerprint) return;
    throw new UserError(
      `rank ${replicas.rank} finds other sentences in ${where} than rank 0: copy the same corpus to all machines`,
    );
  };
  const own = { replicas, signal, check };
  if (texts) return textTask(config, texts, own);
  if (tuples) return tupleTask(config, tuples, own);
  if (path) return pathTask(config, path, own);
  const { syntheticConfig } = await import('@hidden-schema/hsn/config/settings');
  const { readSyntheticCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/reader');
  const { SyntheticTask } = await import('@hidden-schema/hsn/tasks/synthetic/task');
  const synthetic = syntheticConfig(config);
  const read = readSyntheticCorpus(corpus!, { seed: synthetic.seed });
  check(read.fingerprint, corpus!);
  return { task: new SyntheticTask(synthetic, read, replicas), close: () => {} };
}

/** What a rank's own task is made with. */
interface OwnRank {
  replicas: Replicas;
  signal: AbortSignal;
  check: CheckFingerprint;
}

async function tupleTask(
  config: Assignment['config'],
  { input, tokenizer: vocabulary }: NonNullable<Assignment['tuples']>,
  { replicas, check }: OwnRank,
): Promise<OwnTask> {
  const { tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const { prepareReasoning } = await import('@hidden-schema/hsn/tasks/tuples/prepare');
  const { ReasoningTask } = await import('@hidden-schema/hsn/tasks/tuples/task');
  const { tokenizerFromJson } = await import('@hidden-schema/text/tokenizer/tokenizer');
  const tokenizer = tokenizerFromJson(vocabulary, 'rank 0');
  const prepared = await prepareReasoning(tuplesConfig(config), input, { tokenizer });
  check(prepared.info.fingerprint, input);
  return { task: new ReasoningTask(prepared, replicas), close: () => {} };
}

async function pathTask(
  config: Assignment['config'],
  { run, tuples }: NonNullable<Assignment['path']>,
  { replicas, check }: OwnRank,
): Promise<OwnTask> {
  const { tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const { openReasoning, openTuples } = await import('@hidden-schema/hsn/tasks/tuples/open');
  const { PathTask, preparePath } = await import('@hidden-schema/hsn/path/path-task');
  const opened = await openReasoning(run);
  check(opened.run.record.corpus.fingerprint, run);
  const read = await openTuples(opened, tuples);
  const prepared = await preparePath(tuplesConfig(config), opened, read);
  return { task: new PathTask(prepared, replicas), close: () => opened.model.free() };
}

/** Texts are encoded and swept together, so they are compared with rank 0's before that. */
async function textTask(
  config: Assignment['config'],
  texts: NonNullable<Assignment['texts']>,
  { replicas, signal, check }: OwnRank,
): Promise<OwnTask> {
  const { prepareTextRun, textRunConfig } = await import('@hidden-schema/hsn/text-run');
  const { tokenizerFromJson } = await import('@hidden-schema/text/tokenizer/tokenizer');
  const {
    tokenizer: vocabulary,
    seeds,
    chooseSymbols,
    discovery,
    onlyDiscover,
    encoderFolder,
    ...source
  } = texts;
  const tokenizer = tokenizerFromJson(vocabulary, 'rank 0');
  const prepared = await prepareTextRun(textRunConfig(config), source, {
    ...{ tokenizer, seeds, discovery, encoderFolder, replicas, signal },
    chooseSymbols: chooseSymbols ?? false,
    onlyDiscover: onlyDiscover ?? false,
    onTexts: ({ info }) => check(info.fingerprint, texts.input),
  });
  return { task: prepared.task(replicas), close: () => prepared.close() };
}
