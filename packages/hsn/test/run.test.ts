import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { jsonText, UserError, writeJsonAtomic } from '@hidden-schema/base';
import { LockingProcess } from '@hidden-schema/testing/locking-process';
import { Lock, lockHolder } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { syntheticOptions } from '../src/config/network.ts';
import { Run, VERSION } from '../src/run/run.ts';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-run-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
let made = 0;
const fresh = () => path.join(root, `run-${made++}`);
const config = syntheticOptions.parse({ seed: 3 });
const corpus = { directory: 'corpora/barabasi', fingerprint: 'f'.repeat(64) };

function message(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}

describe('making a run', () => {
  test('writes config and record, and gives them back', () => {
    const directory = path.join(fresh(), 'deep', 'folder');
    const run = Run.create(directory, config, corpus, { extra: { command: 'train' } });
    expect(fs.readdirSync(directory).sort()).toEqual([
      'checkpoints',
      'config.yaml',
      'lock',
      'manifest.json',
      'names.lock',
      'run.json',
      'sums.json',
    ]);
    expect(JSON.parse(fs.readFileSync(path.join(directory, 'run.json'), 'utf8'))).toEqual({
      command: 'train',
      format: 2,
      version: VERSION,
      created: run.record.created,
      corpus,
      state: 'running',
    });
    expect(Math.abs(Date.now() - Date.parse(run.record.created))).toBeLessThan(60_000);
    run.setState('finished', { best: 0.5 });
    run.close();
    expect(lockHolder(path.join(directory, 'lock'))).toBeUndefined();
    const opened = Run.open(directory);
    expect(opened.config).toEqual(config);
    expect(opened.state).toBe('finished');
    expect(opened.record).toMatchObject({ best: 0.5, command: 'train', corpus });
    expect(() => opened.setState('running')).toThrow('open it with { write: true }');
  });

  test('refuses what is not its own, and leaves it alone', () => {
    const file = fresh();
    fs.writeFileSync(file, 'text');
    expect(message(() => Run.create(file, config, corpus))).toBe(
      `${file} is a file; expected a folder for the run, choose another name`,
    );
    const foreign = fresh();
    fs.mkdirSync(foreign);
    for (const name of ['a.txt', 'README.md']) fs.writeFileSync(path.join(foreign, name), 'mine');
    for (const force of [false, true]) {
      expect(message(() => Run.create(foreign, config, corpus, { force }))).toBe(
        `${foreign} is not empty and holds no run (README.md, a.txt); choose another folder`,
      );
    }
    expect(fs.readdirSync(foreign).sort()).toEqual(['README.md', 'a.txt']);
  });

  test('an existing run is replaced only by force, and only if nothing else is there', () => {
    const directory = fresh();
    Run.create(directory, config, corpus).close();
    fs.writeFileSync(path.join(directory, 'metrics.jsonl'), '{}\n');
    expect(message(() => Run.create(directory, config, corpus))).toBe(
      `${directory} already holds a run; continue it with --resume, replace it with --force, or choose another folder`,
    );
    fs.writeFileSync(path.join(directory, 'notes.txt'), 'mine');
    expect(message(() => Run.create(directory, config, corpus, { force: true }))).toBe(
      `${directory} holds more than a run (notes.txt), so --force will not replace it; choose another folder`,
    );
    fs.rmSync(path.join(directory, 'notes.txt'));
    Run.create(directory, config, corpus, { force: true }).close();
    expect(fs.readdirSync(directory).sort()).toEqual([
      'checkpoints',
      'config.yaml',
      'lock',
      'manifest.json',
      'names.lock',
      'run.json',
      'sums.json',
    ]);
  });

  test('a run whose making was cut short can be made again, but never over checkpoints', () => {
    const directory = fresh();
    fs.mkdirSync(path.join(directory, 'checkpoints'), { recursive: true });
    fs.writeFileSync(path.join(directory, 'config.yaml'), 'seed: 1');
    fs.writeFileSync(path.join(directory, '.run.json.77.tmp'), '{');
    Run.create(directory, config, corpus).close();
    fs.rmSync(path.join(directory, 'run.json'));
    fs.mkdirSync(path.join(directory, 'checkpoints', 'step-1'));
    expect(message(() => Run.create(directory, config, corpus, { force: true }))).toContain('(checkpoints)');
  });
});

describe('opening a run', () => {
  test('names what is missing', () => {
    const none = fresh();
    expect(message(() => Run.open(none))).toBe(`the run folder ${none} does not exist`);
    fs.mkdirSync(none);
    expect(message(() => Run.open(none))).toContain('is not a run: expected a folder made by "hsn train"');
  });

  test('names a damaged file', () => {
    const directory = fresh();
    Run.create(directory, config, corpus).close();
    const file = path.join(directory, 'run.json');
    const whole = fs.readFileSync(file, 'utf8');
    for (const text of [
      '',
      whole.slice(0, 50),
      'null',
      '[]',
      '{}',
      '3',
      whole.replace('running', 'walking'),
    ]) {
      fs.writeFileSync(file, text);
      expect(message(() => Run.open(directory))).toMatch(new RegExp(`^${file} is damaged: expected `));
    }
    fs.writeFileSync(file, whole);
    fs.writeFileSync(path.join(directory, 'config.yaml'), 'sed: 1');
    expect(message(() => Run.open(directory))).toContain('config.yaml: unknown key sed, did you mean seed?');
    fs.rmSync(path.join(directory, 'config.yaml'));
    expect(message(() => Run.open(directory))).toMatch(/^cannot read .*config\.yaml: ENOENT/);
  });

  test('a later format says which version it needs', () => {
    const directory = fresh();
    Run.create(directory, config, corpus).close();
    const file = path.join(directory, 'run.json');
    const record = JSON.parse(fs.readFileSync(file, 'utf8'));
    writeJsonAtomic(file, { ...record, format: 3, version: '9.1.0', corpus: 'moved' });
    expect(message(() => Run.open(directory))).toBe(
      `${file}: this run has format 3, made by version 9.1.0; version ${VERSION} reads up to format 2, so open it with version 9.1.0 or later`,
    );
  });

  test('differences to what a resumed run would use', () => {
    const directory = fresh();
    const run = Run.create(directory, config, corpus);
    expect(run.differences(config, { ...corpus, directory: 'moved' })).toEqual([]);
    const other = { directory: 'corpora/erdos', fingerprint: 'e'.repeat(64) };
    expect(run.differences(syntheticOptions.parse({ seed: 4 }), other)).toEqual([
      'seed: 3 → 4',
      'corpus: corpora/barabasi (ffffffffffff) → corpora/erdos (eeeeeeeeeeee)',
    ]);
    run.close();
  });
});

describe('the lock', () => {
  test('a second run in one folder is refused, looking at it is not', () => {
    const directory = fresh();
    const run = Run.create(directory, config, corpus);
    expect(message(() => Run.open(directory, { write: true }))).toMatch(
      new RegExp(`^the run folder ${directory} is in use by process ${process.pid} since `),
    );
    expect(message(() => Run.create(directory, config, corpus, { force: true }))).toContain('is in use');
    expect(fs.existsSync(path.join(directory, 'run.json'))).toBe(true);
    expect(Run.open(directory).state).toBe('running');
    run.close();
    expect(Run.open(directory).state).toBe('crashed');
    Run.open(directory, { write: true }).close();
  });

  test('the lock of a killed process is free at once, and said so; a stopped one keeps it', async () => {
    const directory = fresh();
    Run.create(directory, config, corpus).close();
    const holder = await LockingProcess.start(path.join(directory, 'lock'));
    const refused = () => message(() => Run.open(directory, { write: true }));
    expect(refused()).toMatch(new RegExp(`is in use by process ${holder.pid} since 2\\d{3}-`));
    expect(Run.open(directory).state).toBe('running');
    holder.child.kill('SIGSTOP');
    expect(refused()).toContain(`process ${holder.pid} `);
    await holder.kill();
    expect(Run.open(directory).state).toBe('crashed');
    const run = Run.open(directory, { write: true });
    expect(run.notes).toEqual([`recovered the lock that process ${holder.pid} left in ${directory}`]);
    run.close();
    expect(fs.readdirSync(directory).filter((name) => name.includes('lock'))).toEqual(['lock', 'names.lock']);
    expect(fs.readFileSync(path.join(directory, 'lock'), 'utf8')).toBe('');
  });

  test('a child process of the holder does not keep it', async () => {
    const file = path.join(root, 'lock-child');
    const holder = await LockingProcess.start(file, true);
    expect(lockHolder(file)?.pid).toBe(holder.pid);
    await holder.kill();
    try {
      expect(lockHolder(file)).toBeUndefined();
      Lock.acquire(file, 'a').release();
    } finally {
      process.kill(holder.grandchild!, 'SIGKILL');
    }
  });

  test('what the file says of a process does not count, the kernel does', () => {
    const file = path.join(root, 'lock-said');
    // As version 0.1.0 left it: of a process that lives, and of another machine.
    for (const holder of [
      { pid: process.pid, host: os.hostname(), start: 'x:1', since: 'then' },
      { pid: 1, host: 'elsewhere.example', since: 'then' },
    ]) {
      fs.writeFileSync(file, JSON.stringify(holder));
      expect(lockHolder(file)).toBeUndefined();
      const lock = Lock.acquire(file, 'b');
      expect(lock.recoveredFrom).toEqual({ pid: holder.pid, host: holder.host, since: 'then' });
      lock.release();
    }
    const held = Lock.acquire(file, 'the folder b');
    fs.writeFileSync(file, '{"pid":');
    expect(lockHolder(file)).toEqual({});
    expect(message(() => Lock.acquire(file, 'the folder b'))).toBe(
      'the folder b is in use by another process; wait for it, end it, or choose another folder',
    );
    fs.writeFileSync(file, JSON.stringify({ pid: 7, host: 'elsewhere.example', since: 'then' }));
    expect(message(() => Lock.acquire(file, 'the folder b'))).toContain(
      'in use by process 7 on elsewhere.example since then; wait',
    );
    held.release();
  });

  test.each(['', '{', 'null', '{"pid":-1,"host":"x"}'])('a damaged lock (%j) is recovered', (text) => {
    const file = path.join(root, 'lock-c');
    fs.writeFileSync(file, text);
    const lock = Lock.acquire(file, 'c');
    expect(lock.recoveredFrom).toBeUndefined();
    expect(JSON.parse(fs.readFileSync(file, 'utf8')).pid).toBe(process.pid);
    lock.release();
    expect(lockHolder(file)).toBeUndefined();
  });

  test('a lock whose file was removed is taken again, or lost to whoever was quicker', () => {
    const file = path.join(root, 'lock-d');
    const lock = Lock.acquire(file, 'the folder d');
    fs.rmSync(file);
    expect(lockHolder(file)).toBeUndefined();
    lock.refresh();
    expect(lockHolder(file)?.pid).toBe(process.pid);
    expect(() => Lock.acquire(file, 'the folder d')).toThrow('in use');
    fs.rmSync(file);
    const other = Lock.acquire(file, 'the folder d');
    expect(message(() => lock.refresh())).toContain(`the folder d is in use by process ${process.pid}`);
    lock.release();
    expect(lockHolder(file)?.pid).toBe(process.pid);
    other.release();
    lock.release();
  });
});

describe('atomic files', () => {
  test('the old file stays when the new one cannot be written', () => {
    const file = path.join(root, 'a.json');
    writeJsonAtomic(file, { a: 1, b: undefined });
    expect(fs.readFileSync(file, 'utf8')).toBe('{\n  "a": 1\n}\n');
    expect(() => writeJsonAtomic(file, { a: { b: [Number.NaN] } })).toThrow(
      '0 is NaN, which JSON cannot hold',
    );
    expect(fs.readFileSync(file, 'utf8')).toContain('"a": 1');
    const folder = path.join(root, 'b.json');
    fs.mkdirSync(path.join(folder, 'inside'), { recursive: true });
    expect(message(() => writeJsonAtomic(folder, 1))).toMatch(
      /^cannot write .*b\.json: .*; what was there is unchanged$/,
    );
    expect(fs.readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('numbers come back as they were', () => {
    const values = [0.1 + 0.2, 1 / 3, 5e-324, Number.MAX_VALUE, -1e-7];
    expect(JSON.parse(jsonText(values))).toEqual(values);
  });
});
