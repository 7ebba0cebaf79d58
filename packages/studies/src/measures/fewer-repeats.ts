import type { RankedWord } from './c-tf-idf.ts';

export interface RepeatOptions {
  /** Words of each list. */
  words: number;
  /** Share of all lists' words that are to be different. */
  leastDifferent: number;
}

/**
 * The first words of each ranked list, with so many repeats given up that the share `leastDifferent` of them is
 * different: again and again the repeat that costs its list least, as a share of the list's highest score, makes room
 * for the list's next word that no list has yet. Every word stays in one list at least; a list without another word
 * keeps its repeats.
 */
export function fewerRepeats(
  ranked: readonly (readonly RankedWord[])[],
  { words: most, leastDifferent }: RepeatOptions,
): RankedWord[][] {
  const lists = new Lists(ranked, most);
  while (lists.different < leastDifferent && lists.giveUpCheapest());
  return lists.words;
}

interface Repeat {
  list: number;
  place: number;
  cost: number;
}

class Lists {
  readonly words: RankedWord[][];
  readonly #ranked: readonly (readonly RankedWord[])[];
  readonly #size: number;
  /** In how many lists each word is. */
  readonly #holders = new Map<string, number>();
  /** Where each list goes on in its ranking; words before it are in a list, and stay in one. */
  readonly #next: number[];

  constructor(ranked: readonly (readonly RankedWord[])[], most: number) {
    this.#ranked = ranked;
    this.words = ranked.map((list) => list.slice(0, most));
    this.#next = this.words.map((list) => list.length);
    for (const { word } of this.words.flat()) this.#holders.set(word, (this.#holders.get(word) ?? 0) + 1);
    this.#size = this.words.flat().length;
  }

  get different(): number {
    return this.#size === 0 ? 1 : this.#holders.size / this.#size;
  }

  /** False where no repeat can make room. */
  giveUpCheapest(): boolean {
    let cheapest: Repeat | undefined;
    for (const list of this.words.keys()) {
      const repeat = this.#cheapestOf(list);
      if (repeat && (!cheapest || repeat.cost < cheapest.cost)) cheapest = repeat;
    }
    if (!cheapest) return false;
    const { list, place } = cheapest;
    const [old] = this.words[list]!.splice(place, 1);
    const fresh = this.#ranked[list]![this.#next[list]!]!;
    this.words[list]!.push(fresh);
    this.#holders.set(old!.word, this.#holders.get(old!.word)! - 1);
    this.#holders.set(fresh.word, 1);
    return true;
  }

  #cheapestOf(list: number): Repeat | undefined {
    const ranking = this.#ranked[list]!;
    while (this.#holders.has(ranking[this.#next[list]!]?.word ?? '')) this.#next[list]!++;
    const fresh = ranking[this.#next[list]!];
    // Scores fall along a list, so that its last repeat is its cheapest.
    const place = this.words[list]!.findLastIndex(({ word }) => this.#holders.get(word)! > 1);
    if (!fresh || place < 0) return undefined;
    return { list, place, cost: (this.words[list]![place]!.score - fresh.score) / ranking[0]!.score };
  }
}
