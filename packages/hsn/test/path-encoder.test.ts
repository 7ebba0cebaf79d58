// The second encoder of a path model: a pretrained one stays as it is, or is trained along.
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinySentences } from '@hidden-schema/testing/tiny-texts';
import { padded, tokenizerFromJson, trainByteBpe } from '@hidden-schema/text';
import { Generator } from '@hidden-schema/torch';
import { BertEncoder, bertConfigSchema, writeModelFolder } from '@hidden-schema/transformers';
import { afterAll, expect, test } from 'vitest';
import { reasoningConfigSchema } from '../src/config/tuples.ts';
import { openPathContext } from '../src/tasks/tuples/path/path-encoder.ts';
import { type TupleTokens, withRelations } from '../src/tasks/tuples/tokens.ts';
import type { TupleWalks } from '../src/tasks/tuples/walks.ts';

const folder = temporaryFolder('path-encoder');
afterAll(folder.remove);

test.each([true, false])('frozen: %s', async (frozen) => {
  const { json } = trainByteBpe(tinySentences(), 320);
  const shape = { hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: 8 };
  const config = bertConfigSchema.parse({
    ...{ model_type: 'bert', vocab_size: 320, max_position_embeddings: 16 },
    ...shape,
  });
  const bert = new BertEncoder(config, new Generator(1));
  const name = folder.path(`bert-${frozen}`);
  writeModelFolder(name, { config: { ...config }, tensors: bert.namedTensors(), tokenizer: json });
  bert.free();
  const relations = ['xWant'];
  const own = withRelations(tokenizerFromJson(json, 'tokenizer'), relations);
  const settings = reasoningConfigSchema.parse({
    model: 'reasoning',
    path: { encoder: { name, frozen } },
  });
  const tokenizers = { encoder: own, decoder: own };
  const read = padded([Int32Array.of(3, 5, 320)], { pad: 0 });
  const tokens = {
    table: { head: [0], relation: [0], relations },
    prefix: () => read,
  } as unknown as TupleTokens;
  const walks = { tokens } as TupleWalks;
  const opened = await openPathContext(settings, { tokenizers, relations }, walks, new Generator(2));
  expect(opened.trained === undefined).toBe(frozen);
  const { hidden } = opened.of(Int32Array.of(0), tokens);
  const weights = [...(opened.trained?.namedParameters() ?? [])].map(([, tensor]) => tensor);
  if (frozen) expect(hidden.requiresGrad).toBe(false);
  else {
    hidden.sum().backward();
    expect(weights.filter((weight) => weight.grad !== undefined).length).toBeGreaterThan(5);
  }
  opened.free();
  opened.trained?.free();
});
