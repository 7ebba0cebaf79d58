import { documentFrequencies, type TextWords, textCount } from './text-words.ts';

export interface CorpusStopWordOptions {
  /** Most words to call stop words; never more than a quarter of the common ones. */
  count?: number;
  /** Share of the texts that have a common word. */
  share?: number;
}

/** Common words looked at, words of their company, and texts read: enough for a ranking, and soon counted. */
const mostCandidates = 500;
const mostCompany = 2000;
const mostTexts = 20_000;

/**
 * Stop words of any language from the corpus alone: common words whose company tells nothing, by the divergence of the
 * words beside them from those of all texts (after Lo, He & Ounis 2005), the least divergent first.
 */
export function corpusStopWords(texts: TextWords, options: CorpusStopWordOptions = {}): Set<string> {
  const { count = 100, share = 0.01 } = options;
  const frequencies = documentFrequencies(texts);
  const company = Uint32Array.from(texts.words.keys())
    .filter((word) => frequencies[word]! > 1)
    .sort((a, b) => frequencies[b]! - frequencies[a]! || a - b)
    .slice(0, mostCompany);
  const least = Math.max(2, share * textCount(texts));
  const candidates = company.slice(0, mostCandidates).filter((word) => frequencies[word]! >= least);
  const [R, V] = [candidates.length, company.length];
  const beside = besideCounts(texts, company, R);
  const overall = Float64Array.from(company, (_, at) => beside.texts[at]!);
  const divergences = Float64Array.from(candidates, (_, at) =>
    companyDivergence(beside.pairs.subarray(at * V, (at + 1) * V), overall, at),
  );
  const places = Array.from(candidates.keys()).sort((a, b) => divergences[a]! - divergences[b]! || a - b);
  const chosen = places.slice(0, Math.min(count, Math.floor(R / 4)));
  return new Set(chosen.map((at) => texts.words[candidates[at]!]!));
}

/** Texts with each word of the company, and with it beside each of the first R of them. [V], [R, V] */
function besideCounts({ words, tokens, starts }: TextWords, company: Uint32Array, R: number) {
  const V = company.length;
  const places = new Int32Array(words.length).fill(-1);
  for (const [place, word] of company.entries()) places[word] = place;
  const pairs = new Float64Array(R * V);
  const texts = new Float64Array(V);
  const stride = Math.ceil((starts.length - 1) / mostTexts);
  const present = new Set<number>();
  for (let text = 0; text + 1 < starts.length; text += stride) {
    present.clear();
    for (let at = starts[text]!; at < starts[text + 1]!; at++) {
      const place = places[tokens[at]!]!;
      if (place >= 0) present.add(place);
    }
    for (const word of present) {
      texts[word]!++;
      if (word < R) for (const other of present) if (other !== word) pairs[word * V + other]!++;
    }
  }
  return { pairs, texts };
}

/** KL of the company's shares from those of all texts, less what it has by chance: (words seen − 1) / 2n (Miller 1955). */
function companyDivergence(counts: Float64Array, overall: Float64Array, self: number): number {
  let [n, seen, all] = [0, 0, -overall[self]!];
  for (const [at, count] of counts.entries()) {
    n += count;
    all += overall[at]!;
    if (count > 0) seen++;
  }
  if (n === 0) return Number.POSITIVE_INFINITY;
  let divergence = 0;
  for (const [at, count] of counts.entries())
    if (count > 0) divergence += (count / n) * Math.log(count / n / (overall[at]! / all));
  return divergence - (seen - 1) / (2 * n);
}
