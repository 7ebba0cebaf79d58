import type { TextCorpus, Tokenizer } from '@hidden-schema/text';
import { languageOf } from './text-language.ts';

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
  'name an encoder of their language, or one of many languages, with --set encoder.name=<folder or hub name>, such as sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2';

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
