import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage } from '../packaging/build.ts';
import { type Ended, hsn, measuredProcess } from './discovered.ts';
import {
  type BenchOptions,
  boundLine,
  costLine,
  inMemory,
  type Measurement,
  median,
  noTime,
  unmeasured,
} from './measure.ts';

const mostSeconds = 0.4;
/** A start is short, and machines are noisy. */
const leastRounds = 5;
/** Seconds that a verb's rounds take on a slow core. */
const verbSeconds = 8;
/** Seconds that building the package takes on a slow core. */
const buildSeconds = 30;
const root = fileURLToPath(new URL('..', import.meta.url));
const counter = fileURLToPath(new URL('count-modules.mjs', import.meta.url));

/** Verbs that need no model, with what they are given. */
const verbs = (runs: string): readonly (readonly string[])[] => [
  ['--help'],
  ['help', 'train'],
  ['runs', runs],
  ['schema'],
  ['cache'],
  ['completion', 'bash'],
  ['rename', path.join(runs, 'run'), '0', 'first'],
];

/** Start of verbs that need no model: as people install it, and in a checkout, which turns TypeScript into JavaScript first. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    const start = new Start(folder, options);
    await start.makeRun();
    const built = options.budget.fits(buildSeconds)
      ? await start.build()
      : 'left out: no time to build the package';
    if (built !== undefined) yield unmeasured('start of hsn, as installed', built, { list: 8 });
    for (const verb of verbs(start.runs)) {
      if (!options.budget.fits(verbSeconds)) {
        yield noTime(`start of hsn ${verb[0]}`, 8);
        continue;
      }
      if (built === undefined) yield await start.line(verb, start.installed, 'as installed');
      yield await start.line(verb, hsn, 'in a checkout');
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

class Start {
  readonly runs: string;
  readonly installed: string;
  readonly #folder: string;
  readonly #options: BenchOptions;
  readonly #env: NodeJS.ProcessEnv;

  constructor(folder: string, options: BenchOptions) {
    this.runs = path.join(folder, 'runs');
    this.installed = path.join(folder, 'package', 'bin', 'hsn.js');
    this.#folder = folder;
    this.#options = options;
    this.#env = {
      // The engine of the checkout, for verbs that lock a run.
      HSN_ADDON: path.join(root, 'packages/torch/build/torch.node'),
      ...options.environment,
      HSN_CACHE: path.join(folder, 'cache'),
      HSN_BENCH_MODULES: path.join(folder, 'modules'),
    };
  }

  /** A run of two steps, for verbs that read one. */
  async makeRun(): Promise<void> {
    const corpus = path.join(this.#folder, 'corpus');
    const few = ['--nodes', '8', '--sentences', '200'];
    await this.#once([hsn, 'synth', '--out', corpus, ...few]);
    const settings = ['training.steps=2', 'training.batch=16', 'graph.sweeps=1'].flatMap((set) => [
      '--set',
      set,
    ]);
    await this.#once([hsn, 'train', '--corpus', corpus, '--out', path.join(this.runs, 'run'), ...settings]);
  }

  /** Builds the package as it is published; says what went wrong. */
  async build(): Promise<string | undefined> {
    try {
      await buildPackage(path.join(this.#folder, 'package'));
      // Its dependencies are those of the repository.
      fs.symlinkSync(path.join(root, 'node_modules'), path.join(this.#folder, 'package', 'node_modules'));
      return undefined;
    } catch (error) {
      return `failed: npm run build: ${(error as Error).message.split('\n')[0]}`;
    }
  }

  async line(verb: readonly string[], program: string, where: string): Promise<Measurement> {
    const ends: Ended[] = [];
    for (let round = 0; round <= Math.max(leastRounds, this.#options.rounds); round++) {
      const ended = await this.#once([program, ...verb]);
      // The first reads files that later ones find in memory.
      if (round > 0) ends.push(ended);
      if (round > 1 && !this.#options.budget.fits(1)) break;
    }
    const seconds = median(ends.map((end) => end.seconds));
    const words = verb.map((word) => word.replace(`${this.runs}/run`, 'run').replace(this.runs, 'runs'));
    const bench = `start of hsn ${words.join(' ')}, ${where}`;
    const memory = inMemory({ oursMB: Math.max(...ends.map((end) => end.peakMB)) });
    const note = `${await this.#modules([program, ...verb])} modules`;
    // The goal is for what people install.
    if (program === hsn) return { ...costLine(bench, 's', [seconds, null]), ...memory, note };
    return { ...boundLine(bench, 's', seconds, mostSeconds), ...memory, note, list: 8 };
  }

  async #modules(args: readonly string[]): Promise<number> {
    const file = this.#env.HSN_BENCH_MODULES!;
    fs.rmSync(file, { force: true });
    await this.#once(['--import', counter, ...args]);
    const loaded = fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('file:'));
    return new Set(loaded.map((line) => line.replace(/\?.*$/, ''))).size;
  }

  #once(args: readonly string[]): Promise<Ended> {
    return measuredProcess([process.execPath, ...args], this.#env);
  }
}
