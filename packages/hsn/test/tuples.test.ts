import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { trainByteBpe } from '@hidden-schema/text';
import { afterAll, describe, expect, test } from 'vitest';
import { readTuples } from '../src/tasks/tuples/read-tuples.ts';
import { relationMeaning } from '../src/tasks/tuples/relations.ts';
import { TupleTokens, withRelations } from '../src/tasks/tuples/tokens.ts';
import { prefixesOf, TupleTable, tupleNotes } from '../src/tasks/tuples/tuples.ts';

const folder = temporaryFolder('tuples');
afterAll(folder.remove);

function write(name: string, text: string): string {
  const file = folder.path(name);
  fs.mkdirSync(folder.path(name, '..'), { recursive: true });
  fs.writeFileSync(file, text);
  return file;
}

describe('tuples from files', () => {
  test('a folder of TSV files, further columns passed over, a header too', () => {
    write(
      'plain/train_partial.tsv',
      'head\trelation\ttail\nx runs\txWant\tto rest\tsource\nx runs\txWant\tnone\n',
    );
    write('plain/dev.tsv', 'x eats\txWant\tto sleep\n');
    write('plain/test.tsv', 'x sings\txWant\tto dance\r\n');
    const { table, splits, report } = readTuples(folder.path('plain'));
    expect([splits.train.length, splits.valid.length, splits.test.length]).toEqual([2, 1, 1]);
    expect(table.tuple(splits.test[0]!)).toEqual({ head: 'x sings', relation: 'xWant', object: 'to dance' });
    expect(report.none).toEqual({ policy: 'keep', count: 1 });
    const dropped = readTuples(folder.path('plain'), { none: 'drop' });
    expect(dropped.splits.train).toHaveLength(1);
    expect(tupleNotes(dropped).join('\n')).toContain('1 object that say "none": left out');
  });

  test("ATOMIC's CSV: lists under relations, splits by column", () => {
    const file = write(
      'v4_atomic_all.csv',
      [
        'event,oReact,xWant,prefix,split',
        'PersonX runs,"[""none"", ""glad""]","[""to rest""]","[""runs""]",trn',
        'PersonX eats,[],"[""to sleep"", ""to pay""]","[""eats""]",dev',
        'PersonX sings,oops,"[""to dance""]","[""sings""]",tst',
        '',
      ].join('\n'),
    );
    const { table, splits, report } = readTuples(file);
    expect([splits.train.length, splits.valid.length, splits.test.length]).toEqual([3, 2, 1]);
    expect(table.relations).toEqual(['oReact', 'xWant']);
    expect(report.shown).toEqual([
      { where: 'v4_atomic_all.csv:4', reason: 'has no JSON list of texts under oReact' },
    ]);
  });

  test("Event2Mind's CSV: other relations, sentiments passed over, empty objects told", () => {
    write(
      'event2mind/train.csv',
      [
        'Source,Event,Xintent,Xemotion,Oemotion,Xsent,Osent',
        'it_events,PersonX drinks ___ at night,"[""to relax""]","[""calm"", ""none""]","[""none""]",4.0,',
        'it_events,PersonX drinks ___ at night,"[""""]","[""sleepy""]","[]",2.0,1.0',
        '',
      ].join('\n'),
    );
    const { table, report } = readTuples(folder.path('event2mind'), { none: 'drop' });
    expect(table.relations).toEqual(['Xintent', 'Xemotion']);
    expect(table.objects).toEqual(['to relax', 'calm', 'sleepy']);
    expect(table.heads).toEqual(['PersonX drinks ___ at night']);
    expect(report.none.count).toBe(2);
    expect(report.shown).toEqual([{ where: 'train.csv:3', reason: 'has an empty object under Xintent' }]);
  });

  test("ATOMIC-2020's files: its relations and blanks, without a word of settings", () => {
    write('atomic2020/train.tsv', 'PersonX fills ___\tisFilledBy\tthe glass\nbread\tObjectUse\tnone\n');
    write('atomic2020/dev.tsv', 'PersonX eats\tisFilledBy\ta cake\n');
    write('atomic2020/test.tsv', 'PersonX cuts ___\tisFilledBy\tbread\nx\tHinderedBy\ty\n');
    const { table, splits, report } = readTuples(folder.path('atomic2020'), { none: 'drop' });
    expect([splits.train.length, splits.valid.length, splits.test.length]).toEqual([1, 1, 1]);
    expect(table.relations).toEqual(['isFilledBy']);
    expect(report.shown[0]!.reason).toContain('has the unknown relation HinderedBy; train has isFilledBy');
  });

  test('one file is split by event, the same way again', () => {
    const lines = Array.from({ length: 300 }, (_, i) => `event ${i % 100}\txWant\tobject ${i}\n`);
    const file = write('one.tsv', lines.join(''));
    const { table, splits } = readTuples(file, { seed: 4 });
    const heads = Object.values(splits).map((rows) => new Set(Array.from(rows, (row) => table.head[row])));
    expect(heads.reduce((sum, { size }) => sum + size, 0)).toBe(100);
    expect(splits.train.length).toBeGreaterThan(200);
    expect(readTuples(file, { seed: 4 }).splits).toEqual(splits);
    const few = readTuples(file, { seed: 4, heads: 10 });
    expect(few.splits.train).toHaveLength(30);
    expect(few.splits.test).toEqual(splits.test);
  });

  test('an event of two splits stays in the later one', () => {
    write('both/train.tsv', 'a\txWant\tb\nc\txWant\td\n');
    write('both/test.tsv', 'a\txWant\te\n');
    const { splits, report } = readTuples(folder.path('both'));
    expect([splits.train.length, splits.test.length, report.overlapping]).toEqual([1, 1, 1]);
  });

  test('prefixes gather all their objects', () => {
    const table = new TupleTable();
    for (const object of ['b', 'c']) table.add({ head: 'a', relation: 'r', object });
    table.add({ head: 'a', relation: 'q', object: 'd' });
    const found = prefixesOf(table, [0, 1, 2]);
    expect(found.map(({ references }) => references)).toEqual([['b', 'c'], ['d']]);
  });
});

describe('bad input', () => {
  test('malformed rows are counted, the first ten shown with their lines, the rest kept', () => {
    const bad = Array.from({ length: 12 }, (_, i) => (i % 2 ? 'no tabs here' : `head ${i}\txWant\t`));
    write('bad/train.tsv', `good\txWant\tto rest\n\n${bad.join('\n')}\ngood\txNeed\tto run\n`);
    write('bad/test.tsv', 'other\txHope\tto win\nother\txWant\tto win\n');
    const corpus = readTuples(folder.path('bad'));
    expect(corpus.splits.train).toHaveLength(2);
    expect(corpus.splits.test).toHaveLength(1);
    expect(corpus.report).toMatchObject({ malformed: 13, blank: 1 });
    expect(corpus.report.shown).toHaveLength(10);
    expect(corpus.report.shown[0]).toEqual({ where: 'train.tsv:3', reason: 'has an empty object' });
    const notes = tupleNotes(corpus);
    expect(notes).toContain('13 malformed rows left out; the first 10:');
    expect(notes).toContain('  train.tsv:4 has 1 column; expected head<TAB>relation<TAB>tail');
  });

  test('an unknown relation is told with those there are', () => {
    write('strange/train.tsv', 'a\txWant\tb\n');
    write('strange/test.tsv', 'c\txHope\td\ne\txWant\tf\n');
    const { report } = readTuples(folder.path('strange'));
    expect(report.shown).toEqual([
      { where: 'test.tsv:1', reason: 'has the unknown relation xHope; train has xWant' },
    ]);
    expect(() => readTuples(folder.path('strange'), { relations: ['xNone'] })).toThrow(
      'tuples.relations: no tuple has the relation xNone; there are xWant, xHope',
    );
  });

  test.each([
    ['nothing there', () => folder.path('gone'), /gone does not exist/],
    ['an empty file', () => write('empty.tsv', ''), /empty\.tsv holds no tuple: it is empty/],
    ['only malformed rows', () => write('all-bad.tsv', 'a b\n'), /all-bad\.tsv:1 has 1 column/],
    ['another CSV', () => write('other.csv', 'text,label\na,b\n'), /expected the columns of ATOMIC/],
    [
      'no training file',
      () => write('none/test.tsv', 'a\tb\tc\n').replace('/test.tsv', ''),
      /no tuples for training/,
    ],
    [
      'bytes that are no UTF-8',
      () => {
        fs.writeFileSync(folder.path('bytes.tsv'), Buffer.from([0x61, 9, 0x62, 9, 0xff, 10]));
        return folder.path('bytes.tsv');
      },
      /bytes\.tsv:1:5 is not valid UTF-8/,
    ],
  ])('%s', (_, make, message) => {
    const input = make();
    expect(() => readTuples(input)).toThrow(message);
  });
});

describe('relations as tokens', () => {
  test('stand behind the vocabulary, and cannot be spelled by a text', async () => {
    const plain = trainByteBpe(['to go home', 'to rest'], 280);
    const tokenizer = withRelations(plain, ['xWant', 'xNeed']);
    expect(tokenizer.idOf('<xWant>')).toBe(plain.vocabulary);
    expect(tokenizer.idOf('<xNeed>')).toBe(plain.vocabulary + 1);
    expect(tokenizer.vocabulary).toBe(plain.vocabulary + 2);
    const { ids } = await tokenizer.encode('go <xWant>', { specials: false, literal: true });
    expect([...ids]).not.toContain(plain.vocabulary);
    expect(withRelations(tokenizer, ['xWant'])).toBe(tokenizer);
  });

  test('have words to start from', () => {
    expect(relationMeaning('xWant')).toBe('then PersonX wants');
    expect(relationMeaning('madeUpThing')).toBe('made up thing');
  });

  test('tuples are put together from their parts; what is too long is cut and counted', async () => {
    const table = new TupleTable();
    table.add({ head: 'a', relation: 'xWant', object: 'b' });
    table.add({ head: 'a '.repeat(60).trim(), relation: 'xWant', object: 'b' });
    const tokenizer = withRelations(trainByteBpe(['a b'], 257), ['xWant']);
    const end = tokenizer.special.end!;
    const frames = { encoder: { pad: end }, decoder: { pad: end, begin: end, end } };
    const limits = { encoder: { longest: 16 }, decoder: { longest: 16 } };
    const tokens = await TupleTokens.of(table, { encoder: tokenizer, decoder: tokenizer }, frames, limits);
    const [a, b, want] = [tokenizer.idOf('a')!, tokenizer.idOf('b')!, tokenizer.idOf('<xWant>')!];
    const rows = Int32Array.of(0);
    expect([...tokens.prefix(rows).ids]).toEqual([a, want]);
    expect([...tokens.whole(rows).ids]).toEqual([a, want, b]);
    expect(tokens.decoder(rows).prefixes).toEqual([3]);
    expect([...tokens.decoder(rows).ids.ids]).toEqual([end, a, want, b, end]);
    expect(tokens.prompt(0)).toEqual([end, a, want]);
    expect(tokens.cut).toEqual({ heads: 1, objects: 0 });
    expect(tokens.whole(Int32Array.of(1)).width).toBeLessThanOrEqual(16);
  });
});
