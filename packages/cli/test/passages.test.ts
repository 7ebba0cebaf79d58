import fs from 'node:fs';
import { Random } from '@hidden-schema/base';
import { open } from '@hidden-schema/hsn';
import { encodedCorpus, openRun } from '@hidden-schema/studies';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { type Subject, subjects } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-passages');
const corpus = folder.path('documents.jsonl');
const names = Object.keys(subjects) as Subject[];

const random = new Random(2);
/** Words that have nothing to do with subjects, more than there are documents. */
const places =
  `north south east west hill river road bridge corner house garden wall door window roof street market
square village town city county island beach forest field farm lake harbour station tower castle church school office
shop hotel library museum theatre park pool tunnel canal valley desert meadow cliff cave border airport factory mill
stable barn cellar attic balcony terrace yard fence gate path trail track lane avenue alley pier dock quay`.split(
    /\s+/,
  );
const sentence = (subject: Subject) =>
  `The ${Array.from({ length: 5 }, () => subjects[subject][random.int(10)]!).join(' and ')} are at the ${places[random.int(places.length)]}.`;
/** Documents that begin with one subject and then speak of another for most of their length. */
const documents = Array.from({ length: 60 }, (_, n) => {
  const [begins, speaks] = [names[n % 3]!, names[(n + 1) % 3]!];
  const sentences = [...[1, 2].map(() => sentence(begins)), ...[1, 2, 3, 4, 5].map(() => sentence(speaks))];
  return { label: speaks, text: sentences.join(' ') };
});

const small = [
  ...['encoder.longest=32', 'decoder.width=16', 'decoder.layers=1', 'decoder.heads=2'],
  ...['decoder.vocabularySize=320', 'training.steps=2', 'training.batch=16', 'training.evaluateEvery=2'],
].flatMap((setting) => ['--set', setting]);
const training = (out: string, ...more: string[]) => [
  ...['train', '--corpus', corpus, '--stage', 'discover', '--out', folder.path(out)],
  // Of three symbols, all pairs may be linked.
  ...['--symbols', '3', '--length', '3', '--set', 'discovery.density=1', ...small, ...more],
];

beforeAll(async () => {
  folder.holdCache();
  writeTexts(
    corpus,
    documents.map((row) => JSON.stringify(row)),
  );
  const ended = await new HsnProcess(training('run')).ended;
  expect(ended.code, ended.stderr).toBe(0);
  const passages = /60 of 60 texts are longer than the encoder reads at once: cut into (\d+) passages/;
  expect(Number(passages.exec(ended.stderr)?.[1])).toBeGreaterThan(150);
  expect(ended.stderr).not.toContain("longer than the encoder's positions");
});
afterAll(folder.remove);

async function storedWalks(out: string) {
  const run = await openRun(folder.path(out));
  const encoded = await encodedCorpus(run);
  const found = Array.from({ length: encoded.count }, (_, n) => encoded.sentence(n));
  run.model.free();
  return found.map(({ text, walk, label }) => ({ text, walk: [...walk], label }));
}

async function weightsOf(out: string): Promise<Map<string, number[]>> {
  const { model } = await open(folder.path(out));
  const numbers = new Map([...model.namedTensors()].map(([name, tensor]) => [name, tensor.toNumbers()]));
  model.free();
  return numbers;
}

describe('documents that are longer than the encoder reads', () => {
  test('are one text each, whose walk tells what most of it is about', async () => {
    const read = await storedWalks('run');
    expect(read).toHaveLength(60);
    const firsts = names.map((name) => read.filter(({ label }) => label === name).map(({ walk }) => walk[0]));
    for (const own of firsts) expect(new Set(own).size).toBe(1);
    expect(new Set(firsts.flat()).size).toBe(3);
    // The beginning is said too: two symbols a document.
    expect(read.filter(({ walk }) => new Set(walk).size === 2).length).toBeGreaterThan(50);
  });

  test('have the same walks when they are read anew, and are not said to be cut', async () => {
    const read = new Map((await storedWalks('run')).map(({ text, walk }) => [text, walk]));
    const ended = await hsn('encode', folder.path('run'), corpus, '--format', 'jsonl');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).not.toContain('cut');
    const rows = ended.stdout.trim().split('\n');
    expect(rows).toHaveLength(60);
    for (const row of rows) {
      const { text, walk } = JSON.parse(row) as { text: string; walk: number[] };
      expect(walk).toEqual(read.get(text));
    }
  });

  test('are counted as documents by every verb, and found by what stands at their end', async () => {
    const symbols = await hsn('symbols', folder.path('run'), '--json');
    const rows = JSON.parse(symbols.stdout) as {
      sentences: number;
      words: { word: string; count: number }[];
    }[];
    // Each document names two of three symbols.
    expect(rows.reduce((sum, { sentences }) => sum + sentences, 0)).toBeLessThanOrEqual(2 * 60 + 3);
    for (const { words } of rows) for (const { count } of words) expect(count).toBeLessThanOrEqual(60);
    // Its words are those of its own passages, not of what else its documents speak of.
    const own = rows.map(({ words }) => words.slice(0, 8).map(({ word }) => word));
    for (const words of own) {
      const hits = names.map((name) => words.filter((word) => subjects[name].includes(word)).length);
      expect(Math.max(...hits), words.join(' ')).toBe(8);
    }
    const end = documents[0]!.text.split('. ').at(-1)!;
    const found = await hsn('find', folder.path('run'), end, '--json');
    expect(found.code, found.stderr).toBe(0);
    const { sentences } = JSON.parse(found.stdout) as { sentences: { label: string }[] };
    expect(sentences[0]!.label).toBe(documents[0]!.label);
    for (const verb of ['labels', 'predict'] as const) {
      const ended = await hsn(verb, folder.path('run'), '--json');
      expect(ended.code, ended.stderr).toBe(0);
    }
  });

  test('are added to, with themes of their own', async () => {
    const fresh = 'striker referee goalkeeper penalty stadium tackle midfield header league trophy'.split(
      ' ',
    );
    const texts = Array.from({ length: 20 }, () => {
      const line = () => `The ${Array.from({ length: 5 }, () => fresh[random.int(10)]!).join(' and ')} won.`;
      return { label: 'sport', text: Array.from({ length: 7 }, line).join(' ') };
    });
    const more = writeTexts(
      folder.path('more.jsonl'),
      texts.map((row) => JSON.stringify(row)),
    );
    fs.cpSync(folder.path('run'), folder.path('updated'), { recursive: true });
    const ended = await hsn('update', folder.path('updated'), more);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout + ended.stderr).toMatch(/20 texts/);
    const read = await storedWalks('updated');
    expect(read).toHaveLength(80);
    const own = read.filter(({ label }) => label === 'sport').map(({ walk }) => walk[0]);
    expect(new Set(own)).toEqual(new Set([3]));
  });

  test('are read alike by two processes', async () => {
    const ended = await new HsnProcess(training('two', '--processes', '2')).ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(await storedWalks('two')).toEqual(await storedWalks('run'));
    const [alone, both] = [await weightsOf('run'), await weightsOf('two')];
    for (const name of ['walkPrior.start', 'walkPrior.stays', 'graph.logits'])
      for (const [n, value] of both.get(name)!.entries())
        expect(value, name).toBeCloseTo(alone.get(name)![n]!, 4);
  });

  test('teach a decoder, stage after stage, as other texts do', async () => {
    fs.cpSync(folder.path('run'), folder.path('written'), { recursive: true });
    const ended = await hsn('train', '--out', folder.path('written'), '--resume');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('run finished at step 2');
  });
});

describe('discovery.passages', () => {
  test('changes nothing where all texts fit, and without it only beginnings are read', async () => {
    const wide = ['--set', 'encoder.longest=128'];
    for (const [out, cut] of [['on', 'true'] as const, ['off', 'false'] as const]) {
      const more = [...wide, '--set', `discovery.passages=${cut}`];
      const ended = await hsn(...training(out, ...more));
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stderr).not.toContain('passages of at most');
    }
    expect(await weightsOf('on')).toEqual(await weightsOf('off'));
    const short = await hsn(...training('short', '--set', 'discovery.passages=false'));
    expect(short.code, short.stderr).toBe(0);
    expect(short.stderr).toMatch(/60 sentences longer than the encoder's positions: \d+ tokens cut off/);
    const read = await storedWalks('short');
    const own = read.filter(({ label }) => label === 'food').map(({ walk }) => walk[0]);
    // What they are about stands beyond what is read.
    const about = (await storedWalks('run'))
      .filter(({ label }) => label === 'food')
      .map(({ walk }) => walk[0]);
    expect(about.length).toBe(own.length);
  });

  test('is refused where walks follow words', async () => {
    const asked = ['--set', 'discovery.follow=words', '--set', 'discovery.passages=true'];
    const { code, stderr } = await hsn(...training('refused', ...asked));
    expect(code).toBe(1);
    expect(stderr).toContain('discovery.passages needs walks that follow what is left of a text');
    const plain = await hsn(...training('words', '--set', 'discovery.follow=words'));
    expect(plain.code, plain.stderr).toBe(0);
  });
});
