import { addedToken } from '@hidden-schema/text/tokenizer/byte-bpe';
import { byteToken, pieceSpace, pieceTokenizerJson } from '../piece-tokenizer.ts';
import type { Llama2cTokenizer } from './tokenizer.ts';

const specials = ['<unk>', '<s>', '</s>'];

/** The definition of a llama2.c tokenizer as Hugging Face's tokenizer.json. */
export function llama2cTokenizerJson(tokenizer: Llama2cTokenizer): string {
  const pieces = [...tokenizer.pieces()].map(({ text, score }) => ({
    text: text.replaceAll(' ', pieceSpace),
    score,
  }));
  const bytes = Array.from({ length: 256 }, (_, byte) => byteToken(byte));
  return pieceTokenizerJson({
    names: [...specials, ...bytes, ...pieces.map(({ text }) => text)],
    pieces,
    added: specials.map((content, id) => addedToken(content, id)),
    unknown: '<unk>',
    spaceFirst: true,
    start: { token: '<s>', id: tokenizer.bos },
  });
}
