import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, test } from 'vitest';
import { languageConfigSchema } from '../src/config/language.ts';
import { syntheticConfig } from '../src/config/settings.ts';
import { readMetrics } from '../src/run/metrics.ts';
import { Run } from '../src/run/run.ts';
import { verifyRun } from '../src/run/run-summary.ts';
import { Session } from '../src/run/session.ts';
import { openLanguage, openLanguageCorpus } from '../src/tasks/language/open.ts';
import { languageFigures } from '../src/tasks/language/task.ts';
import { readSyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import { evaluateSynthetic, validationLoss } from '../src/tasks/synthetic/evaluation.ts';
import { openSyntheticRun } from '../src/tasks/synthetic/open.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';
import { openReasoning, openTuples } from '../src/tasks/tuples/open.ts';
import { openReasoner } from '../src/tasks/tuples/path/reasoner.ts';
import { oldWalks } from './old-pursuit.ts';

const folder = temporaryFolder('old-run');
afterAll(folder.remove);
const kept = fileURLToPath(new URL('../../../fixtures/runs', import.meta.url));
fs.cpSync(kept, folder.path(), { recursive: true });
const directory = folder.path('synthetic-0.1.0');
const rowAt = (step: number, name: string) =>
  readMetrics(`${directory}/metrics.jsonl`).rows.find((row) => row.step === step && row[name] !== undefined)!;

describe('a run of version 0.1.0', () => {
  test('opens, is whole, and evaluates to what it logged', () => {
    expect(Run.open(directory).record).toMatchObject({ format: 1, version: '0.1.0', state: 'stopped' });
    expect(verifyRun(directory).faults).toEqual([]);
    expect(verifyRun(directory).notes).toEqual([
      expect.stringContaining('were not recorded when it was made'),
    ]);
    const { model, corpus, step, notes } = openSyntheticRun(directory);
    expect([step, notes]).toEqual([5, []]);
    // Another processor may round otherwise.
    expect(validationLoss(model, corpus)).toBeCloseTo(rowAt(5, 'validation').validation!, 3);
    expect(evaluateSynthetic(model, corpus)).toMatchObject({ sentences: 20, auc: 1 });
    model.free();
  });

  test('continues from where it was stopped', async () => {
    const run = Run.open(directory, { write: true });
    expect(run.notes).toEqual([expect.stringContaining('were not recorded when it was made')]);
    const config = syntheticConfig(run.config);
    const corpus = readSyntheticCorpus(folder.path('corpus'), { seed: config.seed });
    expect(run.differences(config, corpus)).toEqual([]);
    const said: string[] = [];
    const output = { write: (text: string) => said.push(text) };
    const session = new Session(run, new SyntheticTask(config, corpus), { resume: true, output });
    expect(session.trainer.step).toBe(7);
    const result = await session.train();
    run.close();
    expect(result).toMatchObject({ state: 'finished', step: 10 });
    expect(said.join('')).not.toContain('damaged');
    expect(Run.open(directory).record.format).toBe(2);
    expect(verifyRun(directory)).toMatchObject({ faults: [], notes: [] });
    // What the run that was not stopped logged when the fixture was made.
    expect(rowAt(8, 'loss').epoch).toBe(1);
    expect(rowAt(10, 'loss').loss).toBeCloseTo(45.135, 1);
  });

  test('of a later format, says which version it needs', () => {
    const later = folder.path('later');
    fs.cpSync(`${kept}/synthetic-0.1.0`, later, { recursive: true });
    const record = JSON.parse(fs.readFileSync(`${later}/run.json`, 'utf8'));
    fs.writeFileSync(`${later}/run.json`, JSON.stringify({ ...record, format: 3, version: '3.0.0' }));
    expect(() => Run.open(later)).toThrow(
      /has format 3, made by version 3\.0\.0; .*so open it with version 3\.0\.0 or later/,
    );
  });
});

const readJson = (file: string): Record<string, number> =>
  JSON.parse(fs.readFileSync(folder.path(file), 'utf8'));
/** Another processor may round otherwise. */
function expectClose(figures: object, wanted: Record<string, number>): void {
  expect(Object.keys(figures).sort()).toEqual(expect.arrayContaining(Object.keys(wanted).sort()));
  for (const [name, value] of Object.entries(wanted))
    expect((figures as Record<string, number>)[name], name).toBeCloseTo(value, 3);
}

describe('a language run of version 0.1.0', () => {
  test('evaluates to the same figures, and reads and writes the same', async () => {
    const opened = await openLanguage(folder.path('language-0.1.0'));
    const corpus = await openLanguageCorpus(opened, { cache: folder.path('cache') });
    const { model, texts } = opened;
    const draws = { limit: 500, walks: 20 };
    const figures = languageFigures(model, corpus, texts.frames, { ...draws, graphs: 5 });
    // That version measured what walks tell on the first graph alone, now it is the mean over graphs; walks that are
    // drawn for it come from another place of the generator.
    const drawn = ['mutual_information_exact', 'symbols_used'];
    const wanted = Object.fromEntries(
      Object.entries(readJson('language-0.1.0/evaluation.json')).filter(([name]) => !drawn.includes(name)),
    );
    const onFirst = Object.keys(wanted).filter((name) => /^mutual_information|^kl_walk/.test(name));
    const part = (first: boolean) =>
      Object.fromEntries(Object.entries(wanted).filter(([name]) => onFirst.includes(name) === first));
    expectClose(figures, part(false));
    expectClose(languageFigures(model, corpus, texts.frames, { ...draws, graphs: 1 }), part(true));
    const { walks } = await texts.read(['the food was terrible', 'a dog is friendly']);
    expect(walks.map(({ walk }) => walk)).toEqual([
      [2, 2, 2],
      [2, 2, 2],
    ]);
    expect(walks[0]!.probabilities[0]).toBeCloseTo(0.366317, 4);
    const [written] = await texts.write([2, 2, 2]);
    expect(written).toMatch(/D\ufffd+pp\ufffd+ was was\ufffd+$/);
    corpus.close();
    model.free();
  });
});

describe('a run over tuples of version 0.1.0', () => {
  test('opens with its path model and tells the same objects', async () => {
    const reasoner = await openReasoner(folder.path('reasoning-0.1.0'));
    const [best] = await reasoner.candidates('PersonX goes home', 'xWant');
    expect(best!.walk).toEqual([2, 5, 0, 4]);
    // That version scored an object by the best of its walks alone.
    expect(best!.walkLogProb + best!.objectLogProb).toBeCloseTo(-139.45067763328552, 2);
    reasoner.free();
    const opened = await openReasoning(folder.path('reasoning-0.1.0'));
    const { corpus } = await openTuples(opened);
    expect(corpus.splits.test.length).toBe(8);
    opened.model.free();
  });
});

describe('symbols that were discovered before walks could stay', () => {
  /** What was read before symbols had starts and cutoffs. */
  const read = {
    rest: {
      walks:
        '67280 13572 67025 64085 05867 45780 82741 08265 14582 68254 57608 74061 85672 48586 02685 85741 67304 48671 41803 42806 85162 34085 28584 67453',
      probability: 0.117498,
      weights: 0.218642,
    },
    words: {
      walks:
        '64676 14131 63256 64242 08050 42454 82482 08080 12525 64242 58575 73274 84248 41484 02525 82858 68676 42524 47241 41424 83858 34234 28272 62526',
      probability: 0.282073,
      weights: 0.142723,
    },
  };

  test.each(['rest', 'words'] as const)('give texts the very walks they gave: follow %s', (follow) => {
    const found = oldWalks(follow);
    expect(found.walks).toBe(read[follow].walks);
    expect(found.probability).toBeCloseTo(read[follow].probability, 5);
    expect(found.weights).toBeCloseTo(read[follow].weights, 5);
  });

  test('have settings that say nothing of it', () => {
    const config = languageConfigSchema.parse({ model: 'language', graph: { selfLoops: false } });
    expect(config.walk.stays).toBe(false);
  });
});
