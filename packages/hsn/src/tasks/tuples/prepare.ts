import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { fingerprintOf } from '@hidden-schema/text/corpus-report';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { Generator, startEngine } from '@hidden-schema/torch';
import { isDecoderName } from '@hidden-schema/transformers/decoder-config';
import { findPretrained } from '@hidden-schema/transformers/pretrained';
import { usesPursuit } from '../../config/language.ts';
import type { ReasoningConfig } from '../../config/tuples.ts';
import { checkDiscovery } from '../../discovery/text-discovery.ts';
import type { CorpusInfo, Run, RunOptions } from '../../run/run.ts';
import { decoderTokenizer, type Tokenizers, withSymbolWidth } from '../language/build.ts';
import { checkLora } from '../language/prepare.ts';
import { createRecordedRun, type ModelRecord, modelRecord, recordOf } from '../recorded-models.ts';
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
export interface TupleRecord extends ModelRecord {
  relations: readonly string[];
  /** Tuples in the training split: N of the objective. */
  tuples: number;
}

/** Reads a corpus of tuples and makes the model for it; `tokenizer` is the decoder's where a run has one already. */
export async function prepareReasoning(
  asked: ReasoningConfig,
  input: string,
  run: { tokenizer?: Tokenizer } = {},
): Promise<PreparedReasoning> {
  checkLora(asked);
  startEngine();
  const corpus = checkedTuples(asked, input);
  const { relations } = corpus.table;
  const { name } = asked.decoder;
  const folder = isDecoderName(name) ? undefined : (await findPretrained(name)).folder;
  const source = { texts: () => [trainingTexts(corpus)] };
  const decoder = run.tokenizer ?? withRelations(await decoderTokenizer(asked, source, folder), relations);
  const generator = new Generator(asked.seed);
  const opened = await openRelationEncoder(asked, relations, decoder, generator);
  const { encoder, tokenizer, frozen, hash } = opened;
  const config = usesPursuit(asked) ? withSymbolWidth(asked, encoder.width) : asked;
  const tuples = corpus.splits.train.length;
  const parts = { encoder, frozen, decoderVocabulary: decoder.vocabulary, tuples };
  const pretrained = folder ? { decoder: { folder, relations } } : {};
  const model = await makeReasoning(config, { ...parts, ...pretrained }, generator);
  const tokenizers = { encoder: tokenizer, decoder };
  const tokens = await tupleTokens(corpus.table, config, tokenizers, {
    encoder,
    decoderPositions: model.decoder.maxPositions,
  });
  const models = modelRecord({ name: config.encoder.name, tokenizer: hash }, model.decoder);
  const record: TupleRecord = { relations, tuples, ...models };
  const info = { directory: path.resolve(input), fingerprint: tupleFingerprint(corpus) };
  return { config, corpus, tokens, tokenizers, model, info, record, notes: notesOf(corpus, tokens) };
}

/** Reads the corpus and refuses what no model could be made for. */
function checkedTuples(config: ReasoningConfig, input: string): TupleCorpus {
  const { length, tuples, seed } = config;
  const half = halfOf(length);
  const corpus = readTuples(input, { ...tuples, seed });
  checkSplits(corpus, input);
  if (usesPursuit(config)) checkDiscovery({ ...config, length: half }, corpus.splits.train.length);
  return corpus;
}

/** What is to be trained, in words. */
export function reasoningLine({ config, tokenizers, model }: PreparedReasoning): string {
  // COMET has no walks to read.
  const trained = config.baseline ? model.decoder : model;
  const parameters = trained.parameters().reduce((sum, { size }) => sum + size, 0);
  const half = config.length / 2;
  const what = config.baseline
    ? 'COMET: the decoder without walks'
    : `${config.symbols} symbols, walks of ${half} + ${half} steps, encoder ${config.encoder.name}${model.encoder.frozen ? ' (frozen)' : ''}`;
  return `model: ${what}, ${tokenizers.decoder.vocabulary} tokens, ${(parameters / 1e6).toFixed(1)} million parameters to train`;
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
  prepared: PreparedReasoning,
  options: Pick<RunOptions, 'force'> = {},
): Run {
  return createRecordedRun(directory, prepared, { tuples: prepared.record }, options);
}

/** A run's notes on its tuples, and the vocabulary that lies beside them. */
export function tupleRecord(run: Run): { record: TupleRecord; tokenizer: Tokenizer } {
  const needed = ['relations', 'encoder', 'decoder'] as const;
  return recordOf<TupleRecord>(run, { key: 'tuples', of: 'tuples', needed });
}

/** Of the files' contents and splits, whatever they are called and wherever they lie. */
export function tupleFingerprint({ report }: TupleCorpus): string {
  return fingerprintOf(report.files);
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
