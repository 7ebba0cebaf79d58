import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  CheckpointWriter,
  Run,
  readSyntheticCorpus,
  SYNTHETIC_DEFAULTS,
  SyntheticTask,
  syntheticOptions,
  writeSyntheticCorpus,
} from '@hidden-schema/hsn';
import { setThreads } from '@hidden-schema/torch';
import { type BenchOptions, inMemory, type Measurement, median } from './measure.ts';
import { peakMB } from './peak-memory.ts';

/** Steps from one checkpoint to the next. */
const every = 100;
const goal = 0.97;

/** The cost of safety: training with a checkpoint every 100 steps beside the same training without, taking turns. */
export async function* run({ threads, ...options }: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(threads);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-bench-'));
  try {
    yield { ...(await measure(folder, options)), ...inMemory({ oursMB: peakMB() }) };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  folder: string,
  { rounds, budget }: Pick<BenchOptions, 'rounds' | 'budget'>,
): Promise<Measurement> {
  const training = new Training(folder);
  const [safe, bare]: [number[], number[]] = [[], []];
  // Round 0 warms caches, threads and the compiler up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now();
    // Whoever goes second has the warmer cache, so they take turns in that too.
    const order = round % 2 === 0 ? [true, false] : [false, true];
    for (const saving of order) {
      const seconds = await training.seconds(saving);
      if (round > 0) (saving ? safe : bare).push(seconds);
    }
    if (round > 0 && !budget.fits((performance.now() - began) / 1000)) break;
  }
  training.free();
  const ratio = median(bare) / median(safe);
  const perSecond = (seconds: number) => Number((every / seconds).toPrecision(4));
  return {
    bench: `training with a checkpoint every ${every} steps, beside training without`,
    unit: 'steps/s',
    ours: perSecond(median(safe)),
    peer: perSecond(median(bare)),
    ratio: Number(ratio.toPrecision(4)),
    goal: `ratio >= ${goal}`,
    met: ratio >= goal,
  };
}

class Training {
  readonly #run: Run;
  readonly #task: SyntheticTask;
  readonly #writer: CheckpointWriter;

  constructor(folder: string) {
    const directory = path.join(folder, 'corpus');
    writeSyntheticCorpus(SYNTHETIC_DEFAULTS, directory);
    const corpus = readSyntheticCorpus(directory);
    const config = syntheticOptions.parse({ graph: { sweeps: 0 }, training: { steps: 1_000_000 } });
    this.#run = Run.create(path.join(folder, 'run'), config, {
      directory,
      fingerprint: corpus.fingerprint,
    });
    this.#task = new SyntheticTask(config, corpus);
    this.#writer = new CheckpointWriter(this.#run);
  }

  /** The time of 100 steps; with a checkpoint, until it is on disk. */
  async seconds(saving: boolean): Promise<number> {
    const { trainer } = this.#task;
    const began = performance.now();
    if (saving) await this.#save();
    for (let i = 0; i < every; i++) {
      trainer.trainStep();
      this.#writer.check();
      await setImmediate();
    }
    await this.#writer.settle();
    return (performance.now() - began) / 1000;
  }

  #save(): Promise<void> {
    const { trainer } = this.#task;
    return this.#writer.save(trainer.step, {
      model: trainer.model.namedTensors(),
      optimizer: trainer.optimizer.namedTensors(),
      state: JSON.parse(JSON.stringify(trainer.state())),
    });
  }

  free(): void {
    this.#task.trainer.free();
    this.#run.close();
  }
}
