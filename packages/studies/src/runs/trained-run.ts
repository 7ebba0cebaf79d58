import path from 'node:path';
import type { TrainEvent } from '@hidden-schema/hsn/driver/prepared';
import { nameSeeds } from '../symbols/names.ts';
import { writeModelCard } from './model-card.ts';

/**
 * Keeps with a run what is made of its training: names of the symbols that were asked for, the curve that chose their
 * number, and at the end its model card. Call it with each event of the training, which waits for it.
 */
export async function keepWithRun(event: TrainEvent): Promise<void> {
  if (event.type === 'ended' && event.model !== 'reasoning') writeModelCard(event.directory);
  if (event.type !== 'run' || event.resumed) return;
  nameSeeds(event.directory, event.seeds);
  if (!event.chosen) return;
  // Figures are drawn for few runs.
  const { choiceResults } = await import('./choice.ts');
  const { writeResults } = await import('../drawing/results.ts');
  await writeResults(path.join(event.directory, 'figures'), choiceResults(event.chosen));
}
