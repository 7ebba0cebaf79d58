import fs from 'node:fs';
import { type LanguageRun, linkProbabilities, type OpenedRun, schemaOf } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { jitter } from '@hidden-schema/testing/tiny-language';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { interpolateTexts, interpolateWalks } from '../src/analyses/interpolate-texts.ts';
import { runReport } from '../src/analyses/report-sections.ts';
import { attentionSheet } from '../src/analyses/sheets.ts';
import { RunSource } from '../src/analyses/source.ts';
import { labelMaps } from '../src/measures/label-maps.ts';
import { withoutStays } from '../src/measures/symbol-uses.ts';
import { exportedGraph } from '../src/runs/graph-export.ts';
import { writeModelCard } from '../src/runs/model-card.ts';
import { languageRun, openRun } from '../src/runs/opened.ts';
import { sentenceAttention, studyAttention } from '../src/symbols/attention.ts';
import { meanWeights, readAttention } from '../src/symbols/attention-reading.ts';
import { runLayout } from '../src/symbols/layout.ts';
import { renameSymbol, runSymbols, symbolNames } from '../src/symbols/names.ts';
import { storedMeanings } from '../src/symbols/stored-meanings.ts';
import { type EncodedCorpus, encodedCorpus, openEncoded } from '../src/texts/encoded.ts';
import { wordsOf } from '../src/texts/words.ts';

const folder = temporaryFolder('analysis');
const hostile = '<img src=x onerror=alert(1)> & "quoted"';
let run: LanguageRun;
let encoded: EncodedCorpus;

beforeAll(async () => {
  folder.holdCache();
  const lines = tinySentences(120).map((line, i) => (i % 40 === 3 ? `${line} ${hostile}` : line));
  writeTexts(folder.path('reviews.tsv'), lines);
  const sizes = ['--symbols', '6', '--length', '3', ...tinyLanguageFlags, '--set', 'warmStart.steps=0'];
  const corpus = ['--corpus', folder.path('reviews.tsv'), '--no-clean'];
  const trained = await hsn(
    'train',
    ...corpus,
    '--out',
    folder.path('run'),
    ...sizes,
    '--set',
    'decoder.layers=2',
  );
  if (trained.code !== 0) throw new Error(trained.stderr);
  run = languageRun(await openRun(folder.path('run')), 'a test');
  // As if it had been trained for long: walks differ between sentences, and links are certain or absent.
  jitter(run.model, 1.5);
  encoded = await encodedCorpus(run, { limit: 90 });
});
afterAll(() => {
  encoded?.close();
  run?.model.free();
  folder.remove();
});

describe('encoded sentences', () => {
  test('are those of the corpus with the walks that are read in them', async () => {
    expect(encoded).toMatchObject({ count: 90, total: 120, length: 3, symbols: 6 });
    const { sentences } = encoded.page(0, 5);
    const { walks } = await run.texts.read(sentences.map(({ text }) => text));
    for (const [i, sentence] of sentences.entries()) {
      expect(sentence.walk).toEqual(walks[i]!.walk);
      expect(Array.from(encoded.walk(i))).toEqual(sentence.walk);
      expect(sentence.probabilities[0]).toBeCloseTo(walks[i]!.probabilities[0]!, 4);
      expect(encoded.labels[encoded.labelOf[i]!]).toBe(sentence.label);
    }
    expect(sentences[0]!.split).toBe('test');
    expect(encoded.sentence(89).split).toBe('train');
  });

  test('are stored with the run, and opened again page by page', () => {
    const again = openEncoded(run)!;
    expect(again.sentence(41)).toEqual(encoded.sentence(41));
    again.close();
    const symbol = encoded.walk(7)[1]!;
    const page = encoded.page(1, 3, { symbol, label: 'good' });
    const all = encoded.page(0, 90).sentences.filter((s) => s.walk.includes(symbol) && s.label === 'good');
    expect(page.total).toBe(all.length);
    expect(page.sentences).toEqual(all.slice(1, 4));
    expect(() => encoded.sentence(90)).toThrow('sentence 90 of 90');
  });

  test('nearest by walk: itself first, then others that share steps', () => {
    const [first, second] = encoded.nearest(encoded.walk(5), { limit: 2 });
    // A step that stays is none that walks share.
    expect(first!.shared).toBe(withoutStays(encoded.walk(5)).length);
    expect(second!.shared).toBeGreaterThanOrEqual(0);
    const [other] = encoded.nearest(encoded.walk(5), { limit: 1, except: first!.sentence.index });
    expect(other!.sentence.index).not.toBe(first!.sentence.index);
  });

  test('a table that was cut is not taken for whole, but made again', async () => {
    const file = run.run.path('analysis', 'encoded.bin');
    const bytes = fs.readFileSync(file);
    fs.writeFileSync(file, bytes.subarray(0, 100));
    expect(openEncoded(run)).toBeUndefined();
    fs.writeFileSync(file, bytes);
    expect(fs.readdirSync(run.run.path('analysis')).filter((name) => name.includes('partial'))).toEqual([]);
  });
});

describe('what symbols mean', () => {
  test('words, labels, positions and examples agree with the sentences', async () => {
    const meanings = await storedMeanings(run, { encoded });
    expect(meanings.reduce((sum, { usage }) => sum + usage, 0)).toBeCloseTo(1, 10);
    const all = encoded.page(0, 90).sentences;
    const busiest = meanings.toSorted((a, b) => b.sentences - a.sentences)[1]!;
    const mine = all.filter(({ walk }) => walk.includes(busiest.symbol));
    expect(busiest.sentences).toBe(mine.length);
    for (const { word, count, pmi } of busiest.words) {
      const has = (text: string) => wordsOf(text).some((placed) => placed.word === word);
      expect(mine.filter(({ text }) => has(text))).toHaveLength(count);
      const inAll = all.filter(({ text }) => has(text)).length;
      expect(pmi).toBeCloseTo(Math.log2((count * 90) / (inAll * mine.length)), 10);
    }
    const label = busiest.labels[0]!;
    const labelled = mine.filter((sentence) => sentence.label === label.label).length;
    expect(label.share).toBeCloseTo(labelled / mine.length, 10);
    for (const [i, share] of busiest.usageByPosition.entries())
      expect(share).toBeCloseTo(all.filter(({ walk }) => walk[i] === busiest.symbol).length / 90, 10);
    const probabilities = linkProbabilities(run.model);
    for (const { symbol, probability } of busiest.neighbours)
      expect(probability).toBeCloseTo(probabilities[busiest.symbol * 6 + symbol]!, 10);
    expect(busiest.examples.every(({ walk, positions }) => walk[positions[0]!] === busiest.symbol)).toBe(
      true,
    );
    expect(busiest.attended.length).toBeGreaterThan(0);
  });

  test('are stored, with names as they are now', async () => {
    renameSymbol(run.run.directory, 2, '  colours ');
    expect((await storedMeanings(run, { encoded }))[2]!.name).toBe('colours');
    expect(symbolNames(run.run.directory).get(2)).toBe('colours');
    // Without a name of one's own it has the one made of its words.
    const made = symbolNames(run.run.directory).get(1);
    expect(made).toMatch(/\p{L}/u);
    expect(renameSymbol(run.run.directory, 2, '')).not.toBe('colours');
    expect(() => renameSymbol(run.run.directory, 2, 'a\u202eb')).toThrow('no control characters');
    expect(() => renameSymbol(run.run.directory, 2, 'x'.repeat(81))).toThrow('at most 80 characters, got 81');
    fs.writeFileSync(run.run.path('names.json'), '{');
    expect(() => renameSymbol(run.run.directory, 2, 'x')).toThrow('names.json is damaged');
    fs.rmSync(run.run.path('names.json'));
    expect(runSymbols(run.run.directory)).toBe(6);
  });

  test('the layout is drawn once and stored in graph.json', () => {
    const layout = runLayout(run);
    const stored = JSON.parse(fs.readFileSync(run.run.path('graph.json'), 'utf8'));
    expect(stored.layout.positions).toEqual(Array.from(layout));
    expect(stored.symbols).toBe(6);
    stored.layout.positions[0] = 0.123;
    run.run.store('graph.json', stored);
    expect(runLayout(run)[0]).toBe(0.123);
    expect(exportedGraph(run).nodes[0]!.x).toBe(0.123);
  });
});

describe('attention', () => {
  test('of a sentence is what the decoder computes, token by token', async () => {
    const { text } = encoded.sentence(0);
    const { value: found } = await readAttention(run, [{ text, walk: [1, 2, 3] }]).next();
    expect(found.pieces.join('')).toBe(text);
    const { ids } = await run.tokenizers.decoder.encode(text, { specials: false, literal: true });
    const attention: Tensor[] = [];
    const input = Int32Array.from([run.texts.frames.decoder.begin!, ...ids]);
    const layers = scope(() =>
      noGrad(() => {
        const tokens = Tensor.fromArray(input, [1, input.length]);
        run.model.decoder.hidden(tokens, schemaOf(run.model, [[1, 2, 3]]), { attention });
        return attention.map((layer) => layer.toNumbers());
      }),
    );
    const T = input.length;
    for (let layer = 0; layer < 2; layer++)
      for (let head = 0; head < 2; head++)
        for (let t = 0; t < ids.length; t++)
          for (let i = 0; i < 3; i++)
            expect(found.weights[((layer * 2 + head) * ids.length + t) * 3 + i]).toBeCloseTo(
              layers[layer]![(head * T + t) * 3 + i]!,
              5,
            );
    const raw = (layer: number, head: number) => found.weights[(layer * 2 + head) * ids.length * 3 + 1];
    const all = [raw(0, 0), raw(0, 1), raw(1, 0), raw(1, 1)];
    const mean = (of: number[]) => of.reduce((sum, weight) => sum + weight, 0) / of.length;
    expect(meanWeights(found, {}, [0])[1]).toBeCloseTo(mean(all), 6);
    expect(meanWeights(found, { layer: 1 }, [0])[1]).toBeCloseTo(mean(all.slice(2)), 6);
    expect(meanWeights(found, { layer: 1, head: 0 }, [0])[1]).toBeCloseTo(raw(1, 0), 6);
    const { tokens, walk, weights } = await sentenceAttention(run, text);
    expect([tokens, weights.length, weights[0]!.length]).toEqual([found.pieces, ids.length, walk.length]);
  });

  test('the study counts the most attended symbol of every occurrence', async () => {
    const study = await studyAttention(run, encoded, ['is', 'Was', 'good']);
    const count = (word: string) =>
      encoded
        .page(0, 90)
        .sentences.flatMap(({ text }) => wordsOf(text))
        .filter((w) => w.word === word).length;
    expect(study.words).toEqual(['is', 'was', 'good'].map((word) => ({ word, occurrences: count(word) })));
    expect([study.layers, study.heads]).toEqual([2, 2]);
    for (const distribution of [...study.overall, ...study.byLayer.flat(), ...study.byHead.flat(2)])
      expect(distribution.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
    expect(study.kl).toHaveLength(2);
    expect(study.kl[0]!.pairs).toHaveLength(6);
    for (const { kl } of study.kl.flatMap(({ pairs }) => pairs)) expect(kl).toBeGreaterThanOrEqual(0);
    expect(attentionSheet(study).rows).toHaveLength(3);
    await expect(studyAttention(run, encoded, ['good'])).rejects.toThrow('compares words, at least two');
    await expect(studyAttention(run, encoded, ['good', 'zebra'])).rejects.toThrow(
      'none of the 90 encoded sentences has the word "zebra"',
    );
  });
});

describe('interpolation of sentences', () => {
  test('begins with the first walk, ends with the second, and decodes each step', async () => {
    const [a, b] = [encoded.sentence(0).text, encoded.sentence(1).text];
    const found = await interpolateTexts(run, a, b, { threshold: 1e-6, write: { maxTokens: 4 } });
    expect(found.unreachable).toBeNull();
    expect(found.steps[0]!.walk).toEqual(encoded.sentence(0).walk);
    expect(found.steps.at(-1)!.walk).toEqual(encoded.sentence(1).walk);
    const [text] = await run.texts.write(found.steps[1]!.walk, { maxTokens: 4 });
    expect(found.steps[1]!.text).toBe(text);
    const nodes = await interpolateWalks(run, [0, 1, 2], [3, 4, 5], {
      variant: 'nodes',
      steps: 2,
      threshold: 1e-6,
      write: { maxTokens: 2 },
    });
    expect(nodes.steps.map(({ walk }) => walk)).toHaveLength(3);
  });

  test('ends that cannot be reached are explained', async () => {
    const probabilities = linkProbabilities(run.model);
    const most = Math.max(...probabilities);
    const far = await interpolateWalks(run, [0, 1, 2], [3, 4, 5], { threshold: Math.min(1, most + 1e-4) });
    expect(far.steps).toEqual([]);
    expect(far.unreachable).toMatch(
      /^no path leads from .*: symbol .*\b2\b.* has no links, symbol .*\b3\b.* has no links; a threshold of 0\.\d+ would/,
    );
    await expect(interpolateWalks(run, [0, 1], [3, 4, 5])).rejects.toThrow('have 3 steps, got 2');
    await expect(interpolateWalks(run, [0, 1, 9], [3, 4, 5])).rejects.toThrow('are 0 to 5, got 0, 1, 9');
    await expect(interpolateTexts(run, ' ', 'x')).rejects.toThrow('got an empty one');
  });
});

describe('the report', () => {
  test('is one page with everything, in which no text is markup', async () => {
    renameSymbol(run.run.directory, encoded.walk(0)[0]!, '<svg onload=alert(2)>');
    const page = await runReport(new RunSource(run, { encoded }), { samples: 5, words: ['is', 'was'] });
    for (const title of ['Training', 'Graph', 'Each label', 'All themes', 'Texts of each theme', 'Attention'])
      expect(page).toContain(`<h2>${title}</h2>`);
    expect(page).toContain('&lt;svg onload=alert(2)&gt;');
    expect(/<img|<svg onload/.test(page)).toBe(false);
    // The search and its data, and no other.
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script type="application/json" id="data">', '<script>']);
    expect(page.match(/https?:\/\/(?!www\.w3\.org\/)[^"]*/g)).toBeNull();
    expect(page.match(/(src|href)="(?!#)[^"]*/g)).toBeNull();
    expect(page).toContain('prefers-color-scheme:dark');
    const maps = labelMaps(encoded);
    expect(page).toContain(`<td class="n">${maps.divergence[0]![1]!.toFixed(3)}</td>`);
    fs.rmSync(run.run.path('names.json'));
  });

  test('the model card says what the run is, without paths of this machine', () => {
    const card = fs.readFileSync(writeModelCard(run.run.directory), 'utf8');
    expect(card).toMatch(/^# run\n/);
    expect(card).toContain('a walk of 3 steps on a graph of 6 symbols');
    expect(card).toContain('| labels ');
    expect(card).toMatch(/\| perplexity +\| +\d/);
    expect(card).not.toContain(folder.path());
  });
});

test('a synthetic run is analysed by the same functions', async () => {
  tinyCorpus(folder.path('corpus'));
  const args = ['--corpus', folder.path('corpus'), '--out', folder.path('synthetic'), ...tinyFlags];
  expect((await hsn('train', ...args)).code).toBe(0);
  const opened: OpenedRun = await openRun(folder.path('synthetic'));
  expect(fs.existsSync(opened.run.path('MODEL.md'))).toBe(true);
  const sentences = await encodedCorpus(opened, { limit: 50 });
  expect(sentences).toMatchObject({ count: 50, symbols: 8, length: 5 });
  expect(sentences.sentence(0).text.split(' ')).toHaveLength(5);
  sentences.close();
  const source = new RunSource(opened);
  const page = await runReport(source, { samples: 5 });
  source.close();
  expect(page).toContain('<h2>Where walks go</h2>');
  expect(() => languageRun(opened, 'hsn attend')).toThrow('hsn attend takes a language model');
  opened.model.free();
});
