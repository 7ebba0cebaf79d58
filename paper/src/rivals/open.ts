import type { RivalConfig } from '@hidden-schema/hsn/config/rivals';
import { rivalConfig } from '@hidden-schema/hsn/config/settings';
import { Run } from '@hidden-schema/hsn/run/run';
import { decoderSource, openTextEncoder, type Tokenizers } from '@hidden-schema/hsn/tasks/language/build';
import { textRecord } from '@hidden-schema/hsn/tasks/language/text-record';
import {
  checkEncoderHash,
  fillFromCheckpoint,
  ownEncoder,
  withEncoderOf,
} from '@hidden-schema/hsn/tasks/recorded-models';
import { Generator } from '@hidden-schema/torch/random';
import { scope } from '@hidden-schema/torch/scope';
import { makeRival } from './build.ts';
import type { Rival } from './rival.ts';
import { RivalTexts } from './texts.ts';

/** A rival's run with its tokenizers; its corpus is opened apart, by those who need it. */
export interface OpenedRival {
  run: Run;
  config: RivalConfig;
  model: Rival;
  tokenizers: Tokenizers;
  texts: RivalTexts;
  step: number;
  notes: string[];
}

/** Opens the run of a rival at a checkpoint: `best`, `last` or a step; free it with `model.free()`. */
export async function openRival(
  directory: string,
  asked: { checkpoint?: string } = {},
): Promise<OpenedRival> {
  const run = Run.open(directory);
  const config = rivalConfig(run.config, `the run ${directory}`);
  const { record, tokenizer: decoder } = textRecord(run);
  const generator = new Generator(config.seed);
  const { encoder, tokenizer, frozen } = await openTextEncoder(
    withEncoderOf(config, record),
    decoder,
    generator,
    { folder: ownEncoder(run) },
  );
  checkEncoderHash(record, tokenizer.hash, directory);
  const source = await decoderSource(config, { config: record.decoder });
  const sources = { encoder, frozen, decoderVocabulary: decoder.vocabulary, decoder: source };
  const model = scope(() => makeRival(config, sources, generator));
  const saved = fillFromCheckpoint(model, run, asked.checkpoint ?? 'best', directory);
  const tokenizers = { encoder: tokenizer, decoder };
  return { run, config, model, tokenizers, texts: new RivalTexts(model, tokenizers), ...saved };
}
