import type { TextCorpus, Tokenizer } from '@hidden-schema/text';

/** Texts that are looked at. */
const looked = 1000;
/** An encoder has about 1.3 pieces for a word of a language that it was trained on. */
const mostPieces = 2.2;
const mostUnknown = 0.02;

/** Says so where a pretrained encoder hardly knows the words of a corpus: its vectors then say little of the texts. */
export function unknownWordsNote({ store, splits }: TextCorpus, tokenizer: Tokenizer): string | undefined {
  const { unknown } = tokenizer.special;
  let [words, pieces, strange] = [0, 0, 0];
  for (const row of splits.train.subarray(0, looked)) {
    const ids = store.ids('encoder', store.row(row));
    const { text } = store.example(row);
    // Cut texts have more words than the encoder saw.
    const seen = text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)?.length ?? 0;
    if (seen === 0) continue;
    words += seen;
    pieces += ids.length - 2;
    for (const id of ids) if (id === unknown) strange++;
  }
  const [each, share] = [pieces / words, strange / Math.max(1, pieces)];
  if (words === 0 || (each <= mostPieces && share <= mostUnknown)) return undefined;
  return `warning: the encoder hardly knows the words of these texts (${each.toFixed(1)} pieces a word, ${(100 * share).toFixed(0)} % unknown), so symbols may mean little; name an encoder of their language with --set encoder.name=<folder>`;
}
