import { type addedToken, startingWith } from '@hidden-schema/text/tokenizer/byte-bpe';

/** How SentencePiece writes a space; a text that has this mark itself comes back with a space, as from LLaMA's own. */
export const pieceSpace = '▁';

export interface Piece {
  /** With spaces as `pieceSpace`. */
  readonly text: string;
  readonly score: number;
}

/** LLaMA's first kind of vocabulary: pieces of text with scores, and a token for each byte that no piece covers. */
export interface PieceVocabulary {
  /** Every token by its number. */
  readonly names: readonly string[];
  readonly pieces: readonly Piece[];
  readonly added: readonly ReturnType<typeof addedToken>[];
  readonly unknown: string;
  /** Whether a space goes before each text. */
  readonly spaceFirst: boolean;
  /** What stands before each text. */
  readonly start: { token: string; id: number } | undefined;
}

export const byteToken = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;

/** Its definition as Hugging Face's tokenizer.json: byte pairs with byte fallback. */
export function pieceTokenizerJson(vocabulary: PieceVocabulary): string {
  const { names, pieces, added, unknown, spaceFirst, start } = vocabulary;
  const spaces = { type: 'Replace', pattern: { String: ' ' }, content: pieceSpace };
  const definition = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: spaceFirst
      ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: pieceSpace }, spaces] }
      : spaces,
    pre_tokenizer: null,
    post_processor: start ? startingWith(start.token, start.id) : null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: pieceSpace }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(spaceFirst ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: unknown,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      vocab: Object.fromEntries(names.map((name, id) => [name, id])),
      merges: mergesOf(pieces),
    },
  };
  return `${JSON.stringify(definition)}\n`;
}

/**
 * Every way to join two pieces to a third, the best score first. Runs of spaces all score alike and are joined from the
 * left, which the longer left piece first amounts to.
 */
function mergesOf(pieces: readonly Piece[]): string[] {
  const known = new Set(pieces.map(({ text }) => text));
  const merges = pieces.flatMap(({ text, score }) => {
    const characters = Array.from(text);
    return characters.slice(1).flatMap((_, i) => {
      const left = characters.slice(0, i + 1).join('');
      const right = characters.slice(i + 1).join('');
      return known.has(left) && known.has(right) ? [{ left, right, score }] : [];
    });
  });
  merges.sort((a, b) => b.score - a.score || b.left.length - a.left.length);
  return merges.map(({ left, right }) => `${left} ${right}`);
}
