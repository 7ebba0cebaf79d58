import { call, cat, nn, Tensor, zeros } from '@hidden-schema/torch';
import { ruledOut } from './dictionary.ts';
import { gains } from './pursuit.ts';
import type { WordDirections } from './word-directions.ts';

// Shapes: B texts, V pieces, K symbols, S width of a point.

/** Texts that walks follow. */
export interface FollowedTexts {
  /** Their pieces in the order in which they stand, as columns of the space; others are left out. */
  columns: readonly (readonly number[])[];
  /** What each symbol explains of a text as a whole, for steps that are left when its words are used up. [B, K] */
  whole: Tensor;
}

/**
 * Later steps of walks that follow the words of their texts: each takes the next word that tells of its texts, and sees how
 * much of where these lie (`WordSums`) every symbol explains.
 */
export class WordSteps extends nn.Module {
  readonly directions: Tensor; // [V, S]
  /** 1 for a piece that tells of its texts. [V] */
  readonly telling: Tensor;

  constructor(pieces: number, width: number) {
    super();
    this.directions = zeros([pieces, width]).keep();
    this.telling = zeros([pieces]).keep();
  }

  place({ directions, telling }: WordDirections): void {
    this.directions.copy_(directions);
    this.telling.copy_(telling);
  }

  /** What each symbol explains of the word that each of some steps follows. [B, K] each */
  explained({ columns, whole }: FollowedTexts, symbols: Tensor, steps: number): Tensor[] {
    // Of all pieces in one product, so that a text alone has the walk that it has among others.
    const seen = gains(this.directions.matmul(symbols.transpose(0, 1))); // [V, K]
    const tells = this.telling.toNumbers();
    const words = columns.map((all) => all.filter((column) => tells[column] === 1));
    const rows = cat([seen, whole], 0);
    return Array.from({ length: steps }, (_, i) => {
      const places = Int32Array.from(words, (own, b) => own[i] ?? tells.length + b);
      return rows.indexSelect(0, Tensor.fromArray(places, [places.length]));
    });
  }
}

/** The best walk by what symbols explain at each step, every link being there but those to itself. L of [B, K] → [B, L] */
export function freeWalks(explained: readonly Tensor[]): Tensor {
  const walks: Tensor[] = [];
  for (const step of explained) {
    const before = walks.at(-1);
    const open = before ? call('scatter.value', step, 1, before, ruledOut) : step;
    walks.push(open.argmax(1).unsqueeze(1));
  }
  return cat(walks, 1);
}
