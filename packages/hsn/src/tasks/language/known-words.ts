import type { TextCorpus, Tokenizer } from '@hidden-schema/text';

/** Texts that are looked at. */
const looked = 1000;
/** An encoder has about 1.3 pieces for a word of a language that it was trained on. */
const mostPieces = 2.2;
const mostUnknown = 0.02;
/** The same where the words of a text tell that it is in another language than English. */
const mostForeignPieces = 1.6;
/** Share of texts in another language that is worth a warning, and fewest of them. */
const foreign = { share: 0.1, texts: 3 };

const advice =
  'name an encoder of their language, or one of many languages, with --set encoder.name=<folder or hub name>, such as sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2, or USE-multilingual by hsn import';

/** What an encoder makes of the words of some texts. */
class WordPieces {
  texts = 0;
  words = 0;
  pieces = 0;
  unknown = 0;

  add(words: number, ids: Int32Array, unknown: number | undefined): void {
    this.texts++;
    this.words += words;
    this.pieces += ids.length - 2;
    for (const id of ids) if (id === unknown) this.unknown++;
  }

  /** Pieces a word, and the share of pieces that the encoder does not know. */
  get figures(): { each: number; share: number } {
    return { each: this.pieces / Math.max(1, this.words), share: this.unknown / Math.max(1, this.pieces) };
  }
}

/** A script that writes no spaces has a word a character; others a run of letters, and each sign by itself. */
const wordSigns =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu;

/**
 * Says so where a pretrained encoder hardly knows the words of a corpus, or where many texts are in a language that it was
 * not trained on: its vectors then say little of the texts.
 */
export function unknownWordsNote(
  { store, splits }: TextCorpus,
  tokenizer: Tokenizer,
  longest: number,
): string | undefined {
  const all = new WordPieces();
  const languages = new Map<string, WordPieces>();
  for (const row of splits.train.subarray(0, looked)) {
    const ids = store.ids('encoder', store.row(row));
    const { text } = store.example(row);
    const language = languageOf(text);
    const own = languages.get(language) ?? new WordPieces();
    languages.set(language, own);
    // Of a text that was cut, the encoder has not all words.
    const words = ids.length < longest ? (text.match(wordSigns)?.length ?? 0) : 0;
    for (const counts of words > 0 ? [all, own] : []) counts.add(words, ids, tokenizer.special.unknown);
    if (words === 0) own.texts++;
  }
  return strangeWords(all) ?? otherLanguage(languages, Math.min(looked, splits.train.length));
}

function strangeWords(all: WordPieces): string | undefined {
  const { each, share } = all.figures;
  if (all.words === 0 || (each <= mostPieces && share <= mostUnknown)) return undefined;
  return `warning: the encoder hardly knows the words of these texts (${each.toFixed(1)} pieces a word, ${(100 * share).toFixed(0)} % unknown), so symbols may mean little; ${advice}`;
}

function otherLanguage(languages: ReadonlyMap<string, WordPieces>, texts: number): string | undefined {
  const others = [...languages]
    .filter(([name, { figures, words }]) => {
      return name !== 'English' && name !== '' && (words === 0 || figures.each > mostForeignPieces);
    })
    .sort(([, a], [, b]) => b.texts - a.texts);
  const count = others.reduce((sum, [, own]) => sum + own.texts, 0);
  if (count < Math.max(foreign.texts, foreign.share * texts)) return undefined;
  const named = others.slice(0, 3).map(([name, own]) => `${own.texts} in ${name}`);
  return `warning: of ${texts} texts, ${named.join(', ')}, which this encoder was not trained on, so symbols may mean little; ${advice}`;
}

/**
 * Words that are frequent in one language and in no other of these, and that are no English words: a text that has several
 * is of that language. Languages of one family share words, and a text of a language that is not here may go by the name
 * of its neighbour.
 */
const frequent: Readonly<Record<string, string>> = {
  English: 'the of and to that is was for with his her this have from they been which are were has you not',
  German:
    'und der das ist nicht ein eine mit auf für auch sich dem den von zu wird sind wir ich wie aus nach bei dass im am des hat werden einen',
  French:
    'les des est une dans que pour pas sur avec ce sont qui au aux cette mais nous vous par plus été être le la et du il se ont en',
  Spanish: 'el los las que una por para con del es se su como pero más este está muy son lo sus fue la en y',
  Italian: 'il che di non per una sono della con del gli è ma anche come questo alla nel più lo si dei',
  Portuguese: 'não uma os para com que do da em um dos das mais como mas foi ao ele são também pelo seu',
  Dutch: 'het een van niet dat zijn op te voor met aan er ook maar om bij deze wordt naar heeft ik',
  Swedish: 'och att det som är på inte jag med för den har till av ett om men var',
  Danish: 'og det er på ikke jeg til af en at med for den har som et de men',
  Polish: 'nie się na jest że do to jak ale po tym przez dla od są był jego oraz',
  Czech: 'se na je že to jako ale pro by jsem byl jsou které která podle při také',
  Turkish: 'bir ve bu için çok ama daha gibi ne var olarak olan kadar sonra değil mi',
  Finnish: 'ja on ei että se oli hän mutta kun niin ovat myös joka tai sen ole',
  Hungarian: 'az és hogy nem egy is meg ez volt mint csak már még de ha vagy',
  Romanian: 'și în nu de la cu pe este care un din mai sunt pentru ca fi',
  Indonesian: 'yang dan di ini itu dengan untuk tidak dari dalam akan pada juga saya ke ada',
  Vietnamese: 'và của là có không cho một được trong người này các những với đã',
};

const listed = Object.entries(frequent).map(([name, words]) => ({ name, words: words.split(' ') }));
const languages = listed.map(({ name, words }) => ({ name, words: new Set(words) }));
/** How much a word tells: one over the number of languages that have it. */
const telling = new Map<string, number>();
for (const { words } of listed)
  for (const word of words)
    telling.set(word, 1 / listed.filter((other) => other.words.includes(word)).length);

/** Scripts by their letters, with the language that most texts in them are in. */
const scripts: readonly [RegExp, string][] = [
  [/[\p{sc=Hiragana}\p{sc=Katakana}]/gu, 'Japanese'],
  [/\p{sc=Han}/gu, 'Chinese'],
  [/\p{sc=Hangul}/gu, 'Korean'],
  [/\p{sc=Cyrillic}/gu, 'Cyrillic script'],
  [/\p{sc=Arabic}/gu, 'Arabic script'],
  [/\p{sc=Devanagari}/gu, 'Devanagari script'],
  [/\p{sc=Greek}/gu, 'Greek'],
  [/\p{sc=Hebrew}/gu, 'Hebrew'],
  [/\p{sc=Thai}/gu, 'Thai'],
];
/** Share of letters from which a text is in a script. */
const inScript = 0.3;
/** A text is of a language that has so much of its words, so many of them, and so many times what English has. */
const sure = { share: 0.15, words: 3, times: 2 };
const mostUnits = 2000;

/** The language of a text, as far as its script or its most frequent words tell; '' where they do not. */
export function languageOf(whole: string): string {
  const text = whole.slice(0, mostUnits);
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return '';
  for (const [script, name] of scripts)
    if ((text.match(script)?.length ?? 0) > inScript * letters) return name;
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const scores = languages.map(({ name, words: own }) => {
    const hits = words.filter((word) => own.has(word));
    return { name, hits: hits.length, score: hits.reduce((sum, word) => sum + telling.get(word)!, 0) };
  });
  const english = scores.find(({ name }) => name === 'English')!;
  const best = scores.reduce((a, b) => (b.score > a.score ? b : a));
  if (best.hits < sure.words || best.hits < sure.share * words.length) return '';
  return best.name === 'English' || best.score >= sure.times * english.score ? best.name : '';
}
