import path from 'node:path';
import type {
  LanguageFigures,
  PreparedRun,
  RivalFigures,
  SymbolChoice,
  TextRunConfig,
} from '@hidden-schema/hsn';
import { progressOf, showSheets } from './analysis.ts';
import { languageText } from './evaluation-text.ts';
import { type Assignment, assign, type TextTerms } from './replicas.ts';
import { stoppable } from './stopping.ts';
import { say } from './terminal.ts';
import { textSettings, tokenising } from './text-flags.ts';
import type { TrainAsked } from './train.ts';
import { type Plan, report, trainPlan } from './training-run.ts';

/** Trains on texts. */
export async function trainLanguage(config: TextRunConfig, asked: TrainAsked): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { checkRunFolder } = await import('@hidden-schema/hsn/run/run-target');
  const { isRival } = await import('@hidden-schema/hsn/config/rivals');
  const { usesPursuit } = await import('@hidden-schema/hsn/config/walk-reading');
  const { flags, out, earlier } = asked;
  if (flags.stage === 'discover' && (isRival(config) || !usesPursuit(config)))
    throw new UserError(
      '--stage discover needs walks that are read by pursuit; leave encoder.walks and baseline as they are by default',
    );
  // Before the corpus is read, which may take minutes.
  if (!earlier) checkRunFolder(out, flags.force ?? false);
  const result = await stoppable(async (signal) => {
    const prepared = await prepare(config, asked, signal);
    if (!prepared) return 'unread' as const;
    if ('chosen' in prepared && prepared.chosen) await showChoice(prepared.chosen);
    try {
      return await trainPlan(await planOf(prepared, asked), asked, signal);
    } finally {
      prepared.close();
    }
  });
  if (result === 'unread')
    say(`stopped while the corpus was read; ${earlier ? 'the run is as it was' : 'no run was made'}\n`);
  else if (result) await report(result, out, result.evaluation ? languageText(result.evaluation) : '');
}

/** The corpus and a model for it; nothing when a signal came meanwhile. */
async function prepare(
  config: TextRunConfig,
  { flags, corpus, earlier, replicas }: TrainAsked,
  signal: AbortSignal,
): Promise<PreparedRun | undefined> {
  const { ownEncoder } = await import('@hidden-schema/hsn/tasks/recorded-models');
  const { prepareTextRun } = await import('@hidden-schema/hsn/text-run');
  const { readSeeds } = await import('@hidden-schema/hsn/tasks/language/seeds');
  const { textInput, textRecord } = await import('@hidden-schema/hsn/tasks/language/text-record');
  const settings = await textSettings(flags);
  const known = earlier && textRecord(earlier);
  const source = {
    ...(earlier && !flags.corpus ? textInput(earlier) : { input: corpus }),
    settings: { ...known?.record.settings, ...settings },
  };
  const seeds = flags.seeds === undefined ? known?.record.seeds : readSeeds(flags.seeds);
  const terms = {
    seeds,
    chooseSymbols: flags.symbols === 'auto',
    discovery: known?.record.discovery,
    onlyDiscover: flags.stage === 'discover',
    encoderFolder: earlier && ownEncoder(earlier),
  };
  const { watch, done } = await watchedPreparation();
  try {
    return await prepareTextRun(config, source, {
      ...(known ? { tokenizer: known.tokenizer } : {}),
      ...terms,
      replicas,
      signal,
      onTexts: (texts) => assign(replicas, assignmentOf(config, texts, terms)),
      ...watch,
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    done();
  }
}

/** Shows how far texts are read, and then encoded. */
async function watchedPreparation() {
  const { onProgress, done } = await tokenising();
  const vectors = await progressOf('encode', 'texts');
  const watch = {
    onProgress,
    onVectors: (encoded: number, total: number) => {
      // Tokens are all there by then.
      done();
      vectors.onProgress(encoded, total);
    },
    onNote: (text: string) => {
      done();
      say(`${text}\n`);
    },
  };
  return {
    watch,
    done: () => {
      done();
      vectors.done();
    },
  };
}

/** The curve that decided how many symbols there are. */
async function showChoice(chosen: SymbolChoice): Promise<void> {
  const { choiceResults } = await import('@hidden-schema/studies/analysis/choice');
  await showSheets(choiceResults(chosen).sheets ?? []);
}

async function planOf(
  prepared: PreparedRun,
  { flags, out, earlier, replicas }: TrainAsked,
): Promise<Plan<LanguageFigures | RivalFigures>> {
  const { textsAdopted } = await import('@hidden-schema/hsn/tasks/language/text-record');
  const { choiceResults } = await import('@hidden-schema/studies/analysis/choice');
  const { nameSeeds } = await import('@hidden-schema/studies/analysis/names');
  const { writeResults } = await import('@hidden-schema/studies/analysis/results');
  const { chosen, discovery } = 'discovery' in prepared ? prepared : {};
  // A copy of standard input keeps its name in the run.
  const info =
    earlier && !flags.corpus
      ? { ...prepared.info, directory: earlier.record.corpus.directory }
      : prepared.info;
  return {
    config: prepared.config,
    info,
    ...(earlier ? { noted: textsAdopted(earlier, prepared) } : {}),
    task: () => prepared.task(replicas),
    create: () => {
      const run = prepared.create(out, { force: flags.force ?? false });
      nameSeeds(out, discovery?.seeds ?? []);
      if (chosen) writeResults(path.join(out, 'figures'), choiceResults(chosen));
      return run;
    },
    describe: () => describe(prepared, prepared.notes),
    onPrepared: (seconds) => showDiscovered(out, seconds),
  };
}

/** What the other ranks need: the texts are read by each, the vocabulary is drawn from them once. */
function assignmentOf(
  config: TextRunConfig,
  { source, info, tokenizers }: Pick<PreparedRun, 'source' | 'info' | 'tokenizers'>,
  terms: TextTerms,
): Assignment {
  const input = path.resolve(source.input);
  return {
    config,
    fingerprint: info.fingerprint,
    texts: { ...source, ...terms, input, tokenizer: tokenizers.decoder.json },
  };
}

/** Symbols that are shown when they are discovered. */
const shownSymbols = 12;

/** What was discovered, which can be looked at from now on. */
async function showDiscovered(out: string, seconds: number): Promise<void> {
  const { openRun } = await import('@hidden-schema/studies/analysis/opened');
  const { storedMeanings } = await import('@hidden-schema/studies/analysis/stored-meanings');
  const { symbolSheet } = await import('@hidden-schema/studies/analysis/analysis-sheets');
  const run = await openRun(out, { checkpoint: 'last' });
  try {
    const meanings = await storedMeanings(run);
    const sheet = symbolSheet(meanings);
    const rows = sheet.rows.slice(0, shownSymbols);
    const caption = `The ${rows.length} most used of ${meanings.length} symbols, discovered after ${seconds.toFixed(0)} s.`;
    await showSheets([{ ...sheet, title: 'Symbols', caption, rows }]);
    say(`look at all of them now:
  hsn symbols ${out}
  hsn serve ${out}
`);
  } finally {
    run.model.free();
  }
}

function describe({ config, corpus, tokenizers, model }: PreparedRun, notes: readonly string[]): void {
  const { train, valid, test } = corpus.splits;
  const labels = corpus.labels.length > 0 ? `, ${corpus.labels.length} labels` : '';
  const parameters = model.parameters().reduce((sum, { size }) => sum + size, 0);
  const encoder = `encoder ${config.encoder.name}${model.encoder.frozen ? ' (frozen)' : ''}`;
  const lines = [
    ...notes,
    `corpus: ${train.length} + ${valid.length} + ${test.length} sentences${labels}, ${tokenizers.decoder.vocabulary} tokens in the vocabulary`,
    `model: ${latentOf(config, encoder)}, ${(parameters / 1e6).toFixed(1)} million parameters to train`,
  ];
  say(`${lines.join('\n')}\n`);
}

/** What stands between encoder and decoder. */
function latentOf(config: PreparedRun['config'], encoder: string): string {
  switch (config.model) {
    case 'optimus':
      return `Optimus, a Gaussian latent of ${config.latent} numbers, ${encoder}`;
    case 'ivae':
      return `iVAE, an implicit latent of ${config.latent} numbers, ${encoder}`;
    case 'vq':
      return `VQ-VAE, ${config.length} codes of ${config.symbols}, ${encoder}`;
    case 'language':
      return config.baseline
        ? 'baseline: the decoder without symbols'
        : `${config.symbols} symbols, walks of ${config.length} steps, ${encoder}`;
  }
}
