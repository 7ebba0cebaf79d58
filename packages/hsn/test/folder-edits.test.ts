import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { editFolder as editRunFolder, editsIn as editsInRun, undoLast as undoIn } from '../src/run/edits.ts';
import { Run } from '../src/run/run.ts';
import { RunFiles } from '../src/run/run-files.ts';
import { describeRun } from '../src/run/run-summary.ts';

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
const editFolder = (directory: string, plan: typeof note, into: (draft: string) => void) =>
  editRunFolder(new RunFiles(directory), { ...plan, fill: into, identity: Run.open(directory).identity });
const editsIn = (directory: string) => editsInRun(new RunFiles(directory));
const undoLast = (directory: string) => undoIn(new RunFiles(directory));

/** All files but the lock and the states before. */
function contents(directory: string): Record<string, string> {
  const files = fs.readdirSync(directory, { recursive: true, withFileTypes: true });
  const told = files
    .filter((file) => file.isFile())
    .map((file) => path.join(file.parentPath, file.name))
    .filter((file) => !/\/(lock|names\.lock|sums\.json|edits\/.*)$/.test(file));
  return Object.fromEntries(
    told.sort().map((file) => [path.relative(directory, file), fs.readFileSync(file, 'utf8')]),
  );
}

function edited(before: Record<string, string>): Record<string, string> {
  const { 'graph.json': _, 'analysis/symbols': __, ...rest } = before;
  return { ...rest, 'checkpoints/weights': 'new weights', 'names.json': 'new names' };
}

/** What a reader sees, which changes nothing: names with their sums, and weights. */
function looked(directory: string): Record<string, string> {
  const before = fs.readdirSync(directory, { recursive: true }).sort();
  const { files } = Run.open(directory);
  const seen = {
    'names.json': files.read('names.json')!.toString(),
    'checkpoints/weights': fs.readFileSync(files.path('checkpoints', 'weights'), 'utf8'),
  };
  expect(files.exists('graph.json')).toBe(seen['names.json'] === 'old names');
  expect(fs.readdirSync(directory, { recursive: true }).sort()).toEqual(before);
  return seen;
}

/** Ends the process, as it were, at the n-th rename from now. */
function killedAt(n: number) {
  const rename = fs.renameSync.bind(fs);
  let count = 0;
  return vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    if (++count >= n) throw Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO' });
    rename(from, to);
  });
}

/** What `hsn runs` says. */
const faultOf = (directory: string) => describeRun(directory).fault;

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
    undoLast(directory);
    expect(contents(directory)).toEqual(before);
    expect(() => undoLast(directory)).toThrow('no edit to undo');
  });

  test('is whole or not at all wherever it is cut; readers see it so, and the next who writes carries it through', async () => {
    const outcomes = new Set<string>();
    for (let n = 1; ; n++) {
      const directory = fresh();
      const before = contents(directory);
      const spy = killedAt(n);
      const said = await editFolder(directory, note, fill).then(
        () => '',
        ({ message }: Error) => message,
      );
      const ended = said === '' ? 'through' : 'killed';
      spy.mockRestore();
      const whole = editsIn(directory).length === 1;
      const state = whole ? edited(before) : before;
      if (ended === 'killed')
        expect(said).toMatch(
          whole
            ? /^the edit stands \(merged 1 and 2 into 1\), but .*EIO.*; the next command that writes to .* completes it$/
            : /EIO.*(; nothing was changed|is unchanged)$/,
        );
      expect(state, `looked at after rename ${n}`).toMatchObject(looked(directory));
      Run.open(directory, { write: true }).close();
      expect(contents(directory), `killed at rename ${n}`).toEqual(state);
      expect(state).toMatchObject(looked(directory));
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
        undoLast(directory);
      } catch {
        ended = 'killed';
      }
      spy.mockRestore();
      const whole = editsIn(directory).length === 0;
      expect(whole ? before : between, `looked at after rename ${n}`).toMatchObject(looked(directory));
      Run.open(directory, { write: true }).close();
      expect(contents(directory), `killed at rename ${n}`).toEqual(whole ? before : between);
      outcomes.add(`${ended} ${whole}`);
      if (ended === 'through') break;
    }
    expect(outcomes).toEqual(new Set(['killed false', 'killed true', 'through true']));
  });

  test('of a run that was edited since it was read is refused', async () => {
    const directory = fresh();
    const files = new RunFiles(directory);
    const plan = { ...note, fill, identity: `${Run.open(directory).identity} then` };
    const before = contents(directory);
    await expect(editRunFolder(files, plan)).rejects.toThrow('were edited meanwhile');
    expect(contents(directory)).toEqual(before);
  });

  test('that is unfinished is completed by the next edit, which does nothing else; undoing takes it back', async () => {
    for (const undoing of [false, true]) {
      const directory = fresh();
      const before = contents(directory);
      const spy = killedAt(5);
      await editFolder(directory, note, fill).catch(() => undefined);
      spy.mockRestore();
      const opened = Run.openToEdit(directory, { undoing });
      if (!undoing)
        await expect(opened).rejects.toThrow(
          /^an unfinished edit of .* was completed now \(merged 1 and 2 into 1\); nothing else was done/,
        );
      else {
        const run = await opened;
        undoIn(run.files);
        run.close();
      }
      expect(contents(directory)).toEqual(undoing ? before : edited(before));
    }
  });

  test.each([
    ['came', ['../../victim'], /names of a run's own files in came, got "..\/..\/victim"/],
    ['came', ['lock'], /in came, got "lock"/],
    ['had', ['/etc'], /in had, got "\/etc"/],
    ['number', '../../planted', /expected number above 0, got "..\/..\/planted"/],
    ['number', 0, /expected number above 0, got 0/],
    ['origins', [['0']], /expected the numbers of symbols in origins/],
  ])('that a stranger prepared, with %s %j, is refused by readers and writers alike', (key, value, said) => {
    const directory = fresh();
    const folder_ = path.join(directory, '.edit-ready');
    fs.mkdirSync(path.join(folder_, 'new'), { recursive: true });
    const record = { format: 1, number: 1, made: '', ...note, had: [], came: [], [key]: value };
    fs.writeFileSync(path.join(folder_, 'edit.json'), JSON.stringify(record));
    const before = contents(directory);
    expect(() => Run.open(directory)).toThrow(said);
    expect(() => Run.open(directory, { write: true })).toThrow(said);
    expect(faultOf(directory)).toMatch(said);
    expect(contents(directory)).toEqual(before);
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
