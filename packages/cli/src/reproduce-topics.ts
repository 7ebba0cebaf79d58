import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { TopicCorpus, TopicResult } from '@hidden-schema/studies';
import type { Tensor } from '@hidden-schema/torch';
import { progressOf } from './analysis.ts';
import { namedPaths } from './named-paths.ts';
import type { ReproduceFlags } from './reproduce.ts';
import { stoppable } from './stopping.ts';
import { live, print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

const expected =
  'expected NAME=FILE, with commas between; a file has a text a line, or label and text with a tab';
/** Tokens of a text that the encoder reads. */
const longest = 128;

interface Settings {
  symbols: number;
  length: number;
  seeds: number;
  limit?: number;
  /** A Python that has models of others. */
  python?: string;
}

/** Symbols of the user's own texts beside models of topics: a table, and the symbols themselves. */
export async function reproduceTopics(flags: ReproduceFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { checkPython, checkTopicSizes, readTopicCorpus } = await import('@hidden-schema/studies');
  if (!flags.corpus) throw new UserError(`topics needs texts: give --corpus, ${expected}`);
  const corpora = await namedPaths(flags.corpus, expected);
  const settings = await settingsOf(flags);
  checkTopicSizes(settings.symbols, settings.length);
  const results = await stoppable(async (signal) => {
    const found: TopicResult[] = [];
    try {
      if (settings.python !== undefined) await checkPython(settings.python, signal);
      // All files first: a fault in the last one is told before hours go into the others.
      const read: TopicCorpus[] = [];
      for (const [name, file] of corpora)
        read.push(await readTopicCorpus(name, file, { ...settings, signal }));
      for (const corpus of read) {
        found.push(await resultOf(corpus, settings, signal));
        await save(flags.out, settings, found);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return found;
  }, 'result');
  if (results.length > 0) await show(flags, settings, results);
}

async function settingsOf(flags: ReproduceFlags): Promise<Settings> {
  const limit = await wholeNumber('--limit', flags.limit);
  return {
    symbols: (await wholeNumber('--symbols', flags.symbols, 2)) ?? 50,
    length: (await wholeNumber('--length', flags.length)) ?? 5,
    seeds: (await wholeNumber('--seeds', flags.seeds)) ?? 3,
    ...(limit === undefined ? {} : { limit }),
    ...(flags.peers === undefined ? {} : { python: flags.peers }),
  };
}

async function resultOf(corpus: TopicCorpus, settings: Settings, signal: AbortSignal): Promise<TopicResult> {
  const { Progress } = await import('@hidden-schema/hsn');
  const { comparedModels, compareTopics } = await import('@hidden-schema/studies');
  const { name, texts, matrix } = corpus;
  const { python } = settings;
  const { vectors, tokens } = await encodedOf(name, texts, signal);
  const wordVectors =
    python === undefined ? undefined : (await encodedOf(`${name} words`, matrix.words, signal)).vectors;
  const total = settings.seeds * comparedModels(python !== undefined).length;
  const progress = new Progress({ label: `fit ${name}`, total, unit: 'models', output: live });
  let done = 0;
  try {
    const onModel = () => progress.update(++done);
    const peers = python !== undefined && wordVectors ? { peers: { python, wordVectors } } : {};
    return await compareTopics(corpus, { vectors, tokens }, { ...settings, ...peers, signal, onModel });
  } finally {
    progress.finish();
    vectors.free();
    wordVectors?.free();
  }
}

async function encodedOf(
  name: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<{ vectors: Tensor; tokens: Int32Array[] }> {
  const { encoderTokens, textVectors } = await import('@hidden-schema/hsn');
  const { DEFAULT_ENCODER, openPretrainedEncoder } = await import('@hidden-schema/transformers');
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
  const { reasonOf, UserError, writeFileAtomic } = await import('@hidden-schema/base');
  const { plainJson, topicText } = await import('@hidden-schema/studies');
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new UserError(`cannot write to ${folder}: ${reasonOf(error)}`);
  }
  writeFileAtomic(path.join(folder, 'topics.md'), topicText(results));
  writeFileAtomic(path.join(folder, 'topics.json'), plainJson({ settings, corpora: results }));
}

async function show(
  flags: ReproduceFlags,
  settings: Settings,
  results: readonly TopicResult[],
): Promise<void> {
  const { plainJson, topicText } = await import('@hidden-schema/studies');
  const written = `written to ${flags.out}: topics.json, topics.md\n`;
  if (flags.json) {
    print(plainJson({ settings, corpora: results }));
    say(written);
  } else print(`${topicText(results)}\n${written}`);
}
