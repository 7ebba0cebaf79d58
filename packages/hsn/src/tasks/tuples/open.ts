import { UserError } from '@hidden-schema/base';
import { Generator } from '@hidden-schema/torch';
import { tuplesConfig } from '../../config/settings.ts';
import type { ReasoningConfig } from '../../config/tuples.ts';
import { checkContent, corpusPlaces } from '../../run/corpus-places.ts';
import { Run } from '../../run/run.ts';
import type { Tokenizers } from '../language/build.ts';
import { checkEncoderHash, fillFromCheckpoint, withEncoderOf } from '../recorded-models.ts';
import { makeReasoning, openRelationEncoder, tupleTokens } from './build.ts';
import type { ReasoningNetwork } from './network.ts';
import { checkRelations, tupleFingerprint, tupleRecord } from './prepare.ts';
import { readTuples, type TupleOptions } from './read-tuples.ts';
import type { TupleTokens } from './tokens.ts';
import { type Tuple, type TupleCorpus, TupleTable } from './tuples.ts';

/** A network over tuples, or COMET, at a checkpoint; its tuples are opened apart, by those who need them. */
export interface OpenedReasoning {
  run: Run;
  config: ReasoningConfig;
  model: ReasoningNetwork;
  tokenizers: Tokenizers;
  relations: readonly string[];
  step: number;
  notes: string[];
}

/** Opens a run over tuples at a checkpoint: `best`, `last` or a step. */
export async function openReasoning(
  directory: string,
  { checkpoint = 'best' }: { checkpoint?: string } = {},
): Promise<OpenedReasoning> {
  const run = Run.open(directory);
  const config = tuplesConfig(run.config, `the run ${directory}`);
  if (config.part === 'path')
    throw new UserError(`${directory} is a path model; expected the folder of its network, two folders up`);
  const { record, tokenizer: decoder } = tupleRecord(run);
  const { relations } = record;
  const generator = new Generator(config.seed);
  const named = withEncoderOf(config, record);
  const opened = await openRelationEncoder(named, relations, decoder, generator);
  checkEncoderHash(record, opened.hash, directory);
  const { encoder, frozen } = opened;
  const parts = { encoder, frozen, decoderVocabulary: decoder.vocabulary, tuples: record.tuples };
  const model = await makeReasoning(config, { ...parts, decoder: { config: record.decoder } }, generator);
  const saved = fillFromCheckpoint(model, run, checkpoint, directory);
  const tokenizers = { encoder: opened.tokenizer, decoder };
  return { run, config, model: model.train(false), tokenizers, relations, ...saved };
}

/** The tuples a run was trained on, or others, by its settings unless some are given. */
export function runTuples(
  { run, config, relations }: OpenedReasoning,
  other?: string,
  changes: TupleOptions = {},
): TupleCorpus {
  const input = other ?? corpusPlaces(run)[0]!;
  const corpus = readTuples(input, { ...config.tuples, seed: config.seed, ...changes });
  if (!other) checkContent(run, { directory: input, fingerprint: tupleFingerprint(corpus) });
  checkRelations(corpus.table, relations, input);
  return corpus;
}

/** The same with their tokens. */
export async function openTuples(
  opened: OpenedReasoning,
  other?: string,
): Promise<{ corpus: TupleCorpus; tokens: TupleTokens }> {
  const corpus = runTuples(opened, other);
  return { corpus, tokens: await tokenise(opened, corpus.table) };
}

/** Tuples as a run's models read them. */
export function tokenise(
  { config, tokenizers, model }: OpenedReasoning,
  table: TupleTable,
): Promise<TupleTokens> {
  const models = { encoder: model.encoder.base, decoderPositions: model.decoder.maxPositions };
  return tupleTokens(table, config, tokenizers, models);
}

/** Some tuples as a run's models read them, a row each; what is too long is cut. */
export function prefixTable(opened: OpenedReasoning, tuples: readonly Tuple[]): Promise<TupleTokens> {
  const table = new TupleTable();
  for (const tuple of tuples) table.add(tuple);
  return tokenise(opened, table);
}

/** A table of (s, r) that users give; an unknown relation, an empty event or one too long is refused. */
export async function promptTable(
  opened: OpenedReasoning,
  prompts: readonly { head: string; relation: string }[],
): Promise<TupleTokens> {
  const { relations } = opened;
  const table = new TupleTable();
  for (const { head, relation } of prompts) {
    if (head.trim() === '')
      throw new UserError('the event is empty: expected a phrase, such as "PersonX goes home"');
    if (!relations.includes(relation))
      throw new UserError(
        `unknown relation ${JSON.stringify(relation)}: this run knows ${relations.join(', ')}`,
      );
    table.add({ head: head.trim(), relation, object: '' });
  }
  const tokens = await tokenise(opened, table);
  if (tokens.cut.heads > 0)
    throw new UserError(
      `an event has more tokens than the models read of one; shorten it, or train with larger encoder.longest and decoder.longest`,
    );
  return tokens;
}
