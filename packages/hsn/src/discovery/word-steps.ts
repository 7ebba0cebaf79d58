import { call, cat, nn, noGrad, Tensor, zeros } from '@hidden-schema/torch';
import { type Dictionary, leastGains, NEG_LARGE } from './dictionary.ts';
import { gains } from './pursuit.ts';
import type { WordDirections } from './word-following.ts';

// Shapes: B texts, V pieces, K symbols, S width of a point.

/** Texts that walks follow. */
export interface FollowedTexts {
  /** Their pieces in the order in which they stand, as columns of the space; others are left out. */
  columns: readonly (readonly number[])[];
  /** The texts themselves, for steps that are left when their words are used up. [B, S] */
  points: Tensor;
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

  /**
   * What each symbol explains of the word that each of some steps follows; where symbols have to stand out, nothing but
   * those that do for the whole text can be named, and the first. [B, K] each
   */
  explained({ columns, points }: FollowedTexts, dictionary: Dictionary, steps: number): Tensor[] {
    const { symbols } = dictionary;
    const fit = points.matmul(symbols.transpose(0, 1));
    const whole = gains(fit);
    const hidden = hiddenSymbols(points, fit, dictionary);
    // Of all pieces in one product, so that a text alone has the walk that it has among others.
    const seen = gains(this.directions.matmul(symbols.transpose(0, 1))); // [V, K]
    const tells = this.telling.toNumbers();
    const words = columns.map((all) => all.filter((column) => tells[column] === 1));
    const rows = cat([seen, whole], 0);
    return Array.from({ length: steps }, (_, i) => {
      const places = Int32Array.from(words, (own, b) => own[i] ?? tells.length + b);
      const found = rows.indexSelect(0, Tensor.fromArray(places, [places.length]));
      return hidden ? found.maskedFill(hidden, leastGain) : found;
    });
  }
}

/** What is gained by a symbol that points the other way: the least there is. */
const leastGain = -1;

/** Which symbols do not stand out for a text, and are not its first one either. [B, K] bool */
function hiddenSymbols(
  points: Tensor,
  fit: Tensor,
  { starts, cutoffs }: Pick<Dictionary, 'starts' | 'cutoffs'>,
): Tensor | undefined {
  if (!starts || !cutoffs) return undefined;
  return noGrad(() => {
    const first = points.matmul(starts.transpose(0, 1)).argmax(1).unsqueeze(1);
    const least = leastGains(cutoffs, fit, first).select(1, 0);
    const below = gains(fit).le(least).to('float32');
    return call('scatter.value', below, 1, first, 0).gt(0);
  });
}

/**
 * The best walk by what symbols explain at each step, every link being there; those to itself only where walks may stay.
 * L of [B, K] → [B, L]
 */
export function freeWalks(explained: readonly Tensor[], stays: boolean): Tensor {
  const walks: Tensor[] = [];
  for (const step of explained) {
    const before = stays ? undefined : walks.at(-1);
    const open = before ? call('scatter.value', step, 1, before, NEG_LARGE) : step;
    walks.push(open.argmax(1).unsqueeze(1));
  }
  return cat(walks, 1);
}
