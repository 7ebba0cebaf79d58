import assert from 'node:assert/strict';
import fs from 'node:fs';
import { EventWriter } from '@hidden-schema/hsn';
import { readEvents } from '@hidden-schema/testing/event-files';
import type { Fault, Tally } from './tally.ts';

/** Row 25: an event file cut at every byte of its tail, and one with a damaged record. */
async function cutTail(tally: Tally): Promise<void> {
  const writer = new EventWriter(tally.folder);
  const ends: number[] = [fs.statSync(writer.file).size];
  for (let step = 1; step <= 30; step++) {
    writer.scalars(step, { loss: 1 / step, validation: step });
    ends.push(fs.statSync(writer.file).size);
  }
  writer.close();
  const whole = fs.readFileSync(writer.file);
  const stride = Math.max(1, Math.round(1 / tally.share));
  const file = tally.path('cut');
  for (let size = ends[0]!; size < whole.length; size += stride) {
    fs.writeFileSync(file, whole.subarray(0, size));
    const expected = ends.filter((end) => end <= size);
    await tally.expect(`cut at byte ${size}`, () => {
      const { events, validBytes } = readEvents(file);
      assert.equal(events.length, expected.length);
      assert.equal(validBytes, expected.at(-1));
    });
  }
  await tally.expect('a restart opens a file of its own', () => {
    const again = new EventWriter(tally.folder, { resumedAt: 12 });
    again.scalars(13, { loss: 5 });
    again.close();
    assert.notEqual(again.file, writer.file);
    assert.deepEqual(fs.readFileSync(writer.file), whole);
    assert.deepEqual(
      readEvents(again.file).events.map(({ step, restart }) => [step, restart ?? false]),
      [
        [0, false],
        [12, true],
        [13, false],
      ],
    );
  });
}

export const faults: readonly Fault[] = [{ row: 25, fault: 'cut tail of an event file', inject: cutTail }];
