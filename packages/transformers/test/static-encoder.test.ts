import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, randn, setThreads, Tensor } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BertEncoder, bertConfigSchema } from '../src/bert.ts';
import { distilledPieces } from '../src/distil.ts';
import { keptInHalf, openStaticEncoder, pieceBags, StaticEncoder } from '../src/static-encoder.ts';

const folder = temporaryFolder('static-encoder');
const tokenizer = trainByteBpe(['the cat sat on the mat'], 280);
const [V, d, D, P] = [tokenizer.vocabulary, 4, 6, 3];
const rarity = Float32Array.from({ length: V }, (_, piece) => (piece === 0 ? 0 : 1 + (piece % 5)));
const columns = Int32Array.from({ length: V }, (_, piece) => (piece < 10 ? piece % (P + 1) : 0));
let encoder: StaticEncoder;

beforeAll(() => {
  setThreads(1);
  const generator = new Generator(4);
  const parts = {
    pieces: keptInHalf(randn([V, d], generator)),
    rarity: Tensor.fromArray(rarity, [V]),
    columns: Tensor.fromArray(columns, [V]),
    words: keptInHalf(randn([P + 1, D], generator)),
    projection: randn([d, D], generator),
    shift: randn([D], generator),
  };
  encoder = new StaticEncoder(parts, { teacher: 'a teacher', fitted: { texts: 7, cosine: 0.5 } });
});
afterAll(() => {
  encoder.free();
  folder.remove();
});

const texts = [Int32Array.of(0, 5, 5, 7, 200, 0), Int32Array.of(3), Int32Array.of(0, 0), new Int32Array(0)];

/** The vector of a text from its formula, in double precision. */
function byFormula(text: Int32Array): number[] {
  const [pieces, words, projection, shift] = [
    encoder.pieces,
    encoder.words,
    encoder.projection,
    encoder.shift,
  ].map((tensor) => tensor.toNumbers()) as [number[], number[], number[], number[]];
  const weights = new Map<number, number>();
  for (const piece of new Set(text)) {
    const count = text.filter((other) => other === piece).length;
    if (rarity[piece]! > 0) weights.set(piece, (1 + Math.log(count)) * rarity[piece]!);
  }
  const unit = (x: number[]) => x.map((value) => value / (Math.hypot(...x) || 1));
  const length = Math.hypot(...weights.values()) || 1;
  const mean = Array.from({ length: d }, (_, i) =>
    [...weights].reduce((sum, [piece, weight]) => sum + (weight / length) * pieces[piece * d + i]!, 0),
  );
  return unit(
    Array.from({ length: D }, (_, j) => {
      const own = [...weights].reduce(
        (sum, [piece, weight]) =>
          sum + (weight / length) * (columns[piece] ? words[columns[piece]! * D + j]! : words[j]!),
        0,
      );
      return own + unit(mean).reduce((sum, x, i) => sum + x * projection[i * D + j]!, 0) + shift[j]!;
    }),
  );
}

describe('a static encoder', () => {
  test('gives the vectors of its formula, also of texts without pieces', () => {
    const got = encoder.vectors(texts);
    const all = got.toNumbers();
    got.free();
    for (const [row, text] of texts.entries())
      for (const [j, value] of byFormula(text).entries()) expect(all[row * D + j]).toBeCloseTo(value, 5);
  });

  test('is the same after its folder was written and opened', () => {
    const target = folder.path('kept');
    encoder.writeTo(target, tokenizer);
    const again = openStaticEncoder(target);
    expect(again.tokenizer.hash).toBe(tokenizer.hash);
    expect(again.encoder.notes).toEqual(encoder.notes);
    const [before, after] = [encoder.vectors(texts), again.encoder.vectors(texts)];
    expect(after.toNumbers()).toEqual(before.toNumbers());
    for (const one of [before, after, again.encoder]) one.free();
  });

  test('refuses a folder whose rows are not there', () => {
    const target = folder.path('wrong');
    encoder.writeTo(target, tokenizer);
    const config = JSON.parse(fs.readFileSync(`${target}/config.json`, 'utf8')) as Record<string, unknown>;
    fs.writeFileSync(`${target}/config.json`, JSON.stringify({ ...config, hidden_size: D + 1 }));
    expect(() => openStaticEncoder(target)).toThrow(/words is float16 \[4, 6\], expected float32 \[any, 7\]/);
  });

  test('weighs pieces by rarity and counts, of unit length', () => {
    const { indices, offsets, weights } = pieceBags(texts, rarity);
    expect([...offsets]).toEqual([0, 3, 4, 4]);
    expect([...indices]).toEqual([5, 7, 200, 3]);
    expect(Math.hypot(...weights.subarray(0, 3))).toBeCloseTo(1, 6);
  });
});

test('pieces are distilled once: a cached table is read again, a damaged one is made again', async () => {
  const config = bertConfigSchema.parse({
    ...{ vocab_size: V, hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 1 },
    ...{ intermediate_size: 16, max_position_embeddings: 8 },
  });
  const teacher = { encoder: new BertEncoder(config, new Generator(1)), tokenizer };
  const calls: number[] = [];
  const notes: string[] = [];
  const options = {
    cache: folder.path('cache'),
    onProgress: (done: number) => calls.push(done),
    onNote: (text: string) => notes.push(text),
  };
  const first = await distilledPieces(teacher, options);
  expect(first.shape).toEqual([V, 16]);
  expect(calls).toEqual([V]);
  const again = await distilledPieces(teacher, options);
  expect(calls).toEqual([V]);
  expect(again.toNumbers()).toEqual(first.toNumbers());
  const [file] = fs.readdirSync(folder.path('cache/distilled'));
  fs.truncateSync(folder.path(`cache/distilled/${file}`), 100);
  const third = await distilledPieces(teacher, options);
  expect(third.toNumbers()).toEqual(first.toNumbers());
  expect(notes.join()).toContain('is damaged');
  for (const one of [first, again, third, teacher.encoder]) one.free();
});
