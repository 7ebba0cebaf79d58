import fs from 'node:fs';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { mixedTexts } from '@hidden-schema/testing/mixed-languages';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, scope } from '@hidden-schema/torch';
import { BertEncoder, bertConfigSchema, writeModelFolder } from '@hidden-schema/transformers';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-languages');
const mixed = mixedTexts(120);

/** A BERT of a few numbers, drawn, whose pieces of words come from all the languages. */
function writeEncoder(to: string): void {
  const tokenizer = trainByteBpe(
    mixed.map(({ text }) => text),
    600,
  );
  const sizes = { hidden_size: 32, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: 32 };
  const config = bertConfigSchema.parse({
    vocab_size: tokenizer.vocabulary,
    max_position_embeddings: 128,
    ...sizes,
  });
  scope(() => {
    const tensors = new BertEncoder(config, new Generator(1)).namedTensors();
    writeModelFolder(to, {
      config: { architectures: ['BertModel'], ...config },
      tensors,
      tokenizer: tokenizer.json,
    });
  });
}

beforeAll(() => {
  folder.holdCache();
  writeEncoder(folder.path('encoder'));
  const lines = mixed.map(({ language, text }) => JSON.stringify({ text, label: language }));
  fs.writeFileSync(folder.path('mixed.jsonl'), lines.join('\n'));
});
afterAll(folder.remove);

test('an encoder folder of any languages serves the verbs on a mixed corpus', async () => {
  const run = folder.path('run');
  const settings = [
    `encoder.name=${folder.path('encoder')}`,
    'decoder.width=16',
    'decoder.layers=1',
    'decoder.heads=2',
    'decoder.vocabularySize=320',
  ];
  const flags = settings.flatMap((setting) => ['--set', setting]);
  const trained = await hsn(
    'train',
    '--corpus',
    folder.path('mixed.jsonl'),
    '--stage',
    'discover',
    '--symbols',
    '8',
    '--length',
    '3',
    '--out',
    run,
    ...flags,
  );
  expect(trained.code, trained.stderr).toBe(0);
  const symbols = await hsn('symbols', run, '--json');
  const words = (JSON.parse(symbols.stdout) as { words: { word: string }[] }[]).flatMap((one) =>
    one.words.map(({ word }) => word),
  );
  expect(words.length).toBeGreaterThan(20);
  const functionWords = [
    'the',
    'and',
    'der',
    'und',
    'die',
    'les',
    'des',
    'que',
    'para',
    'este',
    'nous',
    'hemos',
    'haben',
  ];
  expect(words.filter((word) => functionWords.includes(word))).toEqual([]);
  const found = await hsn('find', run, 'der Soldat und die Festung', '--json', '--top', '3');
  expect(found.code, found.stderr).toBe(0);
  expect((JSON.parse(found.stdout) as { sentences: { label: string }[] }).sentences[0]!.label).toBe('German');
  const compared = await hsn('compare', run, '--json');
  expect(compared.code, compared.stderr).toBe(0);
  expect((JSON.parse(compared.stdout) as { groups: unknown[] }).groups).toHaveLength(4);
});
