import { UserError } from '@hidden-schema/base';
import { byteLevelAlphabet, byteLevelPreTokenizer } from 'tokenizers';
import { byteBpe } from './byte-bpe.ts';
import { PairHeap } from './pair-heap.ts';
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

/** Words with how often they occur, which is all that byte-pair training looks at. */
export class WordCounts {
  readonly #words = new Map<string, number>();
  /** Pieces of texts between spaces: each is split into words once, however often it comes. */
  readonly #pieces = new Map<string, number>();
  readonly #split = byteLevelPreTokenizer(false, true);

  add(texts: Iterable<string>): void {
    for (const text of texts)
      for (const piece of text.split(beforeWords))
        if (piece.length > longestKept) this.#count(piece, 1);
        else this.#pieces.set(piece, (this.#pieces.get(piece) ?? 0) + 1);
  }

  counts(): ReadonlyMap<string, number> {
    for (const [piece, times] of this.#pieces) this.#count(piece, times);
    this.#pieces.clear();
    return this.#words;
  }

  #count(piece: string, times: number): void {
    const words = plainWord.test(piece)
      ? [piece.replace(' ', 'Ġ')]
      : this.#split.preTokenizeString(piece).map(([word]) => word);
    for (const word of words) this.#words.set(word, (this.#words.get(word) ?? 0) + times);
  }
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
