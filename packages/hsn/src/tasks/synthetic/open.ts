import { reasonOf, UserError } from '@hidden-schema/base';
import { scope } from '@hidden-schema/torch';
import { syntheticConfig } from '../../config/settings.ts';
import { loadCheckpoint, whichCheckpoint } from '../../run/checkpoint.ts';
import { checkContent, corpusPlaces } from '../../run/corpus-places.ts';
import { Run } from '../../run/run.ts';
import { readSyntheticCorpus, type SyntheticCorpus } from './corpus/reader.ts';
import { type SyntheticNetwork, syntheticNetwork } from './network.ts';
import { modelShape } from './training.ts';

export interface OpenedModel {
  run: Run;
  model: SyntheticNetwork;
  corpus: SyntheticCorpus;
  step: number;
  notes: string[];
}

/** Opens a run's model at a checkpoint (`best`, `last` or a step), with the corpus it was trained on or another. */
export function openSyntheticRun(
  directory: string,
  options: { checkpoint?: string; corpus?: string } = {},
): OpenedModel {
  const run = Run.open(directory);
  const config = syntheticConfig(run.config, `the run ${directory}`);
  const corpus = readSyntheticCorpus(options.corpus ?? corpusPlaces(run)[0]!, {
    seed: config.seed,
  });
  if (!options.corpus) checkContent(run, corpus);
  const notes: string[] = [];
  const model = scope(() => syntheticNetwork(config, modelShape(config, corpus)));
  const step = scope(() => {
    const saved = loadCheckpoint(run, whichCheckpoint(options.checkpoint ?? 'best'));
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
