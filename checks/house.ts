// node --import tsx checks/house.ts   counts lines, long files and loaded files; fails above the limits
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportFaults, sourceFiles } from './source-files.ts';

/** What is reached, rounded up, and the goal. Lower `most` when a count falls; it never rises. */
const LIMITS = {
  lines: { most: 80_450, goal: 55_000, what: 'lines of TypeScript shipped in packages/' },
  long: { most: 0, goal: 0, what: 'files above 300 lines' },
  train: { most: 210, goal: 250, what: 'our files loaded by hsn train on texts' },
  symbols: { most: 160, goal: 160, what: 'our files loaded by hsn symbols' },
} as const;
const LONGEST_FILE = 300;

type Counts = Record<keyof typeof LIMITS, number>;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM = path.join(ROOT, 'packages/cli/bin/hsn.js');
const COUNTER = path.join(ROOT, 'bench/count-modules.mjs');

/** The lines of a text, without an empty one after the last. */
const lineCount = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** Files that npm's package is built from: sources and set-up, without tests and what tests share. */
function shippedFiles(): string[] {
  const packages = fs.readdirSync('packages').filter((name) => name !== 'testing');
  return packages.flatMap((name) =>
    ['src', 'setup'].flatMap((part) => sourceFiles(`packages/${name}/${part}`)),
  );
}

/** Different sentences about four subjects, enough of them for a validation part. */
function texts(): string {
  const words =
    'river lake water bridge album song singer guitar engine wheel road truck flower leaf forest plant';
  const subjects = Array.from({ length: 4 }, (_, at) => words.split(' ').slice(4 * at, 4 * at + 4));
  const lines = Array.from({ length: 160 }, (_, at) => {
    const subject = subjects[at % 4]!;
    return `${[0, 1, 2].map((place) => subject[(at + place * 3) % 4]).join(' ')} ${at}`;
  });
  return `${lines.join('\n')}\n`;
}

/** The files of packages/ that a verb loads in its own process, engine and workers aside. */
function loadedBy(folder: string, args: readonly string[]): number {
  const list = path.join(folder, 'modules');
  fs.rmSync(list, { force: true });
  const env = {
    ...process.env,
    HSN_BENCH_MODULES: list,
    HSN_CACHE: path.join(folder, 'cache'),
    HSN_THREADS: '1',
  };
  const ended = spawnSync(process.execPath, ['--import', COUNTER, PROGRAM, ...args], {
    env,
    encoding: 'utf8',
  });
  if (ended.status !== 0)
    throw new Error(`hsn ${args[0]} failed, so that nothing was counted:\n${ended.stderr}`);
  const loaded = fs
    .readFileSync(list, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('file:'));
  const files = new Set(loaded.map((line) => fileURLToPath(line.replace(/[?#].*$/, ''))));
  return [...files].filter((file) => file.startsWith(path.join(ROOT, 'packages/')) && file.endsWith('.ts'))
    .length;
}

/** Trains on a tiny corpus and looks at its symbols; both take the way of large ones. */
function loadedFiles(): Pick<Counts, 'train' | 'symbols'> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-house-'));
  try {
    const [corpus, run] = [path.join(folder, 'texts.txt'), path.join(folder, 'run')];
    fs.writeFileSync(corpus, texts());
    const sizes = ['training.steps=2', 'training.batch=8', 'decoder.layers=1', 'decoder.width=32'];
    const settings = sizes.flatMap((size) => ['--set', size]);
    const train = ['train', '--corpus', corpus, '--out', run, '--symbols', '4', '--length', '3', ...settings];
    return { train: loadedBy(folder, train), symbols: loadedBy(folder, ['symbols', run]) };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function main(): void {
  process.chdir(ROOT);
  const sizes = shippedFiles().map((file) => ({ file, lines: lineCount(fs.readFileSync(file, 'utf8')) }));
  const long = sizes.filter(({ lines }) => lines > LONGEST_FILE);
  const lines = sizes.reduce((sum, one) => sum + one.lines, 0);
  const counts: Counts = { lines, long: long.length, ...loadedFiles() };
  for (const { file, lines } of long) process.stdout.write(`${file}: ${lines} lines\n`);
  const names = Object.keys(LIMITS) as (keyof Counts)[];
  for (const name of names) {
    const { what, most, goal } = LIMITS[name];
    process.stdout.write(`${String(counts[name]).padStart(6)} ${what} (at most ${most}, goal ${goal})\n`);
  }
  const above = names.filter((name) => counts[name] > LIMITS[name].most);
  reportFaults(
    above.map((name) => `${counts[name]} ${LIMITS[name].what}: ${LIMITS[name].most} are the most`),
  );
}

main();
