import { setImmediate } from 'node:timers/promises';
import { tokenPassages } from '@hidden-schema/text/token-passages';
import type { TokenStore } from '@hidden-schema/text/token-store';
import { Scratch } from '../../discovery/scratch.ts';
import type { OpenedEncoder } from '../../discovery/text-vectors.ts';

// Shapes: N texts of a corpus, P passages of them, at least one each.

export interface PassageOptions {
  /** Tokens of a text that the encoder reads at once. */
  longest: number;
  /** Whether longer texts are cut into passages; else the rest of them is not read. */
  cut: boolean;
  signal?: AbortSignal | undefined;
}

/** Where a passage of a text that was cut lies: in its text, and its tokens among those put down. */
interface Place {
  start: number;
  end: number;
  tokens: number;
  length: number;
}

/** The texts of a corpus as the encoder reads them: those longer than it reads at once as several passages. */
export class Passages {
  /** P */
  readonly count: number;
  /** Texts that have several. */
  readonly cutTexts: number;
  readonly #store: TokenStore;
  /** The first passage of each text, and P; nothing where every text is one. [N + 1] */
  readonly #firsts: Int32Array | undefined;
  readonly #places: ReadonlyMap<number, Place>;
  readonly #tokens: Scratch;
  /** The text that was read last: its passages are asked for one after the other. */
  #last: { row: number; text: string } | undefined;

  private constructor(store: TokenStore, firsts: Int32Array | undefined, found: CutTexts) {
    this.#store = store;
    this.#firsts = firsts;
    this.#places = found.places;
    this.#tokens = found.tokens;
    this.cutTexts = found.texts;
    this.count = firsts ? firsts[store.count]! : store.count;
  }

  /** Cuts the texts that the encoder reads only the beginning of. */
  static async of(store: TokenStore, opened: OpenedEncoder, options: PassageOptions): Promise<Passages> {
    const longest = Math.min(options.longest, opened.encoder.positions);
    const found: CutTexts = { texts: 0, places: new Map(), tokens: new Scratch() };
    if (!options.cut) return new Passages(store, undefined, found);
    const firsts = new Int32Array(store.count + 1);
    for (let row = 0; row < store.count; row++) {
      // The store has as many tokens of a longer text as the encoder reads.
      const full = store.lengths.encoder[row]! >= longest;
      firsts[row + 1] =
        firsts[row]! + (full ? await cutText(store, row, { opened, longest, found, at: firsts[row]! }) : 1);
      if (full && found.texts % 64 === 0) await setImmediate();
      options.signal?.throwIfAborted();
    }
    return new Passages(store, found.texts > 0 ? firsts : undefined, found);
  }

  /** The passages of some texts, text after text. */
  rowsOf(texts: Int32Array): Int32Array {
    const firsts = this.#firsts;
    if (!firsts) return texts;
    const rows = new Int32Array(texts.reduce((sum, text) => sum + firsts[text + 1]! - firsts[text]!, 0));
    let filled = 0;
    for (const text of texts)
      for (let row = firsts[text]!; row < firsts[text + 1]!; row++) rows[filled++] = row;
    return rows;
  }

  /** How many passages each of some texts has; nothing where each has one. */
  countsOf(texts: Int32Array): Int32Array | undefined {
    const firsts = this.#firsts;
    if (!firsts) return undefined;
    const counts = texts.map((text) => firsts[text + 1]! - firsts[text]!);
    return counts.some((count) => count > 1) ? counts : undefined;
  }

  /** Passages of the texts from one row of the store up to another. */
  between(first: number, end: number): number {
    return this.#firsts ? this.#firsts[end]! - this.#firsts[first]! : end - first;
  }

  text(passage: number): string {
    const row = this.#textOf(passage);
    if (this.#last?.row !== row) this.#last = { row, text: this.#store.example(row).text };
    const place = this.#places.get(passage);
    return place ? this.#last.text.slice(place.start, place.end).trim() : this.#last.text;
  }

  /** The encoder's tokens of some passages, one after the other. */
  *tokens(passages: Iterable<number>): Generator<Int32Array> {
    for (const passage of passages) {
      const place = this.#places.get(passage);
      if (place) {
        const ids = new Int32Array(place.length);
        this.#tokens.read(new Uint8Array(ids.buffer), place.tokens);
        yield ids;
      } else yield this.#store.ids('encoder', this.#store.row(this.#textOf(passage)));
    }
  }

  free(): void {
    this.#tokens.free();
  }

  #textOf(passage: number): number {
    const firsts = this.#firsts;
    if (!firsts) return passage;
    let [low, high] = [0, firsts.length - 2];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle]! <= passage) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The passages of texts that were cut. */
interface CutTexts {
  texts: number;
  places: Map<number, Place>;
  tokens: Scratch;
}

/** Cuts a text, whose first passage has a number, and puts its passages down; returns how many they are. */
async function cutText(
  store: TokenStore,
  row: number,
  { opened, longest, found, at }: { opened: OpenedEncoder; longest: number; found: CutTexts; at: number },
): Promise<number> {
  const passages = await tokenPassages(store.example(row).text, opened.tokenizer, longest);
  if (passages.length === 1) return 1;
  found.texts++;
  for (const [n, { start, end, ids }] of passages.entries()) {
    const tokens = found.tokens.append(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength));
    found.places.set(at + n, { start, end, tokens, length: ids.length });
  }
  return passages.length;
}
