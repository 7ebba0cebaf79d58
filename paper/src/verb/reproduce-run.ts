import path from 'node:path';
import { say } from '@hidden-schema/cli/terminal';
import { trainShown } from '@hidden-schema/cli/training';
import type { Run } from '@hidden-schema/hsn/run/run';
import type { TextRunConfig } from '@hidden-schema/hsn/text-run';
import type { ReproduceFlags } from './reproduce.ts';

/** Sizes that train in minutes. */
const quickSettings = {
  symbols: 24,
  decoder: { width: 128, layers: 3, vocabularySize: 1500 },
  warmStart: { steps: 300, hold: 100 },
  training: { steps: 400, batch: 32, evaluateEvery: 100 },
};
const quickSentences = 4000;

/** The runs to look at: those given, or one trained now in the folder --out, kept for the next time. */
export async function runsOf(flags: ReproduceFlags): Promise<string[]> {
  const { UserError } = await import('@hidden-schema/base');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  if (flags.run !== undefined) {
    const runs = flags.run.split(',').map((folder) => folder.trim());
    if (flags.corpus !== undefined)
      throw new UserError('--run takes trained runs, --corpus trains one; give one of them');
    for (const run of runs) Run.open(run);
    return runs;
  }
  const out = path.join(flags.out, flags.quick ? 'run-quick' : 'run');
  const corpus = flags.corpus ?? path.join(flags.out, flags.quick ? 'words-quick' : 'words');
  if (trained(Run, out, corpus)) sayUsedAgain(out);
  else await train(flags, corpus, out);
  return [out];
}

/** Whether a run in a folder is finished, on the same corpus and, where they are given, with the same settings. */
function trained(Runs: typeof Run, out: string, corpus: string, config?: TextRunConfig): boolean {
  try {
    const run = Runs.open(out);
    if (config !== undefined && !sameSettings(run.config as TextRunConfig, config)) return false;
    return run.state === 'finished' && run.record.corpus.directory === path.resolve(corpus);
  } catch {
    return false;
  }
}

const sayUsedAgain = (out: string): void => say(`${out} was trained before: used again\n`);

/** A run with these settings on this corpus: the one that is there, if it is finished, or one trained now. */
export async function trainedRun(
  config: TextRunConfig,
  corpus: string,
  out: string,
): Promise<{ steps: number; seconds: number }> {
  const { Run } = await import('@hidden-schema/hsn/run/run');
  if (trained(Run, out, corpus, config)) sayUsedAgain(out);
  else await trainLanguageRun(config, corpus, out);
  const { step, seconds } = Run.open(out).record as { step?: number; seconds?: number };
  return { steps: step ?? config.training.steps, seconds: seconds ?? Number.NaN };
}

/** Equal but for what a corpus decides: positions of texts that are read whole. */
function sameSettings(found: TextRunConfig, asked: TextRunConfig): boolean {
  const plain = ({ decoder, ...rest }: TextRunConfig) =>
    JSON.stringify({ ...rest, decoder: { ...decoder, ...(decoder.whole ? { longest: 0 } : {}) } });
  return plain(found) === plain(asked);
}

async function train(flags: ReproduceFlags, corpus: string, out: string): Promise<void> {
  const { checkRunFolder } = await import('@hidden-schema/hsn/run/run-record');
  const { WORD_DEFAULTS, writeWordsCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/words');
  const { languageConfigSchema } = await import('@hidden-schema/hsn/config/language');
  checkRunFolder(out, true);
  if (flags.corpus === undefined) {
    const sentences = flags.quick ? quickSentences : WORD_DEFAULTS.sentences;
    writeWordsCorpus({ ...WORD_DEFAULTS, sentences }, corpus, { force: true });
  }
  const config = languageConfigSchema.parse({
    model: 'language',
    ...(flags.quick ? quickSettings : {}),
  });
  await trainLanguageRun(config, corpus, out);
}

/** Trains a run of its own for a table or figure; what is in the folder is replaced. */
async function trainLanguageRun(config: TextRunConfig, corpus: string, out: string): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  // The paper's texts as they are.
  const source = { input: corpus, settings: { clean: false } };
  const ended = await trainShown(source, { out, config }, { set: [], force: true });
  if (ended?.state !== 'finished') throw new UserError(`stopped; the run so far is in ${out}`);
}
