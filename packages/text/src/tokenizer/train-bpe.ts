import { UserError } from '@hidden-schema/base';
import { byteLevelAlphabet, byteLevelPreTokenizer } from 'tokenizers';
import { byteBpe } from './byte-bpe.ts';
import type { Tokenizer } from './tokenizer.ts';

interface Word {
  symbols: number[];
  count: number;
}

const smallest = 257; // 256 bytes and the end of text

/** A space before a word always begins something new; U+0085 is a space to the splitter, and not to `\s`. */
const beforeWords = /(?= [^\s\u0085])/u;
/** Longer pieces would keep the text that they are cut from in memory; where no spaces are written, a whole text is one. */
const longestKept = 12;

/** A word by itself, with or without the space before it: what most pieces are. */
const plainWord = /^ ?[A-Za-z]+$/;

/**
 * Different words that are counted at once. Where a corpus has more, such as one with numbers of all kinds, the rarest are
 * dropped, so that memory does not grow with its texts; a vocabulary is made of the frequent ones.
 */
const mostWords = 1 << 19;

/** Words with how often they occur, which is all that byte-pair training looks at. */
export class WordCounts {
  readonly #words = new Map<string, number>();
  /** Pieces of texts between spaces: each is split into words once, however often it comes. */
  readonly #pieces = new Map<string, number>();
  readonly #split = byteLevelPreTokenizer(false, true);
  readonly #most: number;

  constructor(most = mostWords) {
    this.#most = most;
  }

  add(texts: Iterable<string>): void {
    for (const text of texts)
      for (const piece of text.split(beforeWords))
        if (piece.length > longestKept) this.#count(piece, 1);
        else this.#add(this.#pieces, piece, 1);
  }

  counts(): ReadonlyMap<string, number> {
    for (const [piece, times] of this.#pieces) {
      this.#pieces.delete(piece);
      this.#count(piece, times);
    }
    return this.#words;
  }

  #count(piece: string, times: number): void {
    const words = plainWord.test(piece)
      ? [piece.replace(' ', 'Ġ')]
      : this.#split.preTokenizeString(piece).map(([word]) => word);
    for (const word of words) this.#add(this.#words, word, times);
  }

  #add(counts: Map<string, number>, key: string, times: number): void {
    counts.set(key, (counts.get(key) ?? 0) + times);
    if (counts.size > this.#most) dropRarest(counts, this.#most / 2);
  }
}

/** Drops those that came once, then those that came twice, and so on, until few enough are left. */
function dropRarest(counts: Map<string, number>, kept: number): void {
  for (let rare = 1; counts.size > kept; rare++)
    for (const [key, count] of counts) if (count <= rare) counts.delete(key);
}

/** A byte-pair vocabulary trained on texts, of `size` tokens or as many as there are pairs that occur twice. */
export function trainByteBpe(texts: Iterable<string> | WordCounts, size: number): Tokenizer {
  if (!Number.isInteger(size) || size < smallest || size > 1_000_000)
    throw new UserError(
      `a byte-pair vocabulary has from ${smallest} (the bytes) to 1000000 tokens, got ${size}`,
    );
  let words: WordCounts;
  if (texts instanceof WordCounts) words = texts;
  else {
    words = new WordCounts();
    words.add(texts);
  }
  return byteBpe(new BpeTrainer(words.counts(), size).merge());
}

/** Merges the most frequent pair, over and over; among equals the one whose tokens are older. */
class BpeTrainer {
  /** Tokens at most. Two side by side are one number, left·size + right: a small one, which is quickly found in a map. */
  readonly #size: number;
  readonly #words: Word[];
  readonly #tokens: string[] = byteLevelAlphabet().sort();
  readonly #idOf = new Map(this.#tokens.map((token, id) => [token, id]));
  readonly #counts = new Map<number, number>();
  /** Words in which a pair occurs or did occur. */
  readonly #where = new Map<number, number[]>();
  /** Pairs whose counts the heap has not been told of. */
  readonly #changed = new Set<number>();
  readonly #heap = new PairHeap();

  constructor(counts: ReadonlyMap<string, number>, size: number) {
    this.#size = size;
    this.#words = [...counts].map(([word, count]) => ({
      symbols: Array.from(word, (character) => this.#idOf.get(character)!),
      count,
    }));
    for (const [at, { symbols }] of this.#words.entries())
      for (let i = 1; i < symbols.length; i++) this.#gain(symbols[i - 1]!, symbols[i]!, at);
    this.#putInOrder();
  }

  merge(): [string, string][] {
    const merges: [string, string][] = [];
    while (merges.length < this.#size - smallest) {
      const pair = this.#heap.pop();
      if (pair === undefined || pair.count < 2) break;
      // The heap keeps old counts of a pair too; only one that still holds is acted on.
      if (this.#counts.get(pair.key) !== pair.count) continue;
      const left = Math.floor(pair.key / this.#size);
      const right = pair.key % this.#size;
      const [first, second] = [this.#tokens[left]!, this.#tokens[right]!];
      // Two pairs may spell one token: the second would give a merge two ranks, so it stays apart.
      if (this.#idOf.has(first + second)) this.#counts.delete(pair.key);
      else {
        merges.push([first, second]);
        this.#apply(left, right, pair.key);
      }
    }
    return merges;
  }

  #apply(left: number, right: number, key: number): void {
    const text = this.#tokens[left]! + this.#tokens[right]!;
    const merged = this.#tokens.push(text) - 1;
    this.#idOf.set(text, merged);
    for (const at of this.#where.get(key) ?? []) this.#join({ left, right, merged }, at);
    this.#where.delete(key);
    this.#counts.delete(key);
    this.#changed.delete(key);
    this.#putInOrder();
  }

  /** Tells the heap of the pairs whose counts changed. */
  #putInOrder(): void {
    for (const key of this.#changed) {
      const count = this.#counts.get(key)!;
      if (count > 0) this.#heap.push(count, key);
    }
    this.#changed.clear();
  }

  /** Puts one token in the place of two in a word; pairs on either side are counted as they are then. */
  #join({ left, right, merged }: Join, at: number): void {
    const { symbols } = this.#words[at]!;
    let length = 0;
    for (let i = 0; i < symbols.length; i++) {
      if (symbols[i] !== left || symbols[i + 1] !== right) {
        symbols[length++] = symbols[i]!;
        continue;
      }
      if (length > 0) {
        this.#lose(symbols[length - 1]!, left, at);
        this.#gain(symbols[length - 1]!, merged, at);
      }
      i++;
      if (i + 1 < symbols.length) {
        this.#lose(right, symbols[i + 1]!, at);
        this.#gain(merged, symbols[i + 1]!, at);
      }
      symbols[length++] = merged;
    }
    symbols.length = length;
  }

  #lose(left: number, right: number, at: number): void {
    const key = left * this.#size + right;
    this.#changed.add(key);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) - this.#words[at]!.count);
  }

  #gain(left: number, right: number, at: number): void {
    const key = left * this.#size + right;
    this.#changed.add(key);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + this.#words[at]!.count);
    const where = this.#where.get(key);
    if (where) where.push(at);
    else this.#where.set(key, [at]);
  }
}

/** Two tokens side by side, and the one that takes their place. */
interface Join {
  left: number;
  right: number;
  merged: number;
}

interface Entry {
  count: number;
  key: number;
}

/** A heap of counted pairs: the most frequent first, then the smallest key. */
export class PairHeap {
  readonly #entries: Entry[] = [];

  push(count: number, key: number): void {
    const entries = this.#entries;
    const entry = { count, key };
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!precedes(entry, entries[parent]!)) break;
      entries[at] = entries[parent]!;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): Entry | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && precedes(entries[child + 1]!, entries[child]!)) child++;
      if (!precedes(entries[child]!, last)) break;
      entries[at] = entries[child]!;
      at = child;
    }
    entries[at] = last;
    return top;
  }
}

const precedes = (a: Entry, b: Entry): boolean => a.count > b.count || (a.count === b.count && a.key < b.key);
