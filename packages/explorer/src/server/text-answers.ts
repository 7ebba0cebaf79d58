import type { Report } from '@hidden-schema/studies/analyses';
import { sheetText } from '@hidden-schema/studies/drawing/sheets';
import type { EncodedCorpus } from '@hidden-schema/studies/texts/encoded';
import type { Answer } from '../shared/api.ts';
import { notFound } from './fault.ts';

type Numbers = Uint16Array | Int16Array | Uint8Array | Float64Array;

const base64 = ({ buffer, byteOffset, byteLength }: Numbers): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

export interface MapParts {
  step: number;
  encoded: EncodedCorpus;
  places: Uint16Array;
  times: Float64Array | null;
}

export function mapAnswer({ step, encoded, places, times }: MapParts): Answer<'map'> {
  const { count, total, symbols, length, labels, walks, labelOf } = encoded;
  return {
    ...{ step, count, corpus: total, symbols, length, labels: [...labels] },
    ...{ places: base64(places), walks: base64(walks), labelOf: base64(labelOf) },
    times: times && base64(times),
  };
}

export function textsAt(encoded: EncodedCorpus, at: readonly number[]): Answer<'texts'>['texts'] {
  return at.map((index) => {
    if (index >= encoded.count)
      throw notFound(`there is no text ${index}; texts are 0 to ${encoded.count - 1}`);
    return encoded.sentence(index);
  });
}

/** Texts in which each of the words is, or begins one: as bits, and how many they are. */
export function textsWith(encoded: EncodedCorpus, words: string): Omit<Answer<'matches'>, 'step'> {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`, 'u'));
  const bits = new Uint8Array(Math.ceil(encoded.count / 8));
  let total = 0;
  for (const { index, text } of encoded.sentences()) {
    const lower = text.toLowerCase();
    if (!wanted.every((word) => word.test(lower))) continue;
    bits[index >> 3]! |= 1 << (index & 7);
    total++;
  }
  return { total, texts: base64(bits) };
}

/** The tables of an analysis as people read them, in Markdown. */
export function tablesText({ sheets, shown = sheets, text }: Report): string {
  const tables = shown.map((sheet) =>
    [`## ${sheet.title}`, sheetText(sheet, 'markdown'), sheet.caption ?? ''].join('\n\n').trim(),
  );
  return [...tables, text ?? ''].join('\n\n').trim();
}
