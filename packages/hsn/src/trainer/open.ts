import path from 'node:path';
import { scope } from '@hidden-schema/torch';
import { readSyntheticCorpus, type SyntheticCorpus } from '../corpus/index.ts';
import { UserError } from '../errors.ts';
import { HiddenSchemaNetwork } from '../model.ts';
import { loadCheckpoint } from './checkpoint.ts';
import { reasonOf } from './files.ts';
import { Run } from './run.ts';
import { modelShape } from './trainer.ts';

export interface OpenedModel {
  run: Run;
  model: HiddenSchemaNetwork;
  corpus: SyntheticCorpus;
  step: number;
  notes: string[];
}

/** Opens a run's model at a checkpoint (`best`, `last` or a step), with the corpus it was trained on or another. */
export function openModel(
  directory: string,
  given: { checkpoint?: string; corpus?: string } = {},
): OpenedModel {
  const run = Run.open(directory);
  const { config } = run;
  if (config.model !== 'synthetic')
    throw new UserError(`${directory} is the run of a language model; expected one of a synthetic language`);
  const corpus = readSyntheticCorpus(
    given.corpus ?? path.resolve(run.directory, run.record.corpus.directory),
    {
      seed: config.seed,
    },
  );
  const notes: string[] = [];
  if (!given.corpus && corpus.fingerprint !== run.record.corpus.fingerprint)
    notes.push(`the corpus ${corpus.directory} has changed since this run was trained on it`);
  const model = new HiddenSchemaNetwork(config, modelShape(config, corpus));
  const step = scope(() => {
    const saved = loadCheckpoint(run, whichCheckpoint(given.checkpoint ?? 'best'));
    notes.push(...saved.notes);
    try {
      model.load(saved.model);
    } catch (error) {
      throw new UserError(`${directory} does not fit the corpus ${corpus.directory}: ${reasonOf(error)}`);
    }
    return saved.step;
  });
  return { run, model, corpus, step, notes };
}

export function whichCheckpoint(text: string): 'best' | 'last' | number {
  if (text === 'best' || text === 'last') return text;
  const step = Number(text);
  if (!Number.isInteger(step) || step < 0)
    throw new UserError(`a checkpoint is "best", "last" or a step, got "${text}"`);
  return step;
}
