import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type JsonValue, UserError } from '@hidden-schema/base';
import {
  gpt2Tokenizer,
  loadTokenizer,
  TokenCounts,
  type Tokenizer,
  trainByteBpe,
  trimmedByteBpe,
} from '@hidden-schema/text';
import { Generator } from '@hidden-schema/torch';
import { findPretrained } from '@hidden-schema/transformers';
import type { ReasoningConfig } from '../../config/tuples.ts';
import { type CorpusInfo, Run, type RunOptions } from '../../run/run.ts';
import { fromScratch, type Tokenizers, tokenizerOfRun } from '../language/build.ts';
import { makeReasoning, openRelationEncoder, tupleTokens } from './build.ts';
import { halfOf } from './encoder.ts';
import type { ReasoningNetwork } from './network.ts';
import { readTuples } from './read-tuples.ts';
import { type TupleTokens, withRelations } from './tokens.ts';
import { type TupleCorpus, type TupleTable, tupleNotes } from './tuples.ts';

/** Tuples, tokenizers and a model, ready for a run. */
export interface PreparedReasoning {
  config: ReasoningConfig;
  corpus: TupleCorpus;
  tokens: TupleTokens;
  tokenizers: Tokenizers;
  model: ReasoningNetwork;
  info: CorpusInfo;
  record: TupleRecord;
  notes: string[];
}

/** What `run.json` notes of a run over tuples, so that the folder can be opened without anything else. */
export interface TupleRecord {
  relations: readonly string[];
  /** Tuples in the training split: N of the objective. */
  tuples: number;
  encoder: { name: string; tokenizer: string };
  /** The decoder's config.json. */
  decoder: Record<string, unknown>;
}

/** Reads a corpus of tuples and makes the model for it; `tokenizer` is the decoder's where a run has one already. */
export async function prepareReasoning(
  config: ReasoningConfig,
  input: string,
  given: { tokenizer?: Tokenizer } = {},
): Promise<PreparedReasoning> {
  halfOf(config.length);
  const corpus = readTuples(input, { ...config.tuples, seed: config.seed });
  checkSplits(corpus, input);
  const { relations } = corpus.table;
  const folder = fromScratch(config.decoder.name)
    ? undefined
    : (await findPretrained(config.decoder.name)).folder;
  const decoder = given.tokenizer ?? withRelations(await vocabulary(config, corpus, folder), relations);
  const generator = new Generator(config.seed);
  const { encoder, tokenizer, frozen, hash } = await openRelationEncoder(
    config,
    relations,
    decoder,
    generator,
  );
  const parts = {
    encoder,
    frozen,
    decoderVocabulary: decoder.vocabulary,
    tuples: corpus.splits.train.length,
  };
  const model = await makeReasoning(
    config,
    { ...parts, ...(folder ? { decoder: { folder, relations } } : {}) },
    generator,
  );
  const tokenizers = { encoder: tokenizer, decoder };
  const tokens = await tupleTokens(corpus.table, config, tokenizers, {
    encoder,
    decoderPositions: model.decoder.maxPositions,
  });
  const name = fs.existsSync(config.encoder.name) ? path.resolve(config.encoder.name) : config.encoder.name;
  const record: TupleRecord = {
    relations,
    tuples: parts.tuples,
    encoder: { name, tokenizer: hash },
    decoder: model.decoder.configOf(),
  };
  const info = { directory: path.resolve(input), fingerprint: tupleFingerprint(corpus) };
  return { config, corpus, tokens, tokenizers, model, info, record, notes: notesOf(corpus, tokens) };
}

/** The decoder's vocabulary: its pretrained folder's, or one drawn from the training tuples. */
async function vocabulary(
  { decoder }: ReasoningConfig,
  corpus: TupleCorpus,
  folder: string | undefined,
): Promise<Tokenizer> {
  if (folder) return loadTokenizer(folder);
  const texts = trainingTexts(corpus);
  if (decoder.vocabulary === 'trained') return trainByteBpe(texts, decoder.vocabularySize);
  const counts = new TokenCounts(gpt2Tokenizer());
  await counts.add(texts);
  return trimmedByteBpe(counts.used(), gpt2Tokenizer()).tokenizer;
}

/** Each training event and object once. */
function trainingTexts({ table, splits }: TupleCorpus): string[] {
  const of = (texts: readonly string[], numbers: readonly number[]) =>
    [...new Set(Array.from(splits.train, (row) => numbers[row]!))].map((n) => texts[n]!);
  return [...of(table.heads, table.head), ...of(table.objects, table.object)];
}

/** Makes the run's folder, with the decoder's vocabulary. */
export function createReasoningRun(
  directory: string,
  { config, info, record, tokenizers }: PreparedReasoning,
  options: Pick<RunOptions, 'force'> = {},
): Run {
  return Run.create(directory, config, info, {
    ...options,
    extra: { tuples: JSON.parse(JSON.stringify(record)) as JsonValue },
    fill: (folder) =>
      fs.writeFileSync(path.join(folder, 'tokenizer.json'), tokenizers.decoder.json, { flush: true }),
  });
}

/** A run's notes on its tuples, and the vocabulary that lies beside them. */
export function tupleRecord(run: Run): { record: TupleRecord; tokenizer: Tokenizer } {
  const record = run.record.tuples as TupleRecord | undefined;
  const file = run.path('tokenizer.json');
  if (!record?.relations || !record.decoder || !fs.existsSync(file))
    throw new UserError(
      `${run.directory} is not whole: expected tokenizer.json and the tuples' record in run.json`,
    );
  return { record, tokenizer: tokenizerOfRun(file, record.decoder) };
}

/** Of the files' contents and splits, whatever they are called and wherever they lie. */
export function tupleFingerprint({ report }: TupleCorpus): string {
  const files = report.files.map(({ sha256, split }) => [sha256, split]);
  return createHash('sha256').update(JSON.stringify(files)).digest('hex');
}

/** Refuses tuples whose relations a run does not know, or knows in another order. */
export function checkRelations({ relations }: TupleTable, known: readonly string[], where: string): void {
  const strange = relations.find((relation) => !known.includes(relation));
  if (strange !== undefined)
    throw new UserError(`${where} has the relation ${strange}; the run knows ${known.join(', ')}`);
}

function notesOf(corpus: TupleCorpus, { cut }: TupleTokens): string[] {
  const notes = tupleNotes(corpus);
  if (cut.heads > 0) notes.push(`${cut.heads} events longer than the models' positions, cut there`);
  if (cut.objects > 0) notes.push(`${cut.objects} objects longer than the models' positions, cut there`);
  return notes;
}

function checkSplits({ splits }: TupleCorpus, input: string): void {
  for (const [name, rows] of Object.entries(splits)) {
    if (rows.length > 0) continue;
    throw new UserError(
      `${input} has no tuples for ${name}: give more events, or a folder with train, dev and test files`,
    );
  }
}
