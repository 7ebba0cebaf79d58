const NEWLINE = 10;
const QUOTE = 34;

/** A line as bytes, without its end; `bytes` is valid until the next block is given. */
export interface RawLine {
  bytes: Buffer;
  number: number;
  /** Bytes beyond the limit, which were passed over. */
  lost: number;
  /** Quotation marks among them: whether a quoted field goes on is told by their parity. */
  quotesLost: number;
  /** Whether a newline ended it. */
  ended: boolean;
}

/** Cuts blocks of bytes into lines; no more than `limit` bytes of a line are held, however long it is. */
export class LineSplitter {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;
  #lost = 0;
  #quotesLost = 0;
  #number = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that end in a block. */
  *split(block: Buffer): Generator<RawLine> {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
      const piece = block.subarray(start, end);
      start = end + 1;
      if (this.#empty && piece.length <= this.#limit)
        yield { bytes: piece, number: ++this.#number, lost: 0, quotesLost: 0, ended: true };
      else {
        this.#keep(piece);
        yield this.#take(true);
      }
    }
    if (start < block.length) this.#keep(block.subarray(start));
  }

  /** The last line, where no newline ended it. */
  *end(): Generator<RawLine> {
    if (!this.#empty) yield this.#take(false);
  }

  /** Whether the line that is being read is longer than is held. */
  get overlong(): boolean {
    return this.#lost > 0;
  }

  get #empty(): boolean {
    return this.#size === 0 && this.#lost === 0;
  }

  /** The part of a line that the end of a block has cut: copied, since its block will be written over. */
  #keep(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#limit - this.#size));
    if (kept.length > 0) this.#parts.push(Buffer.from(kept));
    this.#size += kept.length;
    this.#lost += piece.length - kept.length;
    for (let at = piece.indexOf(QUOTE, kept.length); at >= 0; at = piece.indexOf(QUOTE, at + 1))
      this.#quotesLost++;
  }

  #take(ended: boolean): RawLine {
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const line = { bytes, number: ++this.#number, lost: this.#lost, quotesLost: this.#quotesLost, ended };
    this.#parts = [];
    this.#size = this.#lost = this.#quotesLost = 0;
    return line;
  }
}
