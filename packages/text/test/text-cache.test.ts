import fs from 'node:fs';
import path from 'node:path';
import { openTextCorpus } from '@hidden-schema/testing/text-corpus';
import { TextFolder, texts } from '@hidden-schema/testing/text-folder';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Frames, padded, readBatch, type TextBatch, type TokenStore } from '../src/index.ts';
import { batchesByLength, lengthOrder, type OrderOptions } from '../src/text-batches.ts';
import { trainByteBpe } from '../src/tokenizer/train-bpe.ts';

const folder = new TextFolder();
const caches = () =>
  fs.existsSync(path.join(folder.cache, 'tokens')) ? fs.readdirSync(path.join(folder.cache, 'tokens')) : [];

describe('the token cache', () => {
  test('holds both sides, the labels and the texts of every sentence', async () => {
    const corpus = await folder.of('c.tsv', 'x\tthe words\ny\ta small decoder\nx\tother words here\n');
    for (let at = 0; at < 3; at++) {
      const row = corpus.store.row(at);
      const { text, label } = corpus.store.example(at);
      expect(corpus.labels[row.label]).toBe(label);
      expect(corpus.store.ids('encoder', row)).toEqual((await folder.encoder.encode(text)).ids);
      expect(corpus.store.ids('decoder', row)).toEqual((await folder.decoder.encode(text)).ids);
      expect(corpus.store.lengths.decoder[at]).toBe(row.decoderLength);
    }
    expect(corpus.report.tokens!.decoder.tokens).toBe(corpus.store.lengths.decoder.reduce((a, b) => a + b));
    expect(() => corpus.store.row(3)).toThrow('sentence 3 of 3');
  });

  test('is used again for the same content and tokenizers, under any name of folder', async () => {
    const first = await folder.of('a/c.txt', 'one\ntwo\n');
    folder.write({ 'b/c.txt': 'one\ntwo\n' });
    const second = await folder.open(folder.file('b/c.txt'));
    expect([first.cached, second.cached, caches().length]).toEqual([false, true, 1]);
    expect(second.report).toEqual(first.report);
    folder.write({ 'c.txt': 'one\ntwo' });
    expect((await folder.open(folder.file('c.txt'))).cached).toBe(false);
    expect((await folder.open(folder.file('b/c.txt'), {}, 32)).cached).toBe(false);
    expect((await folder.open(folder.file('b/c.txt'), { duplicates: 'remove' })).cached).toBe(false);
    const other = { tokenizer: trainByteBpe(['xyz xyz'], 280), longest: 64 };
    const sides = { ...folder.sides(), decoder: other };
    const retokenised = await openTextCorpus(folder.file('b/c.txt'), sides, { cache: folder.cache });
    expect([retokenised.cached, caches().length]).toEqual([false, 5]);
    retokenised.close();
  });

  test('is made again when a file of it was cut, changed or lost', async () => {
    const first = await folder.of('c.txt', 'one sentence\nand two\n');
    const whole = texts(first);
    const { folder: cache } = first.store;
    const again = async () => {
      const corpus = await folder.open(folder.file('c.txt'));
      expect(texts(corpus)).toEqual(whole);
      return corpus.cached;
    };
    for (const name of ['encoder.bin', 'decoder.bin', 'texts.bin', 'rows.bin', 'cache.json']) {
      const file = path.join(cache, name);
      fs.truncateSync(file, fs.statSync(file).size - 3);
      expect([name, await again(), await again()]).toEqual([name, false, true]);
      const bytes = fs.readFileSync(file);
      bytes[bytes.length >> 1]! ^= 4;
      fs.writeFileSync(file, bytes);
      expect([name, await again()]).toEqual([name, false]);
      fs.rmSync(file);
      expect([name, await again()]).toEqual([name, false]);
    }
  });

  test('can be stopped, and leaves nothing', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `a sentence ${i}`).join('\n');
    folder.write({ 'c.txt': lines });
    const controller = new AbortController();
    const phases = new Set<string>();
    const opened = folder.open(folder.file('c.txt'), {
      signal: controller.signal,
      onProgress: ({ phase, sentences, bytes, totalBytes }) => {
        phases.add(phase);
        expect(bytes).toBeLessThanOrEqual(totalBytes);
        if (sentences > 500) controller.abort(new Error('stopped by the user'));
      },
    });
    await expect(opened).rejects.toThrow('stopped by the user');
    expect([...phases]).toEqual(['hashing', 'tokenising']);
    expect(caches()).toEqual([]);
  });

  test('forgets what a killed process left', async () => {
    const first = await folder.of('c.txt', 'one\n');
    const key = path.basename(first.store.folder);
    fs.rmSync(first.store.folder, { recursive: true });
    // No process has this number.
    const stale = path.join(folder.cache, 'tokens', `.${key}.partial-4194399`);
    fs.mkdirSync(stale);
    await folder.open(folder.file('c.txt'));
    expect(caches()).toEqual([key]);
  });

  test('special tokens in a text stay text', async () => {
    const corpus = await folder.of('c.txt', 'before <|endoftext|> after\n');
    const ids = corpus.store.ids('decoder', corpus.store.row(0));
    expect([...ids]).not.toContain(folder.decoder.special.end);
    expect(await folder.decoder.decode(ids)).toBe('before <|endoftext|> after');
  });

  test('sentences longer than the positions are cut and counted', async () => {
    folder.write({ 'c.txt': `${'z'.repeat(50)}\nzz\n` });
    const corpus = await folder.open(folder.file('c.txt'), {}, 10);
    expect(corpus.report.tokens!.decoder).toMatchObject({ longest: 10, cutSentences: 1, lostTokens: 40 });
    await expect(folder.open(folder.file('c.txt'), {}, 70_000)).rejects.toThrow(
      "the encoder's longest sentence is from 1 to 65535 tokens, got 70000",
    );
  });
});

const frames = { encoder: { pad: 0 }, decoder: { pad: 1, begin: 7, end: 8 } };

/** Batches as trainings read them: an order of rows, and the store. */
function textBatches(store: TokenStore, rows: Int32Array, options: OrderOptions & Frames) {
  const order = lengthOrder(store, rows, options);
  return {
    batchSize: order.batchSize,
    batchesPerEpoch: order.batchesPerEpoch,
    position: () => order.position(),
    seek: (position: ReturnType<typeof order.position>) => order.seek(position),
    next: () => {
      const { rows: drawn, ...place } = order.next();
      return { ...place, ...readBatch(store, drawn, options) };
    },
  };
}

describe('batches of like length', () => {
  async function corpusOf(count: number) {
    const lines = Array.from({ length: count }, (_, i) => `${'w'.repeat(1 + ((i * 37) % 40))} ${i}`);
    return folder.of('b.txt', lines.join('\n'), { split: [1, 0, 0] });
  }

  test('every sentence once an epoch, padded little, in an order that the seed repeats', async () => {
    const { store, splits } = await corpusOf(1008);
    const options = { ...frames, batchSize: 16, seed: 5 };
    const batches = textBatches(store, splits.train, options);
    expect(batches.batchesPerEpoch).toBe(63);
    const epoch = Array.from({ length: 63 }, () => batches.next());
    const seen = epoch.flatMap(({ rows }) => [...rows]);
    expect(seen.toSorted((a, b) => a - b)).toEqual([...splits.train]);
    const padding = epoch.map(
      ({ decoder }) => 1 - decoder.lengths.reduce((a, b) => a + b) / decoder.ids.length,
    );
    expect(padding.reduce((a, b) => a + b) / 63).toBeLessThan(0.05);
    // Batches come in no order of length.
    const widths = epoch.map(({ decoder }) => decoder.width);
    expect(widths).not.toEqual(widths.toSorted((a, b) => a - b));
    const again = textBatches(store, splits.train, options);
    expect(Array.from({ length: 63 }, () => again.next())).toEqual(epoch);
    const next = Array.from({ length: 63 }, () => batches.next());
    expect(next[0]!.epoch).toBe(1);
    expect(next.map(({ rows }) => rows)).not.toEqual(epoch.map(({ rows }) => rows));
    const other = textBatches(store, splits.train, { ...options, seed: 6 });
    expect(other.next().rows).not.toEqual(epoch[0]!.rows);
  });

  test('seek equals running', async () => {
    const { store, splits } = await corpusOf(100);
    const options = { ...frames, batchSize: 8, seed: 1, pool: 3 };
    fc.assert(
      fc.property(fc.nat({ max: 60 }), (steps) => {
        const running = textBatches(store, splits.train, options);
        for (let i = 0; i < steps; i++) running.next();
        const sought = textBatches(store, splits.train, options);
        sought.seek(running.position());
        expect(sought.next()).toEqual(running.next());
      }),
      { numRuns: 20 },
    );
    const batches = textBatches(store, splits.train, options);
    expect(() => batches.seek({ epoch: 0, batch: 12 })).toThrow('outside an epoch of 12 batches');
  });

  test('fewer sentences than a batch are one batch', async () => {
    const { store, splits } = await corpusOf(3);
    const batches = textBatches(store, splits.train, { ...frames, batchSize: 32, seed: 1 });
    expect([batches.batchSize, batches.batchesPerEpoch]).toEqual([3, 1]);
    expect([...batches.next().rows].toSorted()).toEqual([0, 1, 2]);
    expect(() => textBatches(store, new Int32Array(), { ...frames, batchSize: 4, seed: 1 })).toThrow(
      'batches: sentences must be a whole number of at least 1, got 0',
    );
  });

  test('rows are the stored tokens, framed and padded', async () => {
    const { store, splits } = await corpusOf(20);
    const check = ({ rows, encoder, decoder, labels }: TextBatch) => {
      for (const [i, row] of rows.entries()) {
        const stored = store.row(row);
        const [e, d] = [store.ids('encoder', stored), store.ids('decoder', stored)];
        const line = (side: typeof encoder) => [...side.ids.subarray(i * side.width, (i + 1) * side.width)];
        expect(line(encoder)).toEqual([...e, ...Array(encoder.width - e.length).fill(0)]);
        expect(line(decoder)).toEqual([7, ...d, 8, ...Array(decoder.width - d.length - 2).fill(1)]);
        expect([encoder.lengths[i], decoder.lengths[i], labels[i]]).toEqual([e.length, d.length + 2, -1]);
      }
      expect(Math.max(...decoder.lengths)).toBe(decoder.width);
    };
    check(textBatches(store, splits.train, { ...frames, batchSize: 7, seed: 2 }).next());
    const ordered = [...batchesByLength(store, splits.train, 6, frames)];
    ordered.forEach(check);
    expect(ordered.flatMap(({ rows }) => [...rows]).toSorted((a, b) => a - b)).toEqual([...splits.train]);
    const lengths = ordered.flatMap(({ encoder }) => [...encoder.lengths]);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  });

  test('padding of nothing', () => {
    expect(padded([new Int32Array(), Int32Array.of(4)], { pad: 9 })).toEqual({
      ids: Int32Array.of(9, 4),
      lengths: Int32Array.of(0, 1),
      width: 1,
    });
  });
});

describe('the limit of the token cache', () => {
  test('HSN_CACHE_LIMIT: corpora that were not used for longest go, the one in use stays', async () => {
    const first = await folder.of('a.txt', 'the first\n');
    const hourAgo = Date.now() / 1000 - 3600;
    for (const name of fs.readdirSync(first.store.folder))
      fs.utimesSync(path.join(first.store.folder, name), hourAgo, hourAgo);
    fs.utimesSync(first.store.folder, hourAgo, hourAgo);
    process.env.HSN_CACHE_LIMIT = '0.000001';
    try {
      const second = await folder.of('b.txt', 'the second\n');
      expect(caches()).toEqual([path.basename(second.store.folder)]);
      // Whoever has it open reads on.
      expect(first.store.example(0).text).toBe('the first');
      expect((await folder.open(folder.file('b.txt'))).cached).toBe(true);
    } finally {
      delete process.env.HSN_CACHE_LIMIT;
    }
  });
});
