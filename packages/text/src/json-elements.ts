const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44];
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);
const SPACE = new Set([9, 10, 13, 32]);

/** An element of a JSON array as it is written. */
export interface JsonElement {
  text: string;
  /** From 1. */
  number: number;
  /** Longer than is held: only its beginning is here. */
  cut: boolean;
}

/** Cuts the elements out of a JSON array, block by block; of an element no more than `limit` bytes are held. */
export class JsonElements {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;
  #cut = false;
  #number = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #some = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether the array was closed. */
  get ended(): boolean {
    return this.#number > 0 && this.#depth === 0;
  }

  /** The elements that end in a block. */
  *split(block: Buffer): Generator<JsonElement> {
    let start = 0;
    for (let at = 0; at < block.length; at++) {
      const ends = this.#step(block[at]!);
      if (ends === 'begin') start = at + 1;
      else if (ends === 'element') {
        this.#keep(block.subarray(start, at));
        start = at + 1;
        const element = this.#take();
        if (element) yield element;
      }
    }
    if (this.#depth > 0) this.#keep(block.subarray(start));
  }

  /** Reads one byte; whether it opens the array, or ends one of its elements. */
  #step(byte: number): 'begin' | 'element' | undefined {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return undefined;
    }
    if (byte === QUOTE) {
      this.#inString = true;
      this.#some = true;
    } else if (OPENING.has(byte)) {
      if (this.#depth++ > 0) this.#some = true;
      else return 'begin';
    } else if (CLOSING.has(byte)) {
      if (--this.#depth === 0) return 'element';
    } else if (byte === COMMA && this.#depth === 1) return 'element';
    else if (this.#depth > 0 && !SPACE.has(byte)) this.#some = true;
    return undefined;
  }

  #keep(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#limit - this.#size));
    if (kept.length > 0) this.#parts.push(Buffer.from(kept));
    this.#size += kept.length;
    this.#cut ||= kept.length < piece.length;
  }

  /** Nothing for an array without elements. */
  #take(): JsonElement | undefined {
    const bytes = Buffer.concat(this.#parts);
    const cut = this.#cut;
    const some = this.#some;
    this.#parts = [];
    this.#size = 0;
    this.#cut = this.#some = false;
    this.#number++;
    return some ? { text: bytes.toString('utf8'), number: this.#number, cut } : undefined;
  }
}
