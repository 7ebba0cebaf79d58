import { analyses } from '@hidden-schema/studies/analyses';
import type { Command } from 'commander';

/** Verbs that may read the corpus of a run. */
const readers = new Set([
  ...['encode', 'generate', 'export', 'graph', 'interpolate', 'merge', 'split', 'update', 'report', 'serve'],
  ...Object.keys(analyses),
]);

/** Lets verbs that read a run's corpus be told where it is. */
export function addCorpusOption(command: Command): void {
  if (!readers.has(command.name())) return;
  command.option(
    '--corpus <place>',
    'where the corpus is, if it was moved or the run came from elsewhere; once more for each file of an update',
    (place: string, all: string[] = []) => [...all, place],
  );
}

/** Takes the corpus that is named for a run, where it is the one that the run was trained on. */
export async function takeCorpus(command: Command): Promise<void> {
  const { corpus } = command.opts() as { corpus?: string[] };
  if (corpus === undefined || !readers.has(command.name())) return;
  const [run] = command.processedArgs as [string | string[]];
  const runs = [run].flat();
  if (runs.length !== 1) {
    const { UserError } = await import('@hidden-schema/base');
    throw new UserError(
      `--corpus is for one run, got ${runs.length}; name it for each with hsn symbols RUN --corpus`,
    );
  }
  const { nameCorpus } = await import('@hidden-schema/hsn/name-corpus');
  await nameCorpus(runs[0]!, corpus);
}
