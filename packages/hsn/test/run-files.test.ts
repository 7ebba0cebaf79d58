import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { MetricsLog } from '../src/run/metrics.ts';
import { Run } from '../src/run/run.ts';
import { RunFiles } from '../src/run/run-files.ts';
import { verifyRun } from '../src/run/run-summary.ts';

const folder = temporaryFolder('run-files');
afterAll(folder.remove);
let made = 0;

function fresh(): Run {
  const directory = folder.path(`run-${made++}`);
  const corpus = { directory: 'corpora/barabasi', fingerprint: 'f'.repeat(64) };
  Run.create(directory, tinyConfig({ seed: 3 }), corpus).close();
  return Run.open(directory);
}

describe('paths', () => {
  test.each([
    [['notes.txt'], 'no file of a run'],
    [['..'], 'no file of a run'],
    [['checkpoints', '..', 'x'], '".." is no name of a file'],
    [['checkpoints', 'a/b'], '"a/b" is no name of a file'],
    [['checkpoints', ''], '"" is no name of a file'],
  ])('%j is refused', (parts, said) => {
    expect(() => fresh().path(...parts)).toThrow(said);
  });

  test('no part below the run is a link, a pipe or a file in place of a folder; the run itself may be a link', () => {
    const run = fresh();
    const outside = folder.path('outside');
    fs.mkdirSync(outside, { recursive: true });
    fs.symlinkSync(outside, path.join(run.directory, 'analysis'));
    fs.symlinkSync(folder.path('nowhere'), path.join(run.directory, 'names.json'));
    execFileSync('mkfifo', [path.join(run.directory, 'graph.json')]);
    expect(() => run.path('analysis')).toThrow(/analysis is a symbolic link; expected/);
    expect(() => run.path('analysis', 'encoded.json')).toThrow(
      /analysis is a symbolic link; expected a folder/,
    );
    expect(() => run.store('analysis/symbols.json', {})).toThrow('analysis is a symbolic link');
    expect(() => run.files.read('names.json')).toThrow('names.json is a symbolic link');
    expect(() => run.path('graph.json')).toThrow('graph.json is a named pipe');
    expect(() => run.path('run.json', 'x')).toThrow('run.json is a file; expected a folder');
    expect(fs.readdirSync(outside)).toEqual([]);
    expect(verifyRun(run.directory).faults.join()).toMatch(
      /analysis is a symbolic link.*names\.json is a symbolic/,
    );
    const linked = folder.path('linked');
    fs.symlinkSync(fresh().directory, linked);
    expect(Run.open(linked).path('run.json')).toBe(path.join(linked, 'run.json'));
  });

  test('locks and metrics are not opened through a link, which would empty what it leads to', () => {
    for (const name of ['lock', 'names.lock', 'metrics.jsonl']) {
      const run = fresh();
      const victim = folder.path(`victim-${name}`);
      fs.writeFileSync(victim, 'mine');
      fs.rmSync(path.join(run.directory, name), { force: true });
      fs.symlinkSync(victim, path.join(run.directory, name));
      const open = () => Run.open(run.directory, { write: true });
      if (name === 'metrics.jsonl')
        expect(() => new MetricsLog(path.join(run.directory, name))).toThrow('is a symbolic link');
      else expect(open).toThrow(`${name} is a symbolic link`);
      expect(fs.readFileSync(victim, 'utf8')).toBe('mine');
    }
  });
});

describe('sums', () => {
  const flip = (file: string, bit: number) => {
    const bytes = fs.readFileSync(file);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    fs.writeFileSync(file, bytes);
  };

  test('every bit of a stored file and of the sums themselves is noticed, by verify too', () => {
    const run = fresh();
    run.store('graph.json', { symbols: 3 });
    for (const name of ['graph.json', 'sums.json']) {
      const file = run.path(name);
      for (let bit = 0; bit < 8 * fs.statSync(file).size; bit += 41) {
        flip(file, bit);
        const { faults } = verifyRun(run.directory);
        expect(faults.join(), `${name}, bit ${bit}`).toContain(`${name} is damaged`);
        if (name === 'graph.json') expect(() => run.files.readJson(name)).toThrow('graph.json is damaged');
        flip(file, bit);
      }
    }
    expect(verifyRun(run.directory).faults).toEqual([]);
    expect(run.files.readJson('graph.json')).toEqual({ symbols: 3 });
  });

  test('a file is never damaged by a process that is killed while it stores one', () => {
    for (let n = 1; ; n++) {
      const run = fresh();
      run.store('graph.json', { symbols: 3 });
      const rename = fs.renameSync.bind(fs);
      let count = 0;
      const spy = vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
        if (++count >= n) throw new Error('killed');
        rename(from, to);
      });
      let through = true;
      try {
        run.store('graph.json', { symbols: 4 });
      } catch {
        through = false;
      }
      spy.mockRestore();
      expect(verifyRun(run.directory).faults, `killed at rename ${n}`).toEqual([]);
      expect([3, 4]).toContain(run.files.readJson<{ symbols: number }>('graph.json')!.symbols);
      if (through) break;
    }
  });

  test('a run without sums opens, and has them from the next command that writes', () => {
    const run = fresh();
    run.store('graph.json', { symbols: 3 });
    fs.rmSync(run.path('sums.json'));
    flip(run.path('graph.json'), 15 * 8);
    expect(verifyRun(run.directory).faults).toEqual([]);
    Run.open(run.directory, { write: true }).close();
    flip(run.path('graph.json'), 15 * 8);
    expect(verifyRun(run.directory).faults).toEqual([expect.stringContaining('graph.json is damaged')]);
  });

  test('nothing is stored for a run that was edited since it was opened', () => {
    const run = fresh();
    const record = JSON.parse(fs.readFileSync(run.path('run.json'), 'utf8'));
    fs.writeFileSync(run.path('run.json'), JSON.stringify({ ...record, edited: 'since' }));
    expect(() => run.store('graph.json', {})).toThrow('were edited meanwhile');
    expect(new RunFiles(run.directory).exists('graph.json')).toBe(false);
  });
});
