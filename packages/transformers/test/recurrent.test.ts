import {
  createLanguageRun,
  LanguageTask,
  openLanguage,
  prepareLanguage,
  Session,
  schemaOf,
} from '@hidden-schema/hsn';
import { sum } from '@hidden-schema/testing/closeness';
import { allWalks } from '@hidden-schema/testing/enumeration';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { likelihoods, tinyTrained } from '@hidden-schema/testing/tiny-language';
import { tinyLanguage, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { generateSync } from '../src/index.ts';

const folder = temporaryFolder('recurrent');
afterAll(folder.remove);
const lstm = { name: 'lstm', layers: 2 } as const;
const vocabulary = 4;

/** Every sentence of three tokens after a start token. */
const sentences = allWalks(vocabulary, 3).map((ids) => Int32Array.from([1, ...ids]));

describe('a recurrent decoder', () => {
  test.each(['one-hot', 'learnable'] as const)(
    'of %s symbols gives all sentences together the probability 1, under every walk',
    (symbols) => {
      const model = tinyTrained({ graph: { symbols }, decoder: lstm }, vocabulary);
      const walks = allWalks(4, 3);
      const logs = sentences.map((sentence) =>
        scope(() => noGrad(() => likelihoods(model, sentence, walks))),
      );
      for (const [z, walk] of walks.entries())
        expect(sum(logs.map((log) => Math.exp(log[z]!))), walk.join(' ')).toBeCloseTo(1, 4);
      const first = logs.map((log) => log[0]!);
      const last = logs.map((log) => log.at(-1)!);
      expect(Math.max(...first.map((log, i) => Math.abs(log - last[i]!)))).toBeGreaterThan(0.01);
      model.free();
    },
  );

  test('scores a sentence token by token as all at once, whatever comes after', () => {
    const model = tinyTrained({ decoder: lstm }, vocabulary);
    const schema = scope(() => schemaOf(model, [[0, 3, 1]]));
    const rows = (ids: number[]) =>
      scope(() =>
        noGrad(() => {
          const tokens = Tensor.fromArray(Int32Array.from(ids), [1, ids.length]);
          return model.decoder.logits(model.decoder.hidden(tokens, schema)).toNumbers();
        }),
      );
    const whole = rows([1, 2, 3, 0]);
    for (const length of [1, 2, 3])
      for (const [at, value] of rows([1, 2, 3, 0].slice(0, length)).entries())
        expect(value).toBeCloseTo(whole[at]!, 5);
    schema.free();
    model.free();
  });

  test('writes the same with its state kept as reading everything again', () => {
    const model = tinyTrained({ decoder: lstm });
    const schema = scope(() =>
      schemaOf(model, [
        [0, 3, 1],
        [2, 2, 1],
      ]),
    );
    const written = [true, false].map((cached) =>
      generateSync(model.decoder, {
        ...{ prompts: [[1], [1, 5, 3]], schema, maxNewTokens: 12, cached, temperature: 1 },
        generator: new Generator(3),
      }),
    );
    expect(written[0]).toEqual(written[1]);
    expect(written[0]![0]!.tokens.length).toBeGreaterThan(3);
    schema.free();
    model.free();
  });

  test('is trained, saved, opened and evaluated as any other, by its name in the settings', async () => {
    const input = writeTexts(folder.path('texts.tsv'));
    const config = tinyLanguage({ decoder: { ...tinyLanguage().decoder, name: 'lstm' } });
    const prepared = await prepareLanguage(config, { input, settings: {} }, { cache: folder.path('cache') });
    const run = createLanguageRun(folder.path('run'), prepared);
    const quiet = { output: { write: () => true } };
    const result = await new Session(run, new LanguageTask(prepared), quiet).train();
    run.close();
    prepared.close();
    expect(result.evaluation).toMatchObject({ perplexity: expect.any(Number) });
    const { model, texts } = await openLanguage(folder.path('run'));
    expect(model.decoder.configOf()).toMatchObject({ model_type: 'lstm' });
    const { walks } = await texts.read(['the food was good']);
    expect((await texts.write(walks[0]!.walk, { seed: 1 })).length).toBe(1);
    model.free();
  });
});
