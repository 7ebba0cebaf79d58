import fs from 'node:fs';
import path from 'node:path';
import {
  hashBytes,
  hashFileSlowly,
  type JsonValue,
  jsonText,
  reasonOf,
  spareMemory,
  syncFolderSoon,
  takeName,
  UserError,
  writeDurably,
} from '@hidden-schema/base';
import { safetensorsBytes, type Tensor, writeSafetensors } from '@hidden-schema/torch';
import {
  BEST,
  bestText,
  checkSpace,
  MANIFEST,
  type Manifest,
  MODEL,
  manifestText,
  OPTIMIZER,
  requireWritable,
  STATE,
  setAside,
  tidy,
} from './checkpoint.ts';
import type { Run } from './run.ts';

type Named = readonly (readonly [string, Tensor])[];

/** What a checkpoint holds. */
export interface CheckpointParts {
  model: Iterable<readonly [string, Tensor]>;
  optimizer?: Iterable<readonly [string, Tensor]>;
  state: JsonValue;
}

export interface SaveOptions {
  /** Marks this checkpoint as the best so far, which is kept. */
  best?: boolean;
  /** How many of the last to keep beside the best; 3 by default. */
  keep?: number;
  /** A step that is kept whatever comes after it. */
  always?: number | undefined;
}

type Warn = (text: string) => void;

/** A file's bytes; or it is on disk already, since its tensors were too many to be copied. */
type Content = Buffer | 'written';

/** Above this, or above a quarter of the memory that is free, tensors go to the disk without being copied first. */
const COPY_LIMIT = 1 << 30;

/**
 * Writes a run's checkpoints while training goes on. Tensors are copied at the moment of `save`; hashing, writing and
 * syncing run on the threads of the event loop, and a fault among them is thrown at the next `check` or `save`.
 */
export class CheckpointWriter {
  readonly #run: Run;
  readonly #warn: Warn;
  #pending: Promise<void> | undefined;
  #fault: unknown;

  /** `warn` hears, once of each, of old checkpoints that cannot be removed; training goes on beside them. */
  constructor(run: Run, warn: Warn = () => undefined) {
    requireWritable(run);
    this.#run = run;
    const said = new Set<string>();
    this.#warn = (text) => {
      if (!said.has(text)) warn(text);
      said.add(text);
    };
  }

  /** Begins `checkpoints/step-N`, which appears whole or not at all; one that is still under way is waited for. */
  async save(step: number, parts: CheckpointParts, options: SaveOptions = {}): Promise<void> {
    await this.settle();
    requireWritable(this.#run);
    if (!Number.isSafeInteger(step) || step < 0)
      throw new RangeError(`a checkpoint's step cannot be ${step}`);
    const folder = this.#run.path('checkpoints');
    const begun = begin(folder, step, parts);
    this.#pending = finish({ run: this.#run, step, begun, warn: this.#warn }, options).catch(
      (error: unknown) => {
        this.#fault = error;
      },
    );
  }

  /** Throws what went wrong since the last call, if anything did; cheap enough for every step. */
  check(): void {
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault !== undefined) throw fault;
  }

  /** Waits until everything is on disk. */
  async settle(): Promise<void> {
    await this.#pending;
    this.#pending = undefined;
    this.check();
  }
}

/** Writes a checkpoint where no run is, for a run whose folder was lost; returns where. */
export async function saveElsewhere(folder: string, step: number, parts: CheckpointParts): Promise<string> {
  fs.mkdirSync(folder, { recursive: true });
  const { partial, contents } = begin(folder, step, parts);
  await fill(partial, step, contents);
  return moveIntoPlace(partial, folder, step);
}

interface Begun {
  partial: string;
  contents: Map<string, Content>;
}

/** All that must happen before another step changes the tensors. */
function begin(folder: string, step: number, parts: CheckpointParts): Begun {
  const model = [...parts.model];
  const optimizer = parts.optimizer && [...parts.optimizer];
  const state = Buffer.from(jsonText(parts.state));
  const partial = path.join(folder, `.partial-step-${step}`);
  const bytes = tensorBytes(model) + tensorBytes(optimizer ?? []);
  const copied = bytes <= Math.min(COPY_LIMIT, spareMemory() / 4);
  return reported(folder, step, partial, () => {
    tidy(folder);
    checkSpace(folder, step, bytes + state.length);
    fs.mkdirSync(partial);
    const contents = new Map<string, Content>();
    const put = (name: string, tensors: Named) => {
      const file = path.join(partial, name);
      if (copied) contents.set(name, safetensorsBytes(file, tensors));
      else {
        writeSafetensors(file, tensors);
        contents.set(name, 'written');
      }
    };
    put(MODEL, model);
    if (optimizer) put(OPTIMIZER, optimizer);
    contents.set(STATE, state);
    return { partial, contents };
  });
}

interface Saving {
  run: Run;
  step: number;
  begun: Begun;
  warn: Warn;
}

async function finish({ run, step, begun, warn }: Saving, options: SaveOptions): Promise<void> {
  const folder = run.path('checkpoints');
  const { partial, contents } = begun;
  await reported(folder, step, partial, async () => {
    await fill(partial, step, contents);
    await moveIntoPlace(partial, folder, step);
    if (options.best) {
      const draft = path.join(folder, `.${BEST}.${process.pid}.tmp`);
      await writeDurably(draft, Buffer.from(bestText(step)));
      await fs.promises.rename(draft, path.join(folder, BEST));
      await syncFolderSoon(folder);
    }
  });
  await removeOld(run, options, warn);
}

/** The new checkpoint is there by now: what is left of old ones takes space, and harms nothing. */
async function removeOld(run: Run, { keep = 3, always }: SaveOptions, warn: Warn): Promise<void> {
  const { old, faults } = setAside(run, keep, always);
  for (const gone of old)
    await fs.promises.rm(gone, { recursive: true, force: true }).catch((error) => faults.push(error));
  for (const fault of faults)
    warn(`warning: an old checkpoint cannot be removed, and takes space: ${reasonOf(fault)}`);
}

/** Files first, their hashes in the manifest last. */
async function fill(partial: string, step: number, contents: ReadonlyMap<string, Content>): Promise<void> {
  const sums = [...contents].map(async ([name, content]): Promise<[string, Manifest['files'][string]]> => {
    const file = path.join(partial, name);
    if (content === 'written') return [name, await hashFileSlowly(file)];
    const [sum] = await Promise.all([hashBytes(content), writeDurably(file, content)]);
    return [name, sum];
  });
  // All of them, so that none still writes when a fault of another is dealt with.
  const settled = await Promise.allSettled(sums);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  const files = Object.fromEntries(settled.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : [])));
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeDurably(path.join(partial, MANIFEST), Buffer.from(manifestText(step, sorted)));
  await syncFolderSoon(partial);
}

/** In the place of one that has the same step, as after a resume. */
async function moveIntoPlace(partial: string, folder: string, step: number): Promise<string> {
  const target = path.join(folder, `step-${step}`);
  const aside = takeName(partial, target, { aside: path.join(folder, `.old-step-${step}`) });
  await syncFolderSoon(folder);
  if (aside !== undefined) await fs.promises.rm(aside, { recursive: true, force: true });
  return target;
}

/** A fault leaves nothing half-written and says what is kept. */
function reported<T>(folder: string, step: number, partial: string, body: () => T): T {
  const explain = (error: unknown): never => {
    fs.rmSync(partial, { recursive: true, force: true });
    if (error instanceof UserError) throw error;
    const lost = fs.existsSync(folder) ? 'the checkpoints before it are kept' : 'its folder is gone';
    throw new UserError(
      `cannot write the checkpoint ${path.join(folder, `step-${step}`)}: ${reasonOf(error)}; ${lost}`,
    );
  };
  try {
    const result = body();
    return result instanceof Promise ? (result.catch(explain) as T) : result;
  } catch (error) {
    return explain(error);
  }
}

const tensorBytes = (tensors: Named): number =>
  tensors.reduce(
    (sum, [name, tensor]) => sum + tensor.size * elementBytes(tensor) + 128 + 2 * name.length,
    0,
  );

function elementBytes({ dtype }: Tensor): number {
  const bits = /\d+$/.exec(dtype);
  return bits ? Number(bits[0]) / 8 : 1;
}
