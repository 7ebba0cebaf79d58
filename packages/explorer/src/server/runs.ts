import fs from 'node:fs';
import path from 'node:path';
import { Run, UserError } from '@hidden-schema/hsn';
import type { Answer } from '../shared/api.ts';
import { Fault } from './fault.ts';
import { Inference } from './inference.ts';
import { RunFacts } from './run-facts.ts';

/** Models that are open at once; a further run closes the one that was longest not asked. */
const MOST_OPEN = 3;

interface Open {
  facts: RunFacts;
  inference: Inference;
  asked: number;
}

/** The runs that are served: those named, and those in folders that were named; new ones appear by themselves. */
export class Runs {
  readonly #named: readonly string[];
  readonly #queue: number;
  readonly #open = new Map<string, Open>();
  #count = 0;

  constructor(named: readonly string[], queue: number) {
    this.#named = named.map((name) => path.resolve(name));
    this.#queue = queue;
    if (this.#directories().length === 0) throw noRun(named);
  }

  list(): Answer<'runs'> {
    const runs = [...this.#ids()].flatMap(([id, directory]) => {
      try {
        return [this.#open.get(directory)?.facts.summary() ?? new RunFacts(id, directory).summary()];
      } catch {
        // A run that is being made or removed just now is not among them.
        return [];
      }
    });
    return { runs };
  }

  /** A run by its id, opened when it is asked first. */
  get(id?: string): Open {
    const ids = this.#ids();
    const [first] = ids.keys();
    const directory = ids.get(id ?? first ?? '');
    if (directory === undefined)
      throw new Fault(404, 'not_found', `there is no run “${id ?? ''}”; /api/runs lists those there are`);
    const open = this.#open.get(directory) ?? this.#start(id ?? first!, directory);
    open.asked = ++this.#count;
    return open;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ inference }) => inference.close()));
  }

  #start(id: string, directory: string): Open {
    const inference = new Inference(directory, this.#queue);
    const open = { facts: new RunFacts(id, directory, inference), inference, asked: 0 };
    this.#open.set(directory, open);
    const idle = [...this.#open].filter(([, other]) => other !== open && other.inference.load === 0);
    const [oldest] = idle.sort(([, a], [, b]) => a.asked - b.asked);
    if (oldest && this.#open.size > MOST_OPEN) {
      this.#open.delete(oldest[0]);
      void oldest[1].inference.close();
    }
    return open;
  }

  /** Ids are the folders' names; a name that is there twice gets a number. */
  #ids(): Map<string, string> {
    const ids = new Map<string, string>();
    for (const directory of this.#directories()) {
      const name = path.basename(directory);
      let id = name;
      for (let number = 2; ids.has(id); number++) id = `${name}-${number}`;
      ids.set(id, directory);
    }
    return ids;
  }

  #directories(): string[] {
    return [...new Set(this.#named.flatMap((folder) => (isRun(folder) ? [folder] : runsIn(folder))))];
  }
}

const isRun = (folder: string): boolean => fs.existsSync(path.join(folder, 'run.json'));

function runsIn(folder: string): string[] {
  let names: string[];
  try {
    names = fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
  return names.map((name) => path.join(folder, name)).filter(isRun);
}

/** What is wrong with a folder that is no run and holds none; the library says it best. */
function noRun(named: readonly string[]): Error {
  try {
    Run.open(named[0] ?? '.');
  } catch (error) {
    return error as Error;
  }
  return new UserError('there is no run to serve');
}
