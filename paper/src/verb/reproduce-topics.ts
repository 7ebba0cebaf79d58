import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { progressOf } from '@hidden-schema/cli/analysis';
import { writeOutput } from '@hidden-schema/cli/output-files';
import { stoppable } from '@hidden-schema/cli/stopping';
import { live, print, say } from '@hidden-schema/cli/terminal';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { Judge } from '@hidden-schema/studies/symbols/judge';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { seedsTo } from '../reproduction/presets/preset.ts';
import type { TopicCorpus } from '../reproduction/topic-texts.ts';
import type { TopicMeasures, TopicResult } from '../reproduction/topics.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { namedPaths } from './reproduce-flags.ts';

const expected =
  'expected NAME=FILE, with commas between; a file has a text a line, or label and text with a tab';
/** Tokens of a text that the encoder reads. */
const longest = 128;
/** Words whose vectors tell a judge from the encoder of the models. */
const comparedWords = 50;

interface Settings {
  symbols: number;
  length: number;
  seeds: number;
  limit?: number;
  /** A Python that has models of others. */
  python?: string;
  /** An encoder that measures, a corpus where words are looked up, and fits to parts of the texts. */
  judge?: string;
  reference?: string;
  subsamples?: number;
}

/** What is opened once for all corpora. */
interface Opened {
  judge?: Judge;
  reference?: NonNullable<TopicMeasures['reference']>;
}

/** Symbols of the user's own texts beside models of topics: a table, and the symbols themselves; nothing if stopped. */
export async function reproduceTopics(flags: ReproduceFlags): Promise<Reproduced | undefined> {
  const { UserError } = await import('@hidden-schema/base');
  const { checkPython } = await import('../reproduction/topic-peers.ts');
  const { checkTopicSizes } = await import('../reproduction/topic-models.ts');
  const { readTopicCorpus } = await import('../reproduction/topic-texts.ts');
  if (!flags.corpus) throw new UserError(`topics needs texts: give --corpus, ${expected}`);
  const corpora = await namedPaths(flags.corpus, expected);
  const settings = await settingsOf(flags);
  checkTopicSizes(settings.symbols, settings.length);
  const results = await stoppable(async (signal) => {
    const found: TopicResult[] = [];
    let opened: Opened = {};
    try {
      if (settings.python !== undefined) await checkPython(settings.python, signal);
      // All files first: a fault in the last one is told before hours go into the others.
      const read: TopicCorpus[] = [];
      for (const [name, file] of corpora)
        read.push(await readTopicCorpus(name, file, { ...settings, signal }));
      opened = await openMeasures(settings, signal);
      for (const corpus of read) {
        found.push(await resultOf(corpus, settings, { ...opened, signal }));
        await save(flags.out, settings, found);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      opened.judge?.free();
    }
    return found;
  }, 'result');
  if (results.length > 0) await show(flags, settings, results);
  if (results.length < corpora.length) return undefined;
  const { topicSheet } = await import('../reproduction/topic-report.ts');
  const sheet = topicSheet(results);
  const seeds = seedsTo(settings.seeds);
  return { name: 'topics', title: sheet.title, data: results, sheets: [sheet], seeds };
}

async function settingsOf(flags: ReproduceFlags): Promise<Settings> {
  const limit = await wholeNumber('--limit', flags.limit);
  const subsamples = await wholeNumber('--subsamples', flags.subsamples, 2);
  const { judge, referenceCorpus: reference } = flags;
  return {
    symbols: (await wholeNumber('--symbols', flags.symbols, 2)) ?? 50,
    length: (await wholeNumber('--length', flags.length)) ?? 5,
    seeds: (await wholeNumber('--seeds', flags.seeds)) ?? 3,
    ...(limit === undefined ? {} : { limit }),
    ...(flags.peers === undefined ? {} : { python: flags.peers }),
    ...(judge === undefined ? {} : { judge }),
    ...(reference === undefined ? {} : { reference }),
    ...(subsamples === undefined ? {} : { subsamples }),
  };
}

async function openMeasures({ judge, reference }: Settings, signal: AbortSignal): Promise<Opened> {
  const { Judge } = await import('@hidden-schema/studies/symbols/judge');
  const { readReference } = await import('@hidden-schema/studies/measures/reference-texts');
  const words = reference === undefined ? {} : { reference: await readReference(reference, signal) };
  return { ...words, ...(judge === undefined ? {} : { judge: await Judge.open(judge) }) };
}

async function resultOf(
  corpus: TopicCorpus,
  settings: Settings,
  { judge, reference, signal }: Opened & { signal: AbortSignal },
): Promise<TopicResult> {
  const { Progress } = await import('@hidden-schema/hsn/run/progress');
  const { comparedModels } = await import('../reproduction/topic-fits.ts');
  const { compareTopics } = await import('../reproduction/topics.ts');
  const { name, texts, matrix } = corpus;
  const { python, seeds, subsamples = 0, symbols, length } = settings;
  const { vectors, tokens } = await encodedOf(name, texts, signal);
  // Words of the vocabulary: models of others read them, and a judge is told from the encoder by them.
  const wordVectors =
    python === undefined && !judge
      ? undefined
      : (await encodedOf(`${name} words`, matrix.words, signal)).vectors;
  const total = seeds * comparedModels(python !== undefined).length;
  const progress = new Progress({ label: `fit ${name}`, total, unit: 'models', output: live });
  let done = 0;
  try {
    const judged = judge && wordVectors ? { judge: await judgedBy(judge, corpus, wordVectors, signal) } : {};
    const peers = python !== undefined && wordVectors ? { peers: { python, wordVectors } } : {};
    const measures = { ...judged, ...(reference ? { reference } : {}) };
    const vectorsOfWords = wordVectors ? { wordVectors } : {};
    const options = { symbols, length, seeds, subsamples, signal, ...peers, ...vectorsOfWords, ...measures };
    return await compareTopics(
      corpus,
      { vectors, tokens },
      { ...options, onModel: () => progress.update(++done) },
    );
  } finally {
    progress.finish();
    vectors.free();
    wordVectors?.free();
  }
}

/** The judge with its vectors of the texts; refused where it is the encoder of the models. */
async function judgedBy(
  judge: Judge,
  { name, texts, matrix: { words } }: TopicCorpus,
  wordVectors: Tensor,
  signal: AbortSignal,
): Promise<NonNullable<TopicMeasures['judge']>> {
  const own = wordVectors.toArray() as Float32Array;
  const width = own.length / words.length;
  const places = new Map(words.map((word, at) => [word, at * width]));
  const some = words.slice(0, comparedWords);
  await judge.refuseOwn(some, (word) => own.subarray(places.get(word)!, places.get(word)! + width));
  const { onProgress, done } = await progressOf(`judge ${name}`, 'texts');
  const onNote = (text: string) => say(`${name}: ${text} (judge)\n`);
  try {
    return { encoder: judge, texts: await judge.read(texts, { signal, onProgress, onNote }) };
  } finally {
    done();
  }
}

async function encodedOf(
  name: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<{ vectors: Tensor; tokens: Int32Array[] }> {
  const { encoderTokens } = await import('@hidden-schema/hsn/discovery/vectors/text-vectors');
  const { textVectors } = await import('@hidden-schema/hsn/discovery/vectors/vector-store');
  const { DEFAULT_ENCODER } = await import('@hidden-schema/transformers/default-encoder');
  const { openPretrainedEncoder } = await import('@hidden-schema/transformers/pretrained');
  const opened = await openPretrainedEncoder(DEFAULT_ENCODER);
  const { onProgress, done } = await progressOf(`encode ${name}`, 'texts');
  const onNote = (text: string) => say(`${name}: ${text}\n`);
  try {
    const tokens = await encoderTokens(texts, opened, { longest, signal });
    return { tokens, vectors: await textVectors(texts, opened, { longest, signal, onProgress, onNote }) };
  } finally {
    opened.encoder.free();
    done();
  }
}

/** The tables so far: a run that is stopped keeps what it has. */
async function save(folder: string, settings: Settings, results: readonly TopicResult[]): Promise<void> {
  const { reasonOf, UserError } = await import('@hidden-schema/base');
  const { plainJson } = await import('@hidden-schema/studies/drawing/results');
  const { topicText } = await import('../reproduction/topic-report.ts');
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new UserError(`cannot write to ${folder}: ${reasonOf(error)}`);
  }
  await writeOutput(path.join(folder, 'topics.md'), topicText(results));
  await writeOutput(path.join(folder, 'topics.json'), plainJson({ settings, corpora: results }));
}

async function show(
  flags: ReproduceFlags,
  settings: Settings,
  results: readonly TopicResult[],
): Promise<void> {
  const { plainJson } = await import('@hidden-schema/studies/drawing/results');
  const { topicText } = await import('../reproduction/topic-report.ts');
  const written = `written to ${flags.out}: topics.json, topics.md\n`;
  if (flags.json) {
    print(plainJson({ settings, corpora: results }));
    say(written);
  } else print(`${topicText(results)}\n${written}`);
}
