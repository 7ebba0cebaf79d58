import fs from 'node:fs';
import path from 'node:path';
import { knownMeanings, openRun } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-real-corpora');
beforeAll(() => folder.holdCache());
afterAll(folder.remove);

const small = [
  ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
].flatMap((setting) => ['--set', setting]);
const discover = (corpus: string, out: string, ...more: string[]) => {
  const where = ['--corpus', folder.path(corpus), '--stage', 'discover', '--out', folder.path(out)];
  return hsn('train', ...where, '--symbols', '3', '--length', '3', ...small, ...more);
};

/** The words of all symbols of a run. */
async function wordsOf(out: string): Promise<Set<string>> {
  const run = await openRun(folder.path(out));
  const meanings = knownMeanings(run)!;
  run.model.free();
  return new Set(meanings.flatMap(({ words }) => words.map(({ word }) => word)));
}

/** Agencies, addresses and footers are those of a subject, so that they would be its words. */
const wire: Record<string, (text: string) => string> = {
  food: (text) => `PARIS (Reuters) - ${text}. See http://wire.example/${text.length}?ref=href for recipes`,
  space: (text) => `&lt;p&gt;${text}&lt;/p&gt; &gt;&gt; Subscribe to our orbital newsletter today.`,
  music: (text) => `${text}. Subscribe to our orbital newsletter today.`,
};

describe('news with markup, addresses and footers', () => {
  beforeAll(() => {
    writeTexts(
      folder.path('news.tsv'),
      plantedTexts().map(([subject, text]) => `${subject}\t${wire[subject]!(text)}`),
    );
  });
  const noise = [
    'reuters',
    'http',
    'href',
    'gt',
    'lt',
    'wire',
    'example',
    'subscribe',
    'newsletter',
    'orbital',
  ];

  test('have symbols whose words are what texts say', async () => {
    const ended = await discover('news.tsv', 'clean');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(
      'markup, addresses or tags of news agencies taken out of 80 texts; --no-clean keeps them',
    );
    const words = await wordsOf('clean');
    expect(noise.filter((word) => words.has(word))).toEqual([]);
    for (const word of ['soup', 'planet', 'guitar']) expect([...words]).toContain(word);
  });

  test('keep all of it with --no-clean', async () => {
    const ended = await discover('news.tsv', 'raw', '--no-clean');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).not.toContain('taken out');
    const words = await wordsOf('raw');
    expect(noise.filter((word) => words.has(word)).length).toBeGreaterThan(3);
  });

  test('leave out the words of --stop-words, now and when the run is resumed', async () => {
    fs.writeFileSync(folder.path('stop.txt'), '# of the kitchen\nSoup\nbread, butter\n');
    const ended = await discover('news.tsv', 'stopped', '--stop-words', folder.path('stop.txt'));
    expect(ended.code, ended.stderr).toBe(0);
    const words = await wordsOf('stopped');
    expect(['soup', 'bread', 'butter'].filter((word) => words.has(word))).toEqual([]);
    expect([...words]).toContain('cheese');
    const missing = await discover('news.tsv', 'none', '--stop-words', folder.path('nowhere.txt'));
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toMatch(
      /^hsn: cannot read the stop words .*nowhere\.txt: .*expected words, a line each/,
    );
  });
});

describe('a small corpus', () => {
  const ten = [
    ...['The soup was cold.', 'I like bread and butter.', 'The rocket left the launch pad.'],
    ...['A comet passed the moon.', 'The guitar was out of tune.', 'The singer sang a chorus.'],
    ...[
      'Dinner was late again.',
      'The telescope saw a galaxy.',
      'An orchestra played.',
      'Cheese is made of milk.',
    ],
  ];
  beforeAll(() => {
    writeTexts(folder.path('twenty.txt'), [...ten, ...ten]);
    writeTexts(folder.path('one.txt'), ten.slice(0, 1));
  });

  test('of twenty texts, ten different, is discovered without texts for anything else', async () => {
    const ended = await discover('twenty.txt', 'twenty');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(
      'of 20 texts, 10 repeat an earlier one and 0 more are nearly the same; all count',
    );
    const read = await hsn('symbols', folder.path('twenty'));
    expect(read.code, read.stderr).toBe(0);
  });

  test('is told the least, in numbers, where it is too small', async () => {
    const many = await discover('twenty.txt', 'many', '--symbols', '50');
    expect(many.stderr).toMatch(
      /^hsn: 50 symbols need at least as many texts, got 14 training texts: at most 14 symbols can be found, such as --symbols 4; or give more texts$/m,
    );
    const different = await discover('twenty.txt', 'different', '--symbols', '12');
    expect(different.stderr).toMatch(
      /12 symbols need at least as many texts, got \d+ different texts among the 14 that train: at most \d+ symbols/,
    );
    const one = await discover('one.txt', 'one', '--symbols', '2');
    expect(one.stderr).toContain('got 1 training texts: at least 2 are needed');
    const write = await hsn(
      'train',
      '--corpus',
      folder.path('twenty.txt'),
      '--out',
      folder.path('write'),
      ...small,
    );
    expect(write.stderr).toMatch(
      /has 20 sentences and none of them for valid: .* 100 are enough; .*--stage discover/,
    );
    for (const { stderr, code } of [many, different, one, write]) {
      expect(code).toBe(1);
      expect(stderr).not.toContain('    at ');
    }
  });
});

describe('a folder of documents', () => {
  test('is read a document a file, a folder a label, however long they are', async () => {
    for (const [n, [subject, text]] of plantedTexts().slice(0, 60).entries()) {
      const ending = ['txt', 'md', 'html'][n % 3]!;
      const body = Array.from({ length: 12 }, () => `${text}.`).join('\n\n');
      const written = {
        txt: body,
        md: `# ${subject}\n\n${body}`,
        html: `<html><body><p>${body}</p></body></html>`,
      };
      const file = folder.path('articles', subject, `${n}.${ending}`);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, written[ending as keyof typeof written]);
    }
    const ended = await discover('articles', 'documents');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('articles: 60 documents, one a file, labels are the 3 folders in it');
    expect(ended.stderr).toMatch(
      /60 of 60 texts are longer than the encoder reads at once: cut into \d+ passages/,
    );
    expect(ended.stderr).toMatch(/corpus: \d+ \+ \d+ \+ \d+ sentences, 3 labels/);
    const labels = await hsn('labels', folder.path('documents'), '--json');
    expect(labels.code, labels.stderr).toBe(0);
  });
});
