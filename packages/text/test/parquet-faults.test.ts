import fs from 'node:fs';
import { UserError } from '@hidden-schema/base';
import { CHANGES, changed, HANGING, smallParquet } from '@hidden-schema/testing/damaged-parquet';
import { TextFolder } from '@hidden-schema/testing/text-folder';
import { describe, expect, test } from 'vitest';
import { emptyReport } from '../src/corpus-report.ts';
import { parquetRecords } from '../src/parquet.ts';
import { TEXT_DEFAULTS } from '../src/settings.ts';

const folder = new TextFolder();

async function rowsOf(
  file: string,
  given: { signal?: AbortSignal; patienceMs?: number } = {},
): Promise<string[]> {
  const source = { file, name: 'some.parquet', ...given };
  const rows: string[] = [];
  for await (const { text } of parquetRecords(source, TEXT_DEFAULTS, emptyReport('replace'))) rows.push(text);
  return rows;
}

/** The message of a refusal, or nothing when the file was read. */
async function refusal(reading: Promise<unknown>): Promise<string | undefined> {
  try {
    await reading;
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    const { message } = error as Error;
    expect(message).not.toMatch(/\n|undefined \(reading|is not a function/);
    return message;
  }
}

describe('a Parquet file with a changed byte (fault 31)', () => {
  test('is read or refused in a line, wherever the byte is', async () => {
    const whole = smallParquet();
    const outcomes = { read: 0, refused: 0 };
    for (let at = 0; at < whole.length; at += 19)
      for (const by of CHANGES) {
        const file = folder.file('changed.parquet');
        fs.writeFileSync(file, changed(whole, at, by));
        outcomes[(await refusal(rowsOf(file, { patienceMs: 4000 }))) === undefined ? 'read' : 'refused']++;
      }
    expect(outcomes.read).toBeGreaterThan(10);
    expect(outcomes.refused).toBeGreaterThan(10);
  }, 60_000);

  test('one that hangs its reader is given up, and the next file is read', async () => {
    const fine = folder.file('fine.parquet');
    fs.writeFileSync(fine, smallParquet());
    expect(await rowsOf(fine)).toHaveLength(24);
    expect(await refusal(rowsOf(HANGING, { patienceMs: 1000 }))).toBe(
      'some.parquet cannot be read: nothing could be read of it for 1 seconds; it is damaged, write it again',
    );
    expect(await rowsOf(fine)).toHaveLength(24);
  }, 60_000);

  test('a stop ends a reader that hangs', async () => {
    const stop = new AbortController();
    const reading = rowsOf(HANGING, { signal: stop.signal });
    setTimeout(() => stop.abort('stopped'), 200);
    await expect(reading).rejects.toBe('stopped');
  });

  test('texts longer than a line may be are cut at a whole character and counted', async () => {
    const file = folder.file('fine.parquet');
    fs.writeFileSync(file, smallParquet());
    const corpus = await folder.open(file, { longestLine: 16, longestText: 16 });
    expect(corpus.report.cut).toBe(24);
    expect(corpus.store.example(0).text).toBe('sentence 0 of a');
  });
});
