import { UserError } from '@hidden-schema/base';
import { byteLevelAlphabet, byteLevelPreTokenizer } from 'tokenizers';
import { byteBpe } from './byte-bpe.ts';
import { PairHeap } from './pair-heap.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Two tokens side by side as one number: token numbers stay far below 2^21. */
const pairKey = (left: number, right: number) => left * 0x200000 + right;

interface Word {
  symbols: number[];
  count: number;
}

const smallest = 257; // 256 bytes and the end of text

/** Words with how often they occur, which is all that byte-pair training looks at. */
export class WordCounts {
  readonly counts = new Map<string, number>();
  readonly #split = byteLevelPreTokenizer(false, true);

  add(texts: Iterable<string>): void {
    for (const text of texts) {
      for (const [word] of this.#split.preTokenizeString(text))
        this.counts.set(word, (this.counts.get(word) ?? 0) + 1);
    }
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
  return byteBpe(new BpeTrainer(words.counts).merge(size - smallest));
}

/** Merges the most frequent pair, over and over; among equals the one whose tokens are older. */
class BpeTrainer {
  readonly #words: Word[];
  readonly #tokens: string[] = byteLevelAlphabet().sort();
  readonly #idOf = new Map(this.#tokens.map((token, id) => [token, id]));
  readonly #counts = new Map<number, number>();
  /** Words in which a pair occurs or did occur. */
  readonly #where = new Map<number, Set<number>>();
  readonly #heap = new PairHeap();

  constructor(counts: ReadonlyMap<string, number>) {
    this.#words = [...counts].map(([word, count]) => ({
      symbols: Array.from(word, (character) => this.#idOf.get(character)!),
      count,
    }));
    for (const [at, word] of this.#words.entries()) this.#tally(word, at, 1);
    for (const [key, count] of this.#counts) this.#heap.push(count, key);
  }

  merge(most: number): [string, string][] {
    const merges: [string, string][] = [];
    while (merges.length < most) {
      const pair = this.#heap.pop();
      if (pair === undefined || pair.count < 2) break;
      // The heap keeps old counts of a pair too; only one that still holds is acted on.
      if (this.#counts.get(pair.key) !== pair.count) continue;
      const left = Math.floor(pair.key / 0x200000);
      const right = pair.key % 0x200000;
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
    const changed = new Set<number>();
    for (const at of this.#where.get(key) ?? []) {
      const word = this.#words[at]!;
      for (const old of this.#tally(word, at, -1)) changed.add(old);
      word.symbols = joined(word.symbols, left, right, merged);
      for (const fresh of this.#tally(word, at, 1)) changed.add(fresh);
    }
    this.#where.delete(key);
    this.#counts.delete(key);
    changed.delete(key);
    for (const other of changed) {
      const count = this.#counts.get(other) ?? 0;
      if (count > 0) this.#heap.push(count, other);
    }
  }

  /** Adds a word's pairs to the counts, or takes them out; the pairs it has. */
  #tally({ symbols, count }: Word, at: number, sign: 1 | -1): number[] {
    const keys: number[] = [];
    for (let i = 1; i < symbols.length; i++) {
      const key = pairKey(symbols[i - 1]!, symbols[i]!);
      keys.push(key);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + sign * count);
      if (sign < 0) continue;
      const where = this.#where.get(key);
      if (where) where.add(at);
      else this.#where.set(key, new Set([at]));
    }
    return keys;
  }
}

function joined(symbols: readonly number[], left: number, right: number, merged: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < symbols.length; i++) {
    const pair = symbols[i] === left && symbols[i + 1] === right;
    out.push(pair ? merged : symbols[i]!);
    if (pair) i++;
  }
  return out;
}
