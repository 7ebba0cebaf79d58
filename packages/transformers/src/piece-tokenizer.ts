import { addedToken, startingWith } from '@hidden-schema/text/tokenizer/byte-bpe';
import { type Fail, fieldsOf, textOf } from './protobuf.ts';

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

/** Fields of SentencePiece's messages, by the numbers that its sentencepiece_model.proto gives them. */
const MODEL = { piece: 1, trainer: 2, normalizer: 3 } as const;
const PIECE = { text: 1, score: 2, type: 3 } as const;
const TRAINER = { kind: 3 } as const;
const NORMALIZER = { charsmap: 2, spaceFirst: 3, squeeze: 4, escaped: 5 } as const;
const UNIGRAM = 1;
const UNKNOWN = 2;

interface Unigram {
  /** Pieces with their log-probabilities, by number. */
  readonly pieces: readonly (readonly [string, number])[];
  readonly unknown: number;
  /** How letters are replaced before a text is cut. */
  readonly charsmap: string;
}

/** The pieces that stand around each text. */
interface Ends {
  readonly begin: string;
  readonly end: string;
}

/** A SentencePiece model of the kind unigram as a tokenizer.json, with a piece before and one after each text. */
export function unigramTokenizerJson(bytes: Buffer, { begin, end }: Ends, fail: Fail): string {
  const { pieces, unknown, charsmap } = unigramOf(bytes, fail);
  const idOf = (token: string): number => {
    const id = pieces.findIndex(([text]) => text === token);
    return id === -1 ? fail(`it has no piece ${token}`) : id;
  };
  const definition = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [begin, end, pieces[unknown]![0]].map((content) => addedToken(content, idOf(content))),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Precompiled', precompiled_charsmap: charsmap },
        { type: 'Strip', strip_left: true, strip_right: true },
        { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
      ],
    },
    pre_tokenizer: { type: 'Metaspace', replacement: pieceSpace, prepend_scheme: 'always', split: true },
    post_processor: between({ begin, end }, idOf),
    decoder: { type: 'Metaspace', replacement: pieceSpace, prepend_scheme: 'always', split: true },
    model: { type: 'Unigram', unk_id: unknown, vocab: pieces, byte_fallback: false },
  };
  return `${JSON.stringify(definition)}\n`;
}

/** Puts a piece before and one after each text. */
function between({ begin, end }: Ends, idOf: (token: string) => number) {
  const special = [begin, end].map((token) => ({ id: token, ids: [idOf(token)], tokens: [token] }));
  const around = (id: string) => [
    { SpecialToken: { id: begin, type_id: 0 } },
    { Sequence: { id, type_id: 0 } },
    { SpecialToken: { id: end, type_id: 0 } },
  ];
  return {
    type: 'TemplateProcessing',
    single: around('A'),
    pair: [...around('A'), ...around('B')],
    special_tokens: Object.fromEntries(special.map((token) => [token.id, token])),
  };
}

function unigramOf(bytes: Buffer, fail: Fail): Unigram {
  const pieces: (readonly [string, number])[] = [];
  let unknown: number | undefined;
  let charsmap: Buffer | undefined;
  for (const field of fieldsOf(bytes, fail)) {
    if (!('bytes' in field)) continue;
    if (field.number === MODEL.piece) {
      const { text, score, type } = pieceOf(field.bytes, fail);
      if (type === UNKNOWN) unknown ??= pieces.length;
      pieces.push([text, score]);
    } else if (field.number === MODEL.trainer) checkTrainer(field.bytes, fail);
    else if (field.number === MODEL.normalizer) charsmap = charsmapOf(field.bytes, fail);
  }
  if (unknown === undefined) fail('it has no piece for what is unknown');
  if (!charsmap || charsmap.length === 0) fail('it has no table of replaced letters');
  if (pieces.some(([text]) => text.indexOf(pieceSpace, 1) !== -1))
    fail('a piece of it goes across a space, which texts are cut at here');
  return { pieces, unknown: unknown!, charsmap: charsmap!.toString('base64') };
}

function pieceOf(bytes: Buffer, fail: Fail): { text: string; score: number; type: number } {
  let [text, score, type] = ['', 0, 1];
  for (const field of fieldsOf(bytes, fail)) {
    if (field.number === PIECE.text && 'bytes' in field) text = textOf(field.bytes, fail);
    else if (field.number === PIECE.score && 'value' in field) score = field.value;
    else if (field.number === PIECE.type && 'value' in field) type = field.value;
  }
  return { text, score, type };
}

function checkTrainer(bytes: Buffer, fail: Fail): void {
  for (const field of fieldsOf(bytes, fail))
    if (field.number === TRAINER.kind && 'value' in field && field.value !== UNIGRAM)
      fail(`it is a SentencePiece model of kind ${field.value}; unigram (${UNIGRAM}) can be read`);
}

/** Spaces are to be squeezed, escaped and put first, which is what SentencePiece does unless it is told otherwise. */
function charsmapOf(bytes: Buffer, fail: Fail): Buffer | undefined {
  let charsmap: Buffer | undefined;
  const { spaceFirst, squeeze, escaped } = NORMALIZER;
  for (const field of fieldsOf(bytes, fail)) {
    if (field.number === NORMALIZER.charsmap && 'bytes' in field) charsmap = field.bytes;
    else if (
      [spaceFirst, squeeze, escaped].includes(field.number as 3) &&
      'value' in field &&
      field.value === 0
    )
      fail(`its normalizer leaves spaces as they are (field ${field.number}), which cannot be read`);
  }
  return charsmap;
}
