/** Time that a bench may take. Without an end it never runs out. */
export class Budget {
  readonly #end: number;

  constructor(seconds = Number.POSITIVE_INFINITY) {
    this.#end = performance.now() + seconds * 1000;
  }

  /** Seconds that are left, 0 at least. */
  left(): number {
    return Math.max(0, (this.#end - performance.now()) / 1000);
  }

  /** The part of what is left that the next of so many equal parts may take. */
  next(parts: number): Budget {
    return new Budget(this.left() / parts);
  }

  /** Whether something that takes about so many seconds still fits. */
  fits(seconds: number): boolean {
    return this.left() >= seconds;
  }
}

/** Seconds for each of some shares, in turn, of a total that is left; what one does not use goes to those after it. */
export function allotted(left: number, shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  return sum === 0 ? 0 : (left * shares[0]!) / sum;
}
