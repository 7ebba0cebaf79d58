import fs from 'node:fs';
import { setThreads } from '@hidden-schema/torch';
import { Group } from '@hidden-schema/torch/distributed/group';
import { placeOf } from '@hidden-schema/torch/distributed/place';
import { languageConfig, loadConfig, syntheticConfig } from '../src/config/settings.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { readSyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';
import { Replicas } from '../src/train/replicas.ts';
import type { Task } from '../src/train/task.ts';

/** A model, its settings as YAML and its corpus. */
export interface ReplicaCase {
  name: string;
  settings: string;
  corpus: string;
  steps: number;
  sweeps?: number;
}

export interface ReplicaResult {
  losses: number[];
  weights: Record<string, number[]>;
}

async function taskOf(
  { settings, corpus }: ReplicaCase,
  replicas: Replicas,
  cache: string,
): Promise<Task<unknown>> {
  const config = loadConfig(settings, 'test');
  if (config.model === 'synthetic')
    return new SyntheticTask(syntheticConfig(config), readSyntheticCorpus(corpus), replicas);
  const given = { input: corpus, settings: {} };
  return new LanguageTask(await prepareLanguage(languageConfig(config), given, { cache }), replicas);
}

/** Trains a case for its steps; gives every loss and the weights at the end. */
export async function trainCase(
  given: ReplicaCase,
  replicas: Replicas,
  cache: string,
): Promise<ReplicaResult> {
  const { trainer, preparation } = await taskOf(given, replicas, cache);
  for (let sweep = 0; sweep < (given.sweeps ?? 0); sweep++) await preparation!.advance({ onPart: () => {} });
  const losses = Array.from({ length: given.steps }, () => trainer.trainStep().loss);
  const named = [...trainer.model.namedTensors()].map(
    ([name, tensor]) => [name, tensor.toNumbers()] as const,
  );
  trainer.free();
  return { losses, weights: Object.fromEntries(named) };
}

/** As a rank of its own: cases from a file, results to another. */
async function main([cases, results, cache]: string[]): Promise<void> {
  setThreads(1);
  const group = await Group.open(placeOf(process.env)!);
  try {
    const found: ReplicaResult[] = [];
    for (const one of JSON.parse(fs.readFileSync(cases!, 'utf8')) as ReplicaCase[])
      found.push(await trainCase(one, new Replicas(group), cache!));
    fs.writeFileSync(`${results}-${group.rank}.json`, JSON.stringify(found));
  } finally {
    group.close();
  }
}

if (process.env.RANK !== undefined) await main(process.argv.slice(2));
