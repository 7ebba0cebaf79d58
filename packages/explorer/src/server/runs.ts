import fs from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { Run } from '@hidden-schema/hsn/run/run';
import { isRunFolder } from '@hidden-schema/hsn/run/run-record';
import type { Answer } from '../shared/api.ts';
import { notFound } from './fault.ts';
import { type ModelLimits, Models } from './models.ts';
import { RunFacts } from './run-facts.ts';
import type { ModelEndpoint, TaskAnswer, TaskInput } from './tasks.ts';

/** The runs that are served: those named, and those in folders that were named; new ones appear by themselves. */
export class Runs {
  readonly models: Models;
  readonly #named: readonly string[];
  readonly #facts = new Map<string, RunFacts>();

  constructor(named: readonly string[], limits: ModelLimits) {
    this.#named = named.map((name) => path.resolve(name));
    this.models = new Models(limits);
    if (this.#directories().length === 0) throw noRun(named);
  }

  /** Every run, broken ones with their reason. */
  async list(): Promise<Answer<'runs'>> {
    const runs: Answer<'runs'>['runs'] = [];
    const ids = this.#ids();
    for (const [id, directory] of ids) {
      const summary = this.#factsOf(id, directory).summary();
      // One that is being removed just now is not among them.
      if (summary.state !== 'damaged' || isRunFolder(directory)) runs.push(summary);
      await setImmediate();
    }
    for (const directory of this.#facts.keys())
      if (![...ids.values()].includes(directory)) this.#facts.delete(directory);
    return { runs };
  }

  /** What is known of a run, by its id. */
  facts(id?: string): RunFacts {
    return this.#factsOf(...this.#find(id));
  }

  ask<N extends ModelEndpoint | 'analysis'>(
    name: N,
    input: TaskInput<N> & { run?: string | undefined },
    signal: AbortSignal,
  ): Promise<TaskAnswer<N>> {
    const [, directory] = this.#find(input.run);
    return this.models.ask(directory, name, input, signal);
  }

  async close(): Promise<void> {
    await this.models.close();
  }

  #find(asked?: string): [id: string, directory: string] {
    const ids = this.#ids();
    const [first] = ids.keys();
    const id = asked ?? first ?? '';
    const directory = ids.get(id);
    if (directory === undefined)
      throw notFound(`there is no run “${asked ?? ''}”; /api/runs lists those there are`);
    return [id, directory];
  }

  #factsOf(id: string, directory: string): RunFacts {
    const known = this.#facts.get(directory) ?? new RunFacts(id, directory, this.models);
    this.#facts.set(directory, known);
    return known;
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
    return [...new Set(this.#named.flatMap((folder) => (isRunFolder(folder) ? [folder] : runsIn(folder))))];
  }
}

function runsIn(folder: string): string[] {
  let names: string[];
  try {
    names = fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
  return names.map((name) => path.join(folder, name)).filter(isRunFolder);
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
