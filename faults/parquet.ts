import assert from 'node:assert/strict';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import {
  CHANGES,
  changed,
  HANGING,
  smallParquet,
  writeSwelling,
} from '@hidden-schema/testing/damaged-parquet';
import { HsnProcess } from '@hidden-schema/testing/hsn-process';
import { tinyLanguageFlags } from '@hidden-schema/testing/tiny-texts';
import { opened } from '@hidden-schema/testing/watched-process';
import { TextFiles } from '@hidden-schema/text';
import { type Fault, refusal, type Tally } from './tally.ts';

/** Longer than a reader may be silent, and than a loaded machine takes beside. */
const DEADLINE_MS = 120_000;

async function sentences(tally: Tally, file: string): Promise<number> {
  const files = await TextFiles.find(file, { cache: tally.path('cache') });
  let count = 0;
  for await (const texts of files.texts()) count += texts.length;
  return count;
}

/** Reads a file, which must end: in sentences or in an error for users. */
async function readOrRefused(tally: Tally, file: string): Promise<'read' | 'refused'> {
  const late = pause(DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error('it hangs');
  });
  try {
    await Promise.race([sentences(tally, file), late]);
    return 'read';
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return 'refused';
  }
}

/** Row 31: one changed byte, every byte in turn; files that hang and swell; signals meanwhile. */
async function changedBytes(tally: Tally): Promise<void> {
  const whole = smallParquet(60);
  const stride = Math.max(1, Math.round(1 / tally.share));
  const outcomes = { read: 0, refused: 0 };
  for (let at = 0; at < whole.length; at += stride)
    for (const by of CHANGES)
      await tally.expect(`byte ${at} of ${whole.length} changed by ${by}`, async () => {
        const file = tally.path('changed.parquet');
        fs.writeFileSync(file, changed(whole, at, by));
        outcomes[await readOrRefused(tally, file)]++;
      });
  tally.notes.push(`${outcomes.read} files read, ${outcomes.refused} refused`);
  await tally.expect('a file that hangs its reader', async () => {
    const said = await refusal(() => sentences(tally, HANGING));
    assert.match(said, /^hanging\.parquet cannot be read: nothing could be read of it for 10 seconds; /);
  });
  // The tests of the command line stop a process, too.
  if (tally.share < 1) return;
  await tally.expect('a file that takes all memory', async () => {
    writeSwelling(tally.path('swelling.parquet'), 24_000_000);
    const said = await refusal(() => sentences(tally, tally.path('swelling.parquet')));
    assert.match(said, /^swelling\.parquet cannot be read: (it takes more than 1024 MB|nothing could be)/);
  });
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)
    await tally.expect(`${signal} while a file hangs`, () => stopped(tally, signal, code));
}

async function stopped(tally: Tally, signal: 'SIGTERM' | 'SIGINT', code: number): Promise<void> {
  const out = tally.path(`run-${signal}`);
  process.env.HSN_CACHE = tally.path('cache');
  const child = new HsnProcess(['train', '--corpus', HANGING, '--out', out, ...tinyLanguageFlags]);
  await opened(child, HANGING);
  child.child.kill(signal);
  const ended = await child.ended;
  assert.equal(ended.code, code, ended.stderr);
  assert.match(ended.stderr, /stopped while the corpus was read; no run was made/);
  assert.ok(!fs.existsSync(out), 'a run was made');
}

export const faults: readonly Fault[] = [
  { row: 31, fault: 'a changed byte in a Parquet file', inject: changedBytes },
];
