import assert from 'node:assert/strict';
import fs from 'node:fs';
import { openTextCorpus } from '@hidden-schema/testing/text-corpus';
import { corpusNotes, type TextCorpus, type TextCorpusOptions, trainByteBpe } from '@hidden-schema/text';
import { type Fault, refusal, type Tally } from './tally.ts';

const tokenizer = trainByteBpe(['small words for a small tokenizer'], 300);
const sides = { encoder: { tokenizer, longest: 64 }, decoder: { tokenizer, longest: 64 } };

/** Opens a corpus of one file, gives it to `look`, and closes it. */
async function withCorpus(
  tally: Tally,
  [name, content]: readonly [name: string, content?: string | Uint8Array],
  look: (corpus: TextCorpus) => void,
  options: TextCorpusOptions = {},
): Promise<void> {
  const file = tally.path(name);
  if (content !== undefined) fs.writeFileSync(file, content);
  const corpus = await openTextCorpus(file, sides, { cache: tally.path('cache'), ...options });
  try {
    look(corpus);
  } finally {
    corpus.close();
  }
}

const texts = ({ store }: TextCorpus): string[] =>
  Array.from({ length: store.count }, (_, row) => store.example(row).text);
const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** Row 21: bytes that are not UTF-8, in each format and with each policy. */
async function badUtf8(tally: Tally): Promise<void> {
  const bad = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8, 0x88], [0xe9], [0x80]];
  const files: Record<string, (wrong: number[]) => [Buffer, string]> = {
    'a.txt': (wrong) => [bytes('fine\n', 'caf', wrong, ' au lait\n', 'end\n'), 'a.txt:2:4 '],
    'a.tsv': (wrong) => [bytes('x\tfine\n', 'y\tcaf', wrong, '\n', 'x\tend\n'), 'a.tsv:2:6 '],
    'a.csv': (wrong) => [bytes('text,label\nfine,x\n', 'caf', wrong, ',y\nend,x\n'), 'a.csv:3:4 '],
    'a.jsonl': (wrong) => [bytes('{"text":"fine"}\n{"text":"', wrong, '"}\n{"text":"end"}\n'), 'a.jsonl:2:'],
  };
  for (const [name, make] of Object.entries(files))
    for (const wrong of bad.slice(0, tally.count(bad.length))) {
      const [content, place] = make(wrong);
      await tally.expect(`${wrong} in ${name}`, async () => {
        const said = await refusal(() => withCorpus(tally, [name, content], () => {}));
        assert.ok(said.startsWith(place) && said.includes('--on-bad-utf8 replace or skip'), said);
        await withCorpus(tally, [name, content], ({ report }) => assert.equal(report.badUtf8.lines, 1), {
          onBadUtf8: 'replace',
        });
        const skipped = (corpus: TextCorpus) => assert.deepEqual(texts(corpus), ['fine', 'end']);
        await withCorpus(tally, [name, content], skipped, { onBadUtf8: 'skip' });
      });
    }
}

/** Row 22: odd files, each with the text or the count that tells. */
const odd: [string, string, string | RegExp | ((corpus: TextCorpus) => void)][] = [
  ['an empty file', '', /holds no sentence: it is empty/],
  ['blank lines only', '\n \n\t\n', /of 3 lines 3 are blank/],
  ['a BOM', '\uFEFFone\ntwo\n', ({ report }) => assert.equal(report.boms, 1)],
  ['CRLF', 'one\r\ntwo\r\n', (corpus) => assert.deepEqual(texts(corpus), ['one', 'two'])],
  ['NUL', 'o\0ne\ntwo\n', ({ report }) => assert.equal(report.nul, 1)],
  ['no final newline', 'one\ntwo', ({ report }) => assert.equal(report.noFinalNewline, 1)],
  ['blank lines among others', 'one\n\n\ntwo\n', ({ report }) => assert.equal(report.blank, 2)],
];

async function oddFiles(tally: Tally): Promise<void> {
  for (const [i, [what, content, expected]] of odd.entries())
    await tally.expect(what, async () => {
      if (typeof expected === 'function') await withCorpus(tally, [`odd-${i}.txt`, content], expected);
      else
        assert.match(
          await refusal(() => withCorpus(tally, [`odd-${i}.txt`, content], () => {})),
          RegExp(expected),
        );
    });
  await tally.expect('lone surrogates', () =>
    withCorpus(tally, ['s.jsonl', '{"text":"a\\ud800b"}\n'], (corpus) => {
      assert.deepEqual(texts(corpus), ['a\uFFFDb']);
      assert.equal(corpus.report.loneSurrogates, 1);
    }),
  );
  await tally.expect('one class only', () =>
    withCorpus(tally, ['one.tsv', 'good\ta\ngood\tb\n'], ({ report }) =>
      assert.match(corpusNotes(report).join(), /one class only/),
    ),
  );
  await tally.expect('fewer sentences than a batch', () =>
    withCorpus(tally, ['few.txt', 'one\ntwo\nthree\n'], ({ report }) =>
      assert.match(corpusNotes(report, { batchSize: 64 }).join(), /3 .*64|batch/),
    ),
  );
}

/** Row 23: a line of 1 MB, and one of 1 GB (a hole in a file, which takes no space on disk). */
async function longLines(tally: Tally): Promise<void> {
  await tally.expect('a line of 1 MB', () =>
    withCorpus(
      tally,
      ['long.txt', `short\n${'word '.repeat(210_000)}\nshort\n`],
      (corpus) => {
        assert.deepEqual(
          texts(corpus).map((text) => text.length),
          [5, 999, 5],
        );
        assert.equal(corpus.report.cut, 1);
      },
      { longestText: 1000 },
    ),
  );
  const size = tally.share === 1 ? 2 ** 30 : 2 ** 26;
  await tally.expect(`a line of ${size} bytes`, async () => {
    const file = tally.path('huge.txt');
    fs.writeFileSync(file, 'first\n');
    fs.truncateSync(file, size);
    fs.appendFileSync(file, '\nlast\n');
    const grown = await growthOf((onProgress) =>
      withCorpus(tally, ['huge.txt'], (corpus) => assert.deepEqual(texts(corpus), ['first', 'last']), {
        onProgress,
      }),
    );
    tally.notes.push(`memory grew by ${grown} MB over a line of ${size / 2 ** 20} MB`);
    assert.ok(grown < 200, `memory grew by ${grown} MB`);
  });
}

/** Row 24: ten times the corpus, the same memory. */
async function largeCorpus(tally: Tally): Promise<void> {
  const block = Array.from(
    { length: 1000 },
    (_, i) => `sentence ${i} of a corpus that is never held whole\n`,
  );
  const sizes = [tally.count(100, 2), 10 * tally.count(100, 2)];
  const grown: number[] = [];
  for (const [i, blocks] of sizes.entries()) {
    const file = tally.path(`large-${i}.txt`);
    const out = fs.openSync(file, 'w');
    for (let n = 0; n < blocks; n++) fs.writeSync(out, block.join(''));
    fs.closeSync(out);
    grown.push(
      await growthOf((onProgress) =>
        withCorpus(tally, [`large-${i}.txt`], ({ store }) => assert.equal(store.count, 1000 * blocks), {
          onProgress,
        }),
      ),
    );
  }
  tally.notes.push(
    `memory grew by ${grown[0]} MB over ${sizes[0]} thousand sentences, by ${grown[1]} MB over ${sizes[1]}`,
  );
  await tally.expect('ten times the sentences', () =>
    assert.ok(grown[1]! - grown[0]! < 150, `memory grew by ${grown.join(' and ')} MB`),
  );
}

/** How much more memory was resident at most, in MB. */
async function growthOf(body: (onProgress: () => void) => Promise<void>): Promise<number> {
  const before = process.memoryUsage().rss;
  let peak = before;
  await body(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  });
  return Math.round((peak - before) / 2 ** 20);
}

export const faults: readonly Fault[] = [
  { row: 21, fault: 'invalid UTF-8 in a corpus', inject: badUtf8 },
  { row: 22, fault: 'odd corpora', inject: oddFiles },
  { row: 23, fault: 'lines of 1 MB and 1 GB', inject: longLines },
  { row: 24, fault: 'a corpus larger than memory', inject: largeCorpus },
];
