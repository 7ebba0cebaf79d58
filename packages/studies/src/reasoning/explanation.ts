import type { TrainedWalks } from '@hidden-schema/hsn';
import { tellingTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { textWords } from '../measures/text-words.ts';

/** A training tuple whose walk is like another. */
export interface LikeTuple {
  event: string;
  object: string;
  /** Steps at which both walks have the same symbol. */
  same: number;
}

/** What walks over tuples say: words of symbols, and training tuples that walk alike. */
export class WalkExplainer {
  readonly #trained: TrainedWalks;
  readonly #words: readonly (readonly string[])[];

  constructor(trained: TrainedWalks, symbols: number, words = 2) {
    this.#trained = trained;
    this.#words = symbolWords(trained, symbols, words);
  }

  /** The words that tell most of a symbol, of events that walk it in the first half and objects in the second. */
  words(symbol: number): readonly string[] {
    return this.#words[symbol]!;
  }

  /** Training tuples of a relation whose walks have most steps in common with this one, an event once. */
  nearest(walk: readonly number[], relation: number, count = 3): LikeTuple[] {
    const trained = this.#trained;
    const found: { tuple: number; same: number }[] = [];
    for (let tuple = 0; tuple < trained.count; tuple++) {
      if (trained.relation[tuple] !== relation) continue;
      const own = trained.walk(tuple);
      found.push({ tuple, same: walk.filter((symbol, i) => own[i] === symbol).length });
    }
    const out = new Map<number, LikeTuple>();
    for (const { tuple, same } of found.sort((a, b) => b.same - a.same)) {
      if (out.size === count || same === 0) break;
      const event = trained.event[tuple]!;
      if (!out.has(event))
        out.set(event, {
          event: trained.events[event]!,
          object: trained.objects[trained.object[tuple]!]!,
          same,
        });
    }
    return [...out.values()];
  }
}

function symbolWords(trained: TrainedWalks, symbols: number, words: number): string[][] {
  const half = trained.length / 2;
  const tuples = Array.from({ length: trained.count }, (_, tuple) => tuple);
  const texts = tuples.flatMap((tuple) => [
    trained.events[trained.event[tuple]!]!,
    trained.objects[trained.object[tuple]!]!,
  ]);
  // Each walk is two rows of half its length: the event's and the object's.
  const uses = {
    symbols: Int32Array.from(tuples.flatMap((tuple) => [...trained.walk(tuple)])),
    length: half,
  };
  const ranked = pmiWords(tellingTerms(textWords(texts)), uses, { symbols, words });
  return ranked.map((some) => some.map(({ word }) => word));
}
