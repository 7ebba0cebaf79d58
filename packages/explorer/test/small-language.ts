import fs from 'node:fs';
import path from 'node:path';
import {
  createLanguageRun,
  LanguageTask,
  languageConfigSchema,
  prepareLanguage,
  Session,
} from '@hidden-schema/hsn';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinySentences } from '@hidden-schema/testing/tiny-texts';
import { setThreads } from '@hidden-schema/torch';
import { markup } from './small-run.ts';

setThreads(1);

/** Labels as they may come: with markup, and with a letter that has a meaning in addresses. */
export const labelNames = ['<svg/onload=window.harmed=1>', 'bad/worse'] as const;

export interface SmallLanguage {
  folder: string;
  /** A folder with the runs below. */
  runs: string;
  run: string;
  /** The same with another seed. */
  other: string;
  remove(): void;
}

const settings = (seed: number) =>
  languageConfigSchema.parse({
    ...{ model: 'language', symbols: 8, length: 3, seed },
    // Some links are more probable than not, some less.
    graph: { hidden: 8, p: 0.44 },
    encoder: { name: 'transformer', width: 16, layers: 1, heads: 2 },
    decoder: { width: 16, layers: 2, heads: 2, vocabularySize: 320 },
    warmStart: { steps: 0 },
    training: { steps: 6, batch: 16, warmup: 1, logEvery: 1, evaluateEvery: 3, graphRate: 0.1 },
  });

/** Labelled sentences, every tenth with markup in it. */
function sentences(): string[] {
  return tinySentences(150).map((line, at) => {
    const [label, text] = line.split('\t');
    const name = labelNames[label === 'good' ? 0 : 1];
    return `${name}\t${at % 10 === 0 ? `${text} ${markup[(at / 10) % markup.length]}` : text}`;
  });
}

/** Language runs small enough for tests, on sentences and labels with markup. */
export async function makeSmallLanguage(): Promise<SmallLanguage> {
  const folder = temporaryFolder('explorer-text');
  const corpus = folder.path('reviews.tsv');
  fs.writeFileSync(corpus, `${sentences().join('\n')}\n`);
  const runs = folder.path('runs');
  folder.holdCache();
  const [run, other] = [path.join(runs, 'first'), path.join(runs, 'second')];
  await train(run, corpus, 1);
  await train(other, corpus, 2);
  return { folder: folder.path(), runs, run, other, remove: folder.remove };
}

async function train(directory: string, corpus: string, seed: number): Promise<void> {
  const prepared = await prepareLanguage(settings(seed), { input: corpus, settings: { clean: false } });
  const run = createLanguageRun(directory, prepared);
  try {
    await new Session(run, new LanguageTask(prepared), { output: { write: () => true } }).train();
  } finally {
    run.close();
    prepared.close();
  }
}
