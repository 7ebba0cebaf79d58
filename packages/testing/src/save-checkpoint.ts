import {
  type CheckpointParts,
  CheckpointWriter,
  type SaveOptions,
} from '@hidden-schema/hsn/run/checkpoint-writer';
import type { Run } from '@hidden-schema/hsn/run/run';

/** Writes one checkpoint and waits for it. */
export async function saveCheckpoint(
  run: Run,
  step: number,
  parts: CheckpointParts,
  options: SaveOptions = {},
): Promise<void> {
  const writer = new CheckpointWriter(run);
  await writer.save(step, parts, options);
  await writer.settle();
}
