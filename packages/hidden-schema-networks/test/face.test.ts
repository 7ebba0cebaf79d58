import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinySentences } from '@hidden-schema/testing/tiny-texts';
import { liveTensors } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LanguageFigures, open, type Settings, type StepMetrics, texts, train } from '../src/index.ts';

const folder = temporaryFolder('face');
afterAll(folder.remove);
const run = folder.path('run');

const settings: Settings = {
  graph: { hidden: 8 },
  encoder: { name: 'transformer', width: 16, layers: 1, heads: 2 },
  decoder: { width: 16, layers: 1, heads: 2, vocabularySize: 320 },
  warmStart: { steps: 10, hold: 2 },
  training: { steps: 6, batch: 16, warmup: 1, logEvery: 1, evaluateEvery: 3 },
};

const items = tinySentences(120).map((line) => {
  const [label, text] = line.split('\t') as [string, string];
  return { text, label };
});

describe('texts in memory', () => {
  const steps: StepMetrics[] = [];
  const stages = new Map<string, [number, number]>();

  beforeAll(async () => {
    const trained = await train(texts(items), {
      ...{ out: run, symbols: 6, length: 3, settings },
      onStep: (step) => steps.push(step),
      onProgress: (stage, done, total) => stages.set(stage, [done, total]),
    });
    expect(trained).toMatchObject({ directory: run, state: 'finished', step: 6 });
    expect(trained.figures!.perplexity).toBeGreaterThan(1);
  });

  test('are trained on, step by step', () => {
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(steps.every(({ loss }) => Number.isFinite(loss))).toBe(true);
  });

  test('are told of stage by stage, to the end of each', () => {
    expect([...stages.keys()]).toEqual(expect.arrayContaining(['read', 'train', 'describe']));
    for (const [stage, [done, total]] of stages) expect([stage, done]).toEqual([stage, total]);
  });

  test('without words have an empty walk, and others are read as ever', async () => {
    using schema = await open(run);
    const [alone] = await schema.encode(['the cat is very good']);
    const [empty, blank, same] = await schema.encode(['', ' \n', 'the cat is very good']);
    expect(empty).toEqual({ text: '', walk: [], steps: [], probability: 1 });
    expect(blank!.walk).toEqual([]);
    expect(same).toEqual(alone);
  });

  test('faults speak of options', async () => {
    using schema = await open(run);
    await expect(schema.compare({ by: 'nosuch' })).rejects.toThrow(/^(?!.*--)/s);
  });

  test('are read, written, interpolated and evaluated', async () => {
    using schema = await open(run);
    expect(schema).toMatchObject({ kind: 'language', symbols: 6, length: 3, directory: run });
    const [first, second] = await schema.encode(['the cat is very good', 'the food was terrible']);
    expect(first!.walk).toHaveLength(3);
    expect(first!.steps).toHaveLength(3);
    expect(first!.probability).toBeCloseTo(first!.steps.reduce((a, b) => a * b));
    expect((await schema.encode(['the food was terrible']))[0]!.walk).toEqual(second!.walk);
    const drawn = { temperature: 0.8, seed: 1 };
    const [text] = await schema.generate(first!.walk, drawn);
    expect(text).toEqual(expect.any(String));
    expect(await schema.generate(first!.walk, drawn)).toEqual([text]);
    const way = await schema.interpolate('the cat is very good', 'the food was terrible', {
      threshold: 0.01,
    });
    expect(way[0]!.walk).toEqual(first!.walk);
    expect(way.at(-1)!.walk).toEqual(second!.walk);
    const figures = (await schema.evaluate({ limit: 5, walks: 4, graphs: 2 })) as LanguageFigures;
    expect(figures).toMatchObject({ sentences: 5, perplexity: expect.any(Number) });
  });

  test('leave symbols with words, labels and names, and a graph', async () => {
    using schema = await open(run, { checkpoint: 'last' });
    const used = (await schema.encode(items.map(({ text }) => text))).flatMap(({ walk }) => walk);
    const symbol = schema.symbol(used[0]!);
    expect(symbol.sentences).toBeGreaterThan(0);
    expect(symbol.words[0]).toMatchObject({ word: expect.any(String), count: expect.any(Number) });
    expect(symbol.labels.map(({ label }) => label).sort()).toEqual(['bad', 'good']);
    schema.rename(used[0]!, 'moods');
    expect(schema.symbol(used[0]!).name).toBe('moods');
    expect(schema.graph.probability(1, 4)).toBe(schema.graph.probability(4, 1));
    for (const { from, to, probability } of schema.graph.links(0.2)) {
      expect(probability).toBeGreaterThanOrEqual(0.2);
      expect(schema.graph.probability(from, to)).toBe(probability);
    }
  });

  test('a schema is freed at the end of its block, and says so', async () => {
    const held = liveTensors().tensors;
    const kept = await (async () => {
      using schema = await open(run);
      expect(liveTensors().tensors).toBeGreaterThan(held + 20);
      return schema;
    })();
    // Masks and the like are left to the garbage collector.
    expect(liveTensors().tensors).toBeLessThan(held + 10);
    await expect(kept.encode(['x'])).rejects.toThrow(`the schema of ${run} was freed; open it again`);
    expect(() => kept.symbol(0)).toThrow('was freed');
    kept.free();
  });

  test('a signal stops training, and the run stays', async () => {
    const controller = new AbortController();
    const stopped = await train(texts(items), {
      ...{ out: folder.path('stopped'), symbols: 6, length: 3, settings, signal: controller.signal },
      onStep: ({ step }) => step === 2 && controller.abort(),
    });
    expect(stopped).toMatchObject({ state: 'stopped', step: 2, reason: 'stopped from outside' });
    using schema = await open(stopped.directory);
    expect(schema.step).toBe(2);
    expect(() => schema.symbol(0)).toThrow(
      `what the symbols of ${folder.path('stopped')} mean is not known yet: await schema.describe() works it out once`,
    );
    const meanings = await schema.describe({ limit: 20 });
    expect(schema.symbol(3)).toEqual(meanings[3]);
  });
});

test('a file with columns of its own', async () => {
  const file = folder.path('reviews.csv');
  fs.writeFileSync(file, `stars,review\n${items.map(({ text, label }) => `${label},${text}`).join('\n')}\n`);
  const trained = await train(texts(file, { label: 'stars', text: 'review' }), {
    ...{ out: folder.path('columns'), symbols: 4, length: 2, settings, meanings: false },
  });
  expect(trained.state).toBe('finished');
  const record = JSON.parse(fs.readFileSync(folder.path('columns', 'run.json'), 'utf8'));
  expect(record.text.labels).toEqual(['bad', 'good']);
});

describe('runs of other kinds', () => {
  const kept = fileURLToPath(new URL('../../../fixtures/runs', import.meta.url));

  test('tuples are read, and evaluated by their own verb', async () => {
    fs.cpSync(kept, folder.path('kept'), { recursive: true });
    const tuples = folder.path('kept', 'reasoning-0.1.0');
    using schema = await open(tuples);
    expect(schema.kind).toBe('reasoning');
    await expect(schema.evaluate()).rejects.toThrow(
      `${tuples} is of tuples; evaluate it with: hsn reason eval ${tuples}`,
    );
    await schema.describe();
    const described = Array.from({ length: schema.symbols }, (_, symbol) => schema.symbol(symbol));
    expect(described.some(({ words }) => words.length > 0)).toBe(true);
  });

  test('a synthetic language is read and evaluated, but writes nothing', async () => {
    fs.cpSync(kept, folder.path('kept'), { recursive: true });
    using schema = await open(folder.path('kept', 'synthetic-0.1.0'));
    expect(schema.kind).toBe('synthetic');
    expect(await schema.evaluate({ limit: 10 })).toMatchObject({ sentences: 10, auc: expect.any(Number) });
    await expect(schema.generate([0])).rejects.toThrow(
      `${folder.path('kept', 'synthetic-0.1.0')} is the run of a synthetic language; generate takes a language model`,
    );
  });
});

describe('the names that are offered', () => {
  const own = fileURLToPath(new URL('../src', import.meta.url));
  const packages = path.resolve(own, '../..');
  const textsOf = (folder: string) =>
    fs
      .readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'));

  /** Names of an entry with the folder of sources they come from; namespaces are described by their members. */
  function offered(entry: string): [name: string, folder: string][] {
    const text = fs.readFileSync(path.join(own, `${entry}.ts`), 'utf8');
    return [...text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(([, names, from]) => {
      const folder = from!.startsWith('.') ? own : path.join(packages, from!.split('/')[1]!, 'src');
      return names!
        .split(',')
        .map(
          (name) =>
            name
              .trim()
              .replace(/^type /, '')
              .split(' as ')[0]!,
        )
        .filter((name) => !['', 'nn', 'optim'].includes(name))
        .map((name): [string, string] => [name, folder]);
    });
  }

  test.each(['index', 'model', 'torch', 'explorer', 'studies'])(
    '%s: each has a comment that describes it',
    (entry) => {
      const bare = offered(entry).filter(([name, folder]) => {
        const described = new RegExp(`\\*/\\nexport (async |abstract )?[a-z]+\\*? ${name}\\b`);
        return !textsOf(folder).some((text) => described.test(text));
      });
      expect(bare.map(([name]) => name)).toEqual([]);
    },
  );

  test('are few', () => {
    expect(offered('index').length).toBeGreaterThan(20);
    expect(offered('index').length).toBeLessThan(60);
  });
});

describe('mistakes are told in a line', () => {
  const out = folder.path('none');

  test.each([
    ['no texts', () => train(texts(folder.path('gone.tsv')), { out }), 'gone.tsv'],
    ['a run that is there', () => train(texts(items), { out: run }), `${run}`],
    [
      'settings that there are not',
      () => train(texts(items), { out, symbols: 1 }),
      /settings: symbols.*expected.*got 1/,
    ],
    [
      'a text that is none',
      () => train(texts([7 as never]), { out, settings }),
      'text 0 is 7; expected a string',
    ],
    ['a folder that is no run', () => open(folder.path('empty')), 'does not exist'],
  ])('%s', async (_, act, message) => {
    await expect(act()).rejects.toMatchObject({ name: 'UserError' });
    await expect(act()).rejects.toThrow(message);
    expect(fs.existsSync(out)).toBe(false);
  });

  test('a column for texts in memory', () => {
    expect(() => texts(['a'], { label: 'stars' })).toThrow(
      'texts in memory have no label to choose: it is for files, leave it out',
    );
  });

  test('a symbol that is none, and one text in place of a list', async () => {
    using schema = await open(run);
    expect(() => schema.symbol(6)).toThrow('the symbols of this model are 0 to 5, got 6');
    expect(() => schema.graph.probability(0, 9)).toThrow('the symbols of this model are 0 to 5, got 9');
    await expect(schema.encode('one' as never)).rejects.toThrow(
      'encode takes a list of texts, got one: put it into [ ]',
    );
  });
});
