// Shapes: K symbols.

/** What a hierarchy of symbols is made from. */
export interface SymbolNearness {
  /** e_i·e_j of unit vectors. [K, K] */
  overlaps: Float64Array;
  /** q(A_ij = 1) [K, K] */
  links: Float64Array;
  /** Texts that begin with each symbol. [K] */
  texts: ArrayLike<number>;
  /** Symbols that stay in groups of their own for as long as there are enough groups, such as those that people named. */
  apart?: ReadonlySet<number>;
}

/** Two groups that became one: groups are known by their lowest symbol, which the joint one keeps. */
export interface Joining {
  kept: number;
  gone: number;
  /** What joining them cost. */
  cost: number;
}

/** How much nearer a link that is certain brings two groups. */
const linkWeight = 0.5;

/**
 * Symbols joined two by two until one is left, those first whose joining costs least: Ward's increase of the squared
 * distance of texts from their symbol, n_a·n_b/(n_a + n_b)·‖m_a − m_b‖², less where links run between the groups.
 */
export function joinSymbols({ overlaps, links, texts, apart = new Set() }: SymbolNearness): Joining[] {
  const K = texts.length;
  const groups = new Groups(K, texts, apart);
  const cost = new Float64Array(K * K);
  const linked = Float64Array.from(links);
  for (let i = 0; i < K; i++)
    for (let j = 0; j < K; j++) {
      const [a, b] = [groups.weight[i]!, groups.weight[j]!];
      cost[i * K + j] = ((a * b) / (a + b)) * Math.max(0, 2 - 2 * overlaps[i * K + j]!);
    }
  const price = (i: number, j: number) =>
    cost[i * K + j]! * (1 - (linkWeight * linked[i * K + j]!) / (groups.size[i]! * groups.size[j]!));
  const joinings: Joining[] = [];
  while (joinings.length < K - 1) {
    const best = groups.cheapest(price);
    joinings.push({ kept: best.i, gone: best.j, cost: best.price });
    joinRows(best.i, best.j, { cost, linked, groups, K });
    groups.join(best.i, best.j, price);
  }
  return joinings;
}

interface Rows {
  cost: Float64Array;
  linked: Float64Array;
  groups: Groups;
  K: number;
}

/** Lance and Williams' rule for Ward's cost, and sums of links. */
function joinRows(i: number, j: number, { cost, linked, groups, K }: Rows): void {
  const { weight, alive } = groups;
  const between = cost[i * K + j]!;
  for (let c = 0; c < K; c++) {
    if (!alive[c] || c === i || c === j) continue;
    const [a, b, n] = [weight[i]!, weight[j]!, weight[c]!];
    const joint = ((a + n) * cost[i * K + c]! + (b + n) * cost[j * K + c]! - n * between) / (a + b + n);
    cost[i * K + c] = cost[c * K + i] = Math.max(0, joint);
    linked[i * K + c] = linked[c * K + i] = linked[i * K + c]! + linked[j * K + c]!;
  }
}

type Price = (i: number, j: number) => number;

/** Groups by their lowest symbol, each with the one that it would join most cheaply. */
class Groups {
  readonly weight: Float64Array;
  readonly size: Float64Array;
  readonly alive: Uint8Array;
  readonly #apart: Uint8Array;
  readonly #next: Int32Array;

  constructor(K: number, texts: ArrayLike<number>, apart: ReadonlySet<number>) {
    // One more, so that symbols which no text begins with are somewhere too.
    this.weight = Float64Array.from(texts, (count) => count + 1);
    this.size = new Float64Array(K).fill(1);
    this.alive = new Uint8Array(K).fill(1);
    this.#apart = Uint8Array.from(texts, (_, k) => (apart.has(k) ? 1 : 0));
    this.#next = new Int32Array(K).fill(-2);
  }

  cheapest(price: Price): { i: number; j: number; price: number } {
    let best = { i: -1, j: -1, price: Number.POSITIVE_INFINITY };
    for (const i of this.alive.keys()) {
      if (!this.alive[i]) continue;
      if (this.#next[i] === -2) this.#next[i] = this.#nearest(i, price);
      const j = this.#next[i]!;
      if (j >= 0 && price(i, j) < best.price) best = { i, j, price: price(i, j) };
    }
    if (best.i >= 0) return best;
    // None is left to join but those that are kept apart.
    this.#apart.fill(0);
    this.#next.fill(-2);
    return this.cheapest(price);
  }

  /** The cheapest partner of a higher number; −1 for none. */
  #nearest(i: number, price: Price): number {
    let best = -1;
    for (let j = i + 1; j < this.alive.length; j++) {
      if (!this.alive[j] || (this.#apart[i] && this.#apart[j])) continue;
      if (best < 0 || price(i, j) < price(i, best)) best = j;
    }
    return best;
  }

  join(i: number, j: number, price: Price): void {
    this.weight[i]! += this.weight[j]!;
    this.size[i]! += this.size[j]!;
    this.alive[j] = 0;
    this.#apart[i] = this.#apart[i]! | this.#apart[j]!;
    this.#next[i] = -2;
    for (let c = 0; c < i; c++) {
      const next = this.#next[c]!;
      if (next === i || next === j) this.#next[c] = -2;
      else if (next >= 0 && price(c, i) < price(c, next)) this.#next[c] = -2;
    }
    for (let c = i; c < j; c++) if (this.#next[c] === j) this.#next[c] = -2;
  }
}

/** The groups there are when `count` of them are left, each with its symbols; those with the lowest symbol first. */
export function groupsAt(joinings: readonly Joining[], symbols: number, count: number): number[][] {
  const members = new Map(Array.from({ length: symbols }, (_, k) => [k, [k]]));
  for (const { kept, gone } of joinings.slice(0, symbols - count)) {
    members.get(kept)!.push(...members.get(gone)!);
    members.delete(gone);
  }
  return [...members.values()].map((list) => list.sort((a, b) => a - b));
}
