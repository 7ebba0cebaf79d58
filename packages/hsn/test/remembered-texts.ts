// Encodes the texts that it is given as a process of its own, and prints how many were read by the encoder.
import { startEngine } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { rememberedVectors } from '../src/discovery/vectors/text-vectors.ts';
import { withRelationRows } from '../src/tasks/tuples/relation-rows.ts';

const [relations, ...texts] = process.argv.slice(2);
startEngine();
const { encoder: plain, tokenizer } = await openPretrainedEncoder();
const encoder = relations === '' ? plain : await withRelationRows(plain, tokenizer, relations!.split(','));
let read = 0;
const hidden = encoder.hidden.bind(encoder);
const packed = encoder.vectors.bind(encoder);
encoder.hidden = (ids, mask) => {
  read += ids.dim(0);
  return hidden(ids, mask);
};
encoder.vectors = (texts) => {
  const vectors = packed(texts);
  // Without packed products, `hidden` is asked next.
  if (vectors) read += texts.length;
  return vectors;
};
const vectors = await rememberedVectors(texts, { encoder, tokenizer }, { longest: 32 });
const rows = texts.map((_, n) => vectors.select(0, n).toNumbers());
process.stdout.write(JSON.stringify({ read, rows }));
