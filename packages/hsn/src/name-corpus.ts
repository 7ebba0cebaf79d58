import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { TextFiles } from '@hidden-schema/text/corpus';
import { checkContent, recordedPlaces, rememberCorpus } from './run/corpus-places.ts';
import { Run } from './run/run.ts';
import { corpusInput } from './tasks/language/prepare-texts.ts';
import { checkCorpus, textRecord } from './tasks/language/text-record.ts';
import { readSyntheticCorpus } from './tasks/synthetic/corpus/reader.ts';
import { tupleFingerprint } from './tasks/tuples/prepare.ts';
import { readTuples } from './tasks/tuples/read-tuples.ts';

/**
 * Names the corpus of a run: the place, and then those of files that were added to it. Taken where the content is that
 * which the run was trained on; from then on the run is read with it.
 */
export async function nameCorpus(directory: string, named: readonly string[]): Promise<void> {
  const run = Run.open(directory);
  const places = named.map((place) => path.resolve(place));
  const { length } = recordedPlaces(run);
  if (places.length !== length)
    throw new UserError(
      `the corpus of ${directory} has ${length} ${length === 1 ? 'place' : 'places: the first, and a file for each update'}; name ${length === 1 ? 'it' : 'each'} with --corpus, got ${places.length}`,
    );
  const [input, ...more] = places as [string, ...string[]];
  if (run.config.model === 'synthetic')
    checkContent(run, readSyntheticCorpus(input, { seed: run.config.seed }));
  else if (run.config.model === 'reasoning')
    checkContent(run, {
      directory: input,
      fingerprint: tupleFingerprint(readTuples(input, { seed: run.config.seed })),
    });
  else {
    const { settings } = textRecord(run).record;
    await checkCorpus(run, await TextFiles.find(await corpusInput({ input, more, settings }), settings));
  }
  rememberCorpus(run, places);
}
