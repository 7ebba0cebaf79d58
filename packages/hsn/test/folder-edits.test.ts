import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { editFolder, editsIn, undoLast } from '../src/run/edits.ts';
import { Run } from '../src/run/run.ts';

const folder = temporaryFolder('folder-edits');
afterAll(folder.remove);
let made = 0;

/** A run with a checkpoint of sorts, names, and what was made of its model. */
function fresh(): string {
  const directory = folder.path(`run-${made++}`);
  const corpus = { directory: 'corpora/barabasi', fingerprint: 'f'.repeat(64) };
  Run.create(directory, tinyConfig({ seed: 3 }), corpus).close();
  fs.writeFileSync(path.join(directory, 'checkpoints', 'weights'), 'old weights');
  fs.writeFileSync(path.join(directory, 'names.json'), 'old names');
  fs.writeFileSync(path.join(directory, 'graph.json'), 'old graph');
  fs.writeFileSync(path.join(directory, 'notes of mine.txt'), 'mine');
  fs.mkdirSync(path.join(directory, 'analysis'));
  fs.writeFileSync(path.join(directory, 'analysis', 'symbols'), 'old analysis');
  return directory;
}

const fill = (draft: string) => {
  fs.mkdirSync(path.join(draft, 'checkpoints'));
  fs.writeFileSync(path.join(draft, 'checkpoints', 'weights'), 'new weights');
  fs.writeFileSync(path.join(draft, 'names.json'), 'new names');
};
const note = { what: 'merged 1 and 2 into 1', origins: [[0], [1, 2]] };

/** All files but the lock and the states before. */
function contents(directory: string): Record<string, string> {
  const files = fs.readdirSync(directory, { recursive: true, withFileTypes: true });
  const told = files
    .filter((file) => file.isFile())
    .map((file) => path.join(file.parentPath, file.name))
    .filter((file) => !/\/(lock|names\.lock|edits\/.*)$/.test(file));
  return Object.fromEntries(
    told.sort().map((file) => [path.relative(directory, file), fs.readFileSync(file, 'utf8')]),
  );
}

function edited(before: Record<string, string>): Record<string, string> {
  const { 'graph.json': _, 'analysis/symbols': __, ...rest } = before;
  return { ...rest, 'checkpoints/weights': 'new weights', 'names.json': 'new names' };
}

/** Ends the process, as it were, at the n-th rename from now. */
function killedAt(n: number) {
  const rename = fs.renameSync.bind(fs);
  let count = 0;
  return vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    if (++count >= n) throw new Error('killed');
    rename(from, to);
  });
}

describe('an edit of a run folder', () => {
  test('takes what was made of the model away, leaves the rest, and can be undone', async () => {
    const directory = fresh();
    const before = contents(directory);
    await editFolder(directory, note, fill);
    expect(contents(directory)).toEqual(edited(before));
    expect(editsIn(directory).map(({ what }) => what)).toEqual([note.what]);
    // Made since: it belongs to the edited model.
    fs.writeFileSync(path.join(directory, 'graph.json'), 'new graph');
    fs.writeFileSync(path.join(directory, 'report.html'), 'new report');
    undoLast(directory, () => {});
    expect(contents(directory)).toEqual(before);
    expect(() => undoLast(directory, () => {})).toThrow('no edit to undo');
  });

  test('is whole or not at all wherever it is cut, and the next who opens the run carries it through', async () => {
    const outcomes = new Set<string>();
    for (let n = 1; ; n++) {
      const directory = fresh();
      const before = contents(directory);
      const spy = killedAt(n);
      const ended = await editFolder(directory, note, fill).then(
        () => 'through',
        () => 'killed',
      );
      spy.mockRestore();
      Run.open(directory);
      const after = contents(directory);
      const whole = editsIn(directory).length === 1;
      expect(after, `killed at rename ${n}`).toEqual(whole ? edited(before) : before);
      outcomes.add(`${ended} ${whole}`);
      if (ended === 'through') break;
    }
    expect(outcomes).toEqual(new Set(['killed false', 'killed true', 'through true']));
  });

  test('is undone whole or not at all wherever that is cut', async () => {
    const outcomes = new Set<string>();
    for (let n = 1; ; n++) {
      const directory = fresh();
      const before = contents(directory);
      await editFolder(directory, note, fill);
      fs.writeFileSync(path.join(directory, 'MODEL.md'), 'made since');
      const between = contents(directory);
      const spy = killedAt(n);
      let ended = 'through';
      try {
        undoLast(directory, () => {});
      } catch {
        ended = 'killed';
      }
      spy.mockRestore();
      Run.open(directory);
      const whole = editsIn(directory).length === 0;
      expect(contents(directory), `killed at rename ${n}`).toEqual(whole ? before : between);
      outcomes.add(`${ended} ${whole}`);
      if (ended === 'through') break;
    }
    expect(outcomes).toEqual(new Set(['killed false', 'killed true', 'through true']));
  });

  test('a draft that could not be filled leaves nothing behind', async () => {
    const directory = fresh();
    const before = contents(directory);
    const failing = () => {
      throw new Error('no space');
    };
    await expect(editFolder(directory, note, failing)).rejects.toThrow('no space');
    expect(contents(directory)).toEqual(before);
    expect(editsIn(directory)).toEqual([]);
  });
});
