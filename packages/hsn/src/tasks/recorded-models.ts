import fs from 'node:fs';
import path from 'node:path';
import { type JsonValue, jsonText, reasonOf, UserError } from '@hidden-schema/base';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { specialConfig } from '@hidden-schema/text/tokenizer/tokenizer';
import { type nn, scope } from '@hidden-schema/torch';
import type { LanguageDecoder } from '@hidden-schema/transformers';
import { ENCODER_FOLDER } from '../config/language.ts';
import { loadCheckpoint, whichCheckpoint } from '../run/checkpoint.ts';
import { type CorpusInfo, Run, type RunOptions } from '../run/run.ts';
import { type Tokenizers, tokenizerOfRun } from './language/build.ts';

/** What `run.json` notes of a run's models, so that the folder can be opened without anything else. */
export interface ModelRecord {
  /** The encoder's name, its folder where it is one, and the hash of its tokenizer. */
  encoder: { name: string; tokenizer: string };
  /** The decoder's config.json. */
  decoder: Record<string, unknown>;
}

export function modelRecord(encoder: ModelRecord['encoder'], decoder: LanguageDecoder): ModelRecord {
  const name = fs.existsSync(encoder.name) ? path.resolve(encoder.name) : encoder.name;
  return { encoder: { ...encoder, name }, decoder: decoder.configOf() };
}

/** Makes the folder of a run, with its models' record and the decoder's vocabulary. */
export function createRecordedRun(
  directory: string,
  prepared: { config: Run['config']; info: CorpusInfo; tokenizers: Tokenizers },
  record: Readonly<Record<string, ModelRecord>>,
  { fill, ...options }: Pick<RunOptions, 'force' | 'fill'>,
): Run {
  return Run.create(directory, prepared.config, prepared.info, {
    ...options,
    // Fields that were never set are left out.
    extra: JSON.parse(JSON.stringify(record)) as Record<string, JsonValue>,
    fill: (folder) => {
      const { decoder } = prepared.tokenizers;
      fs.writeFileSync(path.join(folder, 'tokenizer.json'), decoder.json, { flush: true });
      const names = specialConfig(decoder.special, decoder);
      if (names)
        fs.writeFileSync(path.join(folder, 'tokenizer_config.json'), jsonText(names), { flush: true });
      fill?.(folder);
    },
  });
}

/** A run's record of its models, of which some fields must be there, and the vocabulary that lies beside them. */
export function recordOf<Noted extends ModelRecord>(
  run: Run,
  { key, of, needed }: { key: string; of: string; needed: readonly (keyof Noted)[] },
): { record: Noted; tokenizer: Tokenizer } {
  const record = run.record[key] as Noted | undefined;
  const file = run.path('tokenizer.json');
  // Read beside it.
  run.path('tokenizer_config.json');
  if (!record || needed.some((field) => !record[field]) || !run.files.exists('tokenizer.json'))
    throw new UserError(
      `${run.directory} is not whole: expected tokenizer.json and the ${of}' record in run.json`,
    );
  return { record, tokenizer: tokenizerOfRun(file, record.decoder) };
}

/** Settings with the encoder that a run was trained with. */
export function withEncoderOf<Config extends { encoder: { name: string } }>(
  config: Config,
  { encoder: { name } }: ModelRecord,
): Config {
  return { ...config, encoder: { ...config.encoder, name } };
}

/** The folder of an encoder that a run has for itself; nothing where it has none. */
export function ownEncoder(run: Run): string | undefined {
  if (!run.files.exists(ENCODER_FOLDER)) return undefined;
  for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'])
    run.files.path(ENCODER_FOLDER, name);
  return run.path(ENCODER_FOLDER);
}

/** Refuses another tokenizer of the encoder than a run was trained with. */
export function checkEncoderHash({ encoder }: ModelRecord, hash: string, directory: string): void {
  if (hash !== encoder.tokenizer)
    throw new UserError(
      `the tokenizer of ${encoder.name} is not the one that ${directory} was trained with; put that one back`,
    );
}

/** Fills a run's model from a checkpoint: `best`, `last` or a step; a model that it does not fit is freed. */
export function fillFromCheckpoint(
  model: nn.Module,
  run: Run,
  checkpoint: string,
  directory: string,
): { step: number; notes: string[] } {
  try {
    return scope(() => {
      const { model: saved, step, notes } = loadCheckpoint(run, whichCheckpoint(checkpoint));
      model.load(saved);
      return { step, notes };
    });
  } catch (error) {
    model.free();
    if (error instanceof UserError) throw error;
    throw new UserError(`${directory} does not fit its settings: ${reasonOf(error)}`);
  }
}
