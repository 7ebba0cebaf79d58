import { UserError } from '@hidden-schema/base/errors';
import type { OpenedLanguage } from '@hidden-schema/hsn';
import type { OpenedTexts } from '@hidden-schema/hsn/tasks/language/open';
import type { CorpusProgress, TextBatch, TextCorpus } from '@hidden-schema/text';
import type { Command } from 'commander';
import { progressOf } from './analysis.ts';
import {
  checkMeasures,
  evaluateSymbols,
  measuresOf,
  type SymbolFlags,
  symbolsJson,
  symbolsText,
} from './eval-symbols.ts';
import { live, print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

export interface EvalFlags extends SymbolFlags {
  json?: boolean;
  limit?: string;
  walks: string;
  graphs: string;
  baseline?: string;
}

const examples = `
Examples:
  $ hsn eval run
  $ hsn eval run --json
  $ hsn eval run --checkpoint last --limit 1000
  $ hsn eval run --baseline baseline-run --limit 500     a language model beside its decoder alone
  $ hsn eval optimus-run --walks 100      a rival: 100 latents a sentence (docs/research/rivals.md)
  $ hsn eval run --judge gte-small        texts: fit of walks by the encoder in a folder, which took no part in the run
  $ hsn eval run --stages                 texts: what learning to write changed in symbols and walks

Runs of texts have two groups of figures: of symbols and walks over all texts (coherence, diversity, agreement with
labels, information, links followed, stability), and of the decoder over test sentences, once it has learnt to write.
`;

export function register(program: Command): void {
  program
    .command('eval')
    .summary("a run's figures: recovery, perplexity, information, divergences")
    .description(
      "Evaluate a run on its corpus's test split: the figures of the paper's Table 1, or 2 for texts, and of its supplement.",
    )
    .argument('<run>', 'run folder')
    .option('--json', 'print JSON')
    .option('--corpus <where>', 'another corpus than the run was trained on')
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .option('--limit <n>', 'test sentences to use (default: all)')
    .option(
      '--walks <n>',
      'texts: walks (of rivals: latents) a sentence and graph of the importance-weighted estimate',
      '100',
    )
    .option('--graphs <n>', 'texts: graphs of it', '10')
    .option('--baseline <run>', 'texts: a run of the same decoder without symbols, to compare with')
    .option(
      '--stages',
      'texts: symbols as discovered beside symbols as they are after the decoder learnt to write',
    )
    .option('--no-stability', 'texts: do not find symbols once more with another seed')
    .option(
      '--judge <encoder>',
      "texts: a folder or package of another encoder, which measures the fit of each step and of symbols' words",
    )
    .option('--reference-corpus <file>', "texts: other texts, in which symbols' words are looked up")
    .option('--subsamples <n>', 'texts: find symbols in so many random 80 % of the texts, from 2 on')
    .addHelpText('after', examples)
    .action(evaluate);
}

async function evaluate(directory: string, flags: EvalFlags): Promise<void> {
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const limit = wholeNumber('--limit', flags.limit);
  const { config } = Run.open(directory);
  if (config.model === 'language') return evaluateTexts(directory, flags, limit);
  if (flags.baseline) throw new UserError('--baseline is for language models');
  if (flags.stages) throw new UserError('--stages is for language models');
  const ofTexts = measuresOf(flags)[0];
  if (ofTexts) throw new UserError(`${ofTexts} is for language models`);
  const { rivalVerbs } = await import('./rivals.ts');
  const rival = await rivalVerbs(directory);
  if (rival) return rival.evaluate(directory, flags, limit);
  return evaluateSynthetic(directory, flags, limit);
}

async function evaluateSynthetic(directory: string, flags: EvalFlags, limit: number | undefined) {
  const { openSyntheticRun } = await import('@hidden-schema/hsn/tasks/synthetic/open');
  const synthetic = await import('@hidden-schema/hsn/tasks/synthetic/evaluation');
  const { given } = await import('@hidden-schema/studies/analyses/analysis');
  const { checkpoint, corpus: other } = flags;
  const { model, corpus, notes } = openSyntheticRun(directory, { checkpoint, ...given('corpus', other) });
  tell(notes);
  const evaluation = synthetic.evaluateSynthetic(model, corpus, given('limit', limit));
  const { evaluationText } = await import('./evaluation-text.ts');
  print(flags.json ? json(evaluation) : evaluationText(evaluation));
}

async function evaluateTexts(directory: string, flags: EvalFlags, limit: number | undefined) {
  const { languageFigures } = await import('@hidden-schema/hsn/tasks/language/task');
  const { openLanguage } = await import('@hidden-schema/hsn/tasks/language/open');
  const { Progress } = await import('@hidden-schema/hsn/run/progress');
  const { given } = await import('@hidden-schema/studies/analyses/analysis');
  const { withEfficiency } = await import('@hidden-schema/studies/runs/stages');
  checkMeasures(flags);
  if (flags.stages) return compareStages(directory, flags);
  const walks = wholeNumber('--walks', flags.walks);
  const graphs = wholeNumber('--graphs', flags.graphs);
  const opened = await openLanguage(directory, { checkpoint: flags.checkpoint });
  tell(opened.notes);
  if (opened.config.baseline) refuseMeasures(directory, flags);
  const symbols = opened.config.baseline ? undefined : await evaluateSymbols(directory, flags);
  if (symbols && !flags.json) print(await symbolsText(symbols));
  if (!opened.texts.writes) {
    if (flags.json) print(json(symbolsJson(symbols)));
    else print(`the decoder has not learnt to write yet: hsn train --out ${directory} --resume\n`);
    return;
  }
  const corpus = await openTestCorpus(opened, flags.corpus);
  try {
    const baseline = flags.baseline ? await comparison(flags.baseline, opened, corpus, limit) : {};
    const total = Math.min(corpus.splits.test.length, limit ?? Number.POSITIVE_INFINITY);
    const progress = new Progress({ label: 'eval', total, unit: 'sentences', output: live });
    const onProgress = (done: number) => {
      if (live.isTTY) progress.update(done);
    };
    const sizes = { walks, graphs, informationLimit, ...given('limit', limit) };
    const options = { ...sizes, onProgress, ...given('read', await readingOf(opened, corpus)) };
    const figures = languageFigures(opened.model, corpus, opened.texts.frames, options);
    if (live.isTTY) progress.finish();
    const all = withEfficiency({ ...figures, ...baseline });
    const { languageText } = await import('./evaluation-text.ts');
    print(flags.json ? json({ ...all, ...symbolsJson(symbols) }) : languageText(all));
  } finally {
    corpus.close();
  }
}

/** Refuses flags that measure symbols, for a run that has none. */
function refuseMeasures(directory: string, flags: EvalFlags): void {
  const [unused] = measuresOf(flags);
  if (unused !== undefined)
    throw new UserError(`${directory} is a baseline without symbols, so ${unused} has nothing to measure`);
}

/** Test sentences over which information is measured: every pair of them is looked at. */
const informationLimit = 10_000;

/** Adds points to texts where walks are read by pursuit: from vectors that were stored, or made now. */
async function readingOf(opened: OpenedLanguage, corpus: TextCorpus) {
  if (opened.config.baseline) return undefined;
  const { openPoints } = await import('@hidden-schema/hsn/tasks/language/open');
  const { onProgress, done } = await progressOf('encode', 'texts');
  const placed = await openPoints(opened, corpus, { onProgress });
  done();
  return placed && ((batch: TextBatch) => ({ ...batch, ...placed.reading(batch.rows) }));
}

/** What the second stage changed. */
async function compareStages(directory: string, flags: EvalFlags): Promise<void> {
  const { checkpointSteps } = await import('@hidden-schema/hsn/run/checkpoint');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { changesBetween } = await import('@hidden-schema/studies/runs/stages');
  const { encodedCorpus } = await import('@hidden-schema/studies/texts/encoded');
  const { openRun } = await import('@hidden-schema/studies/runs/opened');
  const steps = checkpointSteps(Run.open(directory));
  if (!steps.includes(0))
    throw new UserError(`${directory} has no checkpoint of its discovered symbols; --stages needs one`);
  if (steps.length === 1)
    throw new UserError(
      `${directory} has discovered symbols and no more; after hsn train --out ${directory} --resume there are two stages to compare`,
    );
  const stage = async (checkpoint: string) => {
    const figures = await evaluateSymbols(directory, { checkpoint, stability: false });
    const run = await openRun(directory, { checkpoint });
    return { figures: figures!.figures, run, encoded: await encodedCorpus(run) };
  };
  const before = await stage('0');
  const after = await stage(flags.checkpoint);
  try {
    const stages = { discovered: before.figures, written: after.figures };
    const changes = changesBetween(before, after);
    const { stagesText } = await import('./evaluation-text.ts');
    print(flags.json ? json({ ...stages, changes }) : stagesText(stages, changes, after.run.step));
  } finally {
    for (const { run, encoded } of [before, after]) {
      encoded.close();
      run.model.free();
    }
  }
}

/** The run's corpus, or another, with progress where it has to be tokenised again. */
export async function openTestCorpus(opened: OpenedTexts, other: string | undefined): Promise<TextCorpus> {
  const { openLanguageCorpus } = await import('@hidden-schema/hsn/tasks/language/open');
  const { onProgress: show, done } = await progressOf('tokenise', 'kB');
  const onProgress = ({ phase, bytes, totalBytes }: CorpusProgress) => {
    // One that is in the cache shows nothing.
    if (phase === 'tokenising') show(Math.ceil(bytes / 1000), Math.ceil(totalBytes / 1000));
  };
  const corpus = await openLanguageCorpus(opened, { onProgress, ...(other ? { corpus: other } : {}) });
  done();
  if (corpus.splits.test.length > 0) return corpus;
  corpus.close();
  throw new UserError(`the corpus of ${opened.run.directory} has no test sentences`);
}

/** Perplexity of a baseline on the same sentences; per token, so of the same tokens only. */
async function comparison(directory: string, opened: OpenedLanguage, corpus: TextCorpus, limit?: number) {
  const { baselinePerplexity } = await import('@hidden-schema/hsn/tasks/language/evaluation');
  const { openLanguage } = await import('@hidden-schema/hsn/tasks/language/open');
  const other = await openLanguage(directory);
  if (!other.config.baseline)
    throw new UserError(`${directory} is no baseline; train one with --set baseline=true`);
  if (other.tokenizers.decoder.hash !== opened.tokenizers.decoder.hash)
    throw new UserError(
      `${directory} has another vocabulary, so perplexities per token cannot be compared; train it on the same corpus with the same decoder settings`,
    );
  const perplexity = baselinePerplexity(other.model, corpus, opened.texts.frames, limit);
  other.model.free();
  return { baseline_perplexity: perplexity };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function tell(notes: readonly string[]): void {
  for (const note of notes) say(`${note}\n`);
}
