import { Buffer } from 'node:buffer';
import { UserError } from '@hidden-schema/base';

const firstByteToken = 3;
const firstPiece = firstByteToken + 256;
const cacheLimit = 100_000;
const maxPieceBytes = 1 << 16;

interface Piece {
  readonly bytes: Buffer;
  readonly score: number;
}

/**
 * LLaMA's byte-pair tokenizer as llama2.c writes it to tokenizer.bin: pieces with scores, best score merged first,
 * characters without a piece as their UTF-8 bytes (token = byte + 3). A space goes before the text.
 */
export class Llama2cTokenizer {
  readonly bos = 1;
  readonly eos = 2;
  readonly #pieces: readonly Piece[];
  readonly #ids: ReadonlyMap<string, number>;
  /** Whether no piece crosses from a word into the next space, so that words can be merged one by one. */
  readonly #splits: boolean;
  readonly #known = new Map<string, readonly number[]>();

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
    // Only pieces of text: older files store the byte tokens as bare characters, which must not be found as such.
    const texts = pieces.map(({ bytes }, id) => [bytes.toString('utf8'), id] as const).slice(firstPiece);
    this.#ids = new Map(texts);
    this.#splits = !texts.some(([text]) => /[^ ] /.test(text));
  }

  get vocabularySize(): number {
    return this.#pieces.length;
  }

  /** Pieces of text with their scores, in the order of their numbers; special tokens and bytes come before them. */
  *pieces(): IterableIterator<{ text: string; score: number }> {
    for (const { bytes, score } of this.#pieces.slice(firstPiece))
      yield { text: bytes.toString('utf8'), score };
  }

  /** Reads tokenizer.bin: the longest piece's length, then a score, a length and bytes for each piece. */
  static parse(data: Uint8Array, vocabulary: number, source: string): Llama2cTokenizer {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const fail = (what: string): never => {
      throw new UserError(`${source}: its tokenizer cannot be read: ${what}`);
    };
    const pieces: Piece[] = [];
    let at = 4;
    while (pieces.length < vocabulary) {
      if (at + 8 > bytes.length) fail(`${pieces.length} pieces before its end, expected ${vocabulary}`);
      const score = bytes.readFloatLE(at);
      const length = bytes.readInt32LE(at + 4);
      at += 8;
      if (length < 0 || length > maxPieceBytes || at + length > bytes.length)
        fail(`piece ${pieces.length} says it has ${length} bytes`);
      pieces.push({ score, bytes: bytes.subarray(at, at + length) });
      at += length;
    }
    if (at !== bytes.length) fail(`${bytes.length - at} bytes follow its ${vocabulary} pieces`);
    return new Llama2cTokenizer(pieces);
  }

  /** Token numbers of a text, after the start token unless told otherwise. */
  encode(text: string, { bos = true, eos = false }: { bos?: boolean; eos?: boolean } = {}): number[] {
    const ids = bos ? [this.bos] : [];
    if (text !== '') {
      const spaced = ` ${text}`;
      const words = this.#splits ? spaced.split(/(?<=[^ ])(?= )/) : [spaced];
      for (const word of words) ids.push(...this.#wordIds(word));
    }
    if (eos) ids.push(this.eos);
    return ids;
  }

  /** The text of token numbers, without start and end tokens and the space that encoding puts first. */
  decode(ids: readonly number[]): string {
    const parts: Buffer[] = [];
    for (const id of ids) {
      const piece = this.#pieces[id];
      if (!piece)
        throw new RangeError(`token ${id} is not among the ${this.#pieces.length} of this tokenizer`);
      if (id === this.bos || id === this.eos) continue;
      const isByte = id >= firstByteToken && id < firstPiece;
      parts.push(isByte ? Buffer.from([id - firstByteToken]) : piece.bytes);
    }
    const text = Buffer.concat(parts).toString('utf8');
    return text.startsWith(' ') ? text.slice(1) : text;
  }

  #wordIds(word: string): readonly number[] {
    const known = this.#known.get(word);
    if (known) return known;
    const ids = this.#merge(this.#characters(word));
    if (this.#known.size >= cacheLimit) this.#known.clear();
    this.#known.set(word, ids);
    return ids;
  }

  #characters(word: string): number[] {
    return Array.from(word).flatMap((character) => {
      const id = this.#ids.get(character);
      return id ?? Array.from(Buffer.from(character, 'utf8'), (byte) => byte + firstByteToken);
    });
  }

  /** Joins the neighbours whose joint piece scores best, the leftmost of equals, until none is a piece. */
  #merge(start: number[]): number[] {
    const ids = [...start];
    for (;;) {
      let best = -1;
      let bestId = -1;
      let bestScore = Number.NEGATIVE_INFINITY;
      for (let i = 0; i + 1 < ids.length; i++) {
        const id = this.#joint(ids[i]!, ids[i + 1]!);
        const score = id === undefined ? Number.NEGATIVE_INFINITY : this.#pieces[id]!.score;
        if (id === undefined || score <= bestScore) continue;
        [best, bestId, bestScore] = [i, id, score];
      }
      if (best < 0) return ids;
      ids.splice(best, 2, bestId);
    }
  }

  /** The piece that two neighbours make together; a byte joins with nothing. */
  #joint(left: number, right: number): number | undefined {
    if (left < firstPiece || right < firstPiece) return undefined;
    const text = (id: number): string => this.#pieces[id]!.bytes.toString('utf8');
    return this.#ids.get(text(left) + text(right));
  }
}
