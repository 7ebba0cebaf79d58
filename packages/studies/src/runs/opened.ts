import { UserError } from '@hidden-schema/base';
import { LIKELY_LINK } from '@hidden-schema/hsn/graph/likely';
import { type LanguageRun, type OpenedRun, open } from '@hidden-schema/hsn/open';
import { Run } from '@hidden-schema/hsn/run/run';
import type { Adjacency } from '@hidden-schema/hsn/tasks/synthetic/corpus/graphs';

/** Opens a run of any kind at a checkpoint, to be analysed; free it with `model.free()`. */
export async function openRun(directory: string, options: { checkpoint?: string } = {}): Promise<OpenedRun> {
  const { config } = Run.open(directory);
  if ('baseline' in config && config.baseline)
    throw new UserError(`${directory} is a baseline without symbols, so there is nothing to analyse`);
  return open(directory, options);
}

const kinds = { synthetic: 'a synthetic language', reasoning: 'tuples' };

/** The run as one of texts, with a decoder that has learnt to write unless none is needed. */
export function languageRun(run: OpenedRun, verb: string, { writes = true } = {}): LanguageRun {
  const taken = writes ? 'language model' : 'run of texts';
  if (run.kind !== 'language')
    throw new UserError(`${run.run.directory} is the run of ${kinds[run.kind]}; ${verb} takes a ${taken}`);
  if (writes) run.texts.checkWrites();
  return run;
}

/** The graph of links at least as probable as `threshold`, from probabilities [K, K]. */
export function mostLikelyLinks(
  probabilities: Float64Array,
  symbols: number,
  threshold = LIKELY_LINK,
): Adjacency {
  return { nodes: symbols, data: Uint8Array.from(probabilities, (p) => (p >= threshold ? 1 : 0)) };
}
