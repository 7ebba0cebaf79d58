// Shapes: H hashes of a text, in B bands.

/** Words that make a shingle; shorter texts have one of all their words. */
const shingleWords = 3;
const hashes = 16;
const bands = 4;
const rows = hashes / bands;
/** Estimated share of shingles in common from which texts are nearly the same. */
const nearly = 0.8;
/** Texts that are looked at, at most: 64 bytes each for signatures, and about 200 for bands. */
const mostTexts = 200_000;

/** Texts that repeat an earlier one. */
export interface RepeatedTexts {
  /** Texts that were looked at. */
  looked: number;
  /** The same words in the same order, whatever their case and signs. */
  same: number;
  /** Nearly the same: eight in ten of their runs of three words. */
  near: number;
}

/**
 * Counts texts that repeat an earlier one, by MinHash: 16 hashes of runs of three words, candidates where four in a row are
 * equal, taken where 13 of 16 are. Deterministic; memory is bounded by the number of texts that are looked at.
 */
export function countRepeated(texts: Iterable<string>): RepeatedTexts {
  const found = { looked: 0, same: 0, near: 0 };
  const seen = new Set<string>();
  const byBand = Array.from({ length: bands }, () => new Map<number, number>());
  const signatures: Int32Array[] = [];
  for (const text of texts) {
    if (found.looked === mostTexts) break;
    found.looked++;
    const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    if (words.length === 0) continue;
    const whole = `${hashOf(words.join(' '))} ${words.length} ${hashOf(words.toReversed().join(' '))}`;
    if (seen.has(whole)) {
      found.same++;
      continue;
    }
    seen.add(whole);
    const signature = signatureOf(words);
    if (nearest(signature, byBand, signatures) >= nearly * hashes) found.near++;
    remember(signature, byBand, signatures);
  }
  return found;
}

/** FNV-1a over UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash | 0;
}

/** The least of each of H mixings of the shingles' hashes. [H] */
function signatureOf(words: readonly string[]): Int32Array {
  const least = new Int32Array(hashes).fill(0x7fffffff);
  const size = Math.min(shingleWords, words.length);
  for (let at = 0; at + size <= words.length; at++) {
    const hash = hashOf(words.slice(at, at + size).join(' '));
    for (let h = 0; h < hashes; h++) {
      const mixed = mixedBy(hash, h);
      if (mixed < least[h]!) least[h] = mixed;
    }
  }
  return least;
}

function mixedBy(hash: number, h: number): number {
  let x = Math.imul(hash ^ Math.imul(h + 1, 0x9e3779b1), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) | 0;
}

const bandKey = (signature: Int32Array, band: number): number =>
  hashOf(String.fromCharCode(...new Uint16Array(signature.slice(band * rows, (band + 1) * rows).buffer)));

/** The most equal hashes that a text before has, among those with a band in common. */
function nearest(
  signature: Int32Array,
  byBand: readonly Map<number, number>[],
  signatures: readonly Int32Array[],
): number {
  let most = 0;
  for (const [band, places] of byBand.entries()) {
    const other = signatures[places.get(bandKey(signature, band)) ?? -1];
    if (other) most = Math.max(most, signature.filter((hash, h) => hash === other[h]).length);
  }
  return most;
}

/** The first text of a band stands for those after it. */
function remember(
  signature: Int32Array,
  byBand: readonly Map<number, number>[],
  signatures: Int32Array[],
): void {
  for (const [band, places] of byBand.entries()) {
    const key = bandKey(signature, band);
    if (!places.has(key)) places.set(key, signatures.length);
  }
  signatures.push(signature);
}
