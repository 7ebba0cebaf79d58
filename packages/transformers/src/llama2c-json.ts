import type { Llama2cTokenizer } from './llama2c-tokenizer.ts';

interface Merge {
  readonly left: string;
  readonly right: string;
  readonly score: number;
}

/** How SentencePiece writes a space; a text that has this mark itself comes back with a space, as from LLaMA's own. */
const space = '▁';
const specials = ['<unk>', '<s>', '</s>'];

/** The definition of a llama2.c tokenizer as Hugging Face's tokenizer.json: byte pairs with byte fallback. */
export function llama2cTokenizerJson(tokenizer: Llama2cTokenizer): string {
  const pieces = [...tokenizer.pieces()].map(({ text, score }) => ({
    text: text.replaceAll(' ', space),
    score,
  }));
  const bytes = Array.from({ length: 256 }, (_, byte) => byteToken(byte));
  const names = [...specials, ...bytes, ...pieces.map(({ text }) => text)];
  const definition = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specials.map(addedToken),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: space },
        { type: 'Replace', pattern: { String: ' ' }, content: space },
      ],
    },
    pre_tokenizer: null,
    post_processor: startingWith('<s>', tokenizer.bos),
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: space }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: '<unk>',
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      vocab: Object.fromEntries(names.map((name, id) => [name, id])),
      merges: mergesOf(pieces).map(({ left, right }) => `${left} ${right}`),
    },
  };
  return `${JSON.stringify(definition)}\n`;
}

const byteToken = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;

const addedToken = (content: string, id: number) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});

function startingWith(token: string, id: number) {
  const start = { SpecialToken: { id: token, type_id: 0 } };
  const text = (which: string, type: number) => ({ Sequence: { id: which, type_id: type } });
  return {
    type: 'TemplateProcessing',
    single: [start, text('A', 0)],
    pair: [start, text('A', 0), { SpecialToken: { id: token, type_id: 1 } }, text('B', 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

/**
 * Every way to join two pieces to a third, the best score first. Runs of spaces all score alike and llama2.c joins them
 * from the left, which the longer left piece first amounts to.
 */
function mergesOf(pieces: readonly { text: string; score: number }[]): Merge[] {
  const known = new Set(pieces.map(({ text }) => text));
  const merges = pieces.flatMap(({ text, score }) => {
    const characters = Array.from(text);
    return characters.slice(1).flatMap((_, i) => {
      const left = characters.slice(0, i + 1).join('');
      const right = characters.slice(i + 1).join('');
      return known.has(left) && known.has(right) ? [{ left, right, score }] : [];
    });
  });
  return merges.sort((a, b) => b.score - a.score || b.left.length - a.left.length);
}
