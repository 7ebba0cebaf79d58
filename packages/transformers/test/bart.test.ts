import { mkdtempSync, rmSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expectClose, gradientOf, type Nested, readFixture } from '@hidden-schema/testing/closeness';
import { idsTensor, padded } from '@hidden-schema/text';
import { Generator, noGrad, openWeights, scope, type Tensor, writeSafetensors } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { BartDecoder } from '../src/bart.ts';
import { beamSearch } from '../src/beam-search.ts';
import { generateSync, openDecoder } from '../src/index.ts';

interface Case {
  source: number[];
  free: number[];
  end: number;
  greedy: number[];
  beams: Record<string, { ids: number[]; score: number }[]>;
}
interface Expected {
  sources: number[][];
  targets: number[][];
  logits: number[][][];
  nll: number[];
  gradients: Record<string, Nested>;
  generation: Case[];
}

const folder = fileURLToPath(new URL('../../../fixtures/bart-tiny', import.meta.url));
const expected = readFixture<Expected>('bart-tiny/expected');
const scratch = mkdtempSync(join(tmpdir(), 'hsn-bart-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const ids = (rows: readonly number[][]) =>
  padded(
    rows.map((row) => Int32Array.from(row)),
    { pad: 1 },
  );
/** Without the start that the decoder puts first and the end that its source gets: as our corpora have them. */
const whole = expected.sources.map((source, i) => [...source.slice(0, -1), ...expected.targets[i]!.slice(2)]);
const prefix = expected.sources.map((source) => source.length - 1);
const double = BartDecoder.open(folder, new Generator(0), { dtype: 'float64' }).train(false);

describe('a tiny BART computes what transformers does', () => {
  test('logits of a padded batch', () => {
    scope(() =>
      noGrad(() => {
        const memory = double.read(expected.sources);
        const target = idsTensor(ids(expected.targets));
        const inputs = target.narrow(1, 0, target.dim(1) - 1);
        const logits = double.logits(double.hidden(inputs, undefined, { memory }));
        for (const [b, row] of expected.targets.entries())
          expectClose(
            logits.select(0, b).narrow(0, 0, row.length - 1),
            expected.logits[b]!.slice(0, row.length - 1),
            1e-6,
          );
      }),
    );
  });

  test('losses and gradients, from sentences whose start the encoder reads', () => {
    scope(() => {
      const sentences = ids(whole);
      const { perSentence, tokens } = double.nll(idsTensor(sentences), undefined, [...sentences.lengths], {
        prefix,
      });
      expect(tokens).toBe(expected.targets.reduce((sum, row) => sum + row.length - 2, 0));
      expectClose(perSentence, expected.nll, 1e-6);
      const own = new Map(double.namedTensors());
      for (const [name, wanted] of Object.entries(expected.gradients))
        expectClose(gradientOf(perSentence.sum(), own.get(name)!), wanted, 1e-5, name);
    });
  });
});

describe('generation', () => {
  const decoder = openDecoder(folder, new Generator(0)).train(false);
  const prompts = expected.generation.map(({ source }) => source.slice(0, -1));

  test.each([true, false])('greedy, with a cache: %s', (cached) => {
    const out = generateSync(decoder, { prompts, maxNewTokens: 12, end: 43, cached });
    expect(out.map(({ tokens }) => tokens)).toEqual(
      expected.generation.map(({ free }) => free.slice(2).filter((id) => id !== 43)),
    );
    for (const [i, { end, greedy }] of expected.generation.entries()) {
      const [first] = generateSync(decoder, { prompts: [prompts[i]!], maxNewTokens: 12, end, cached });
      expect([...first!.tokens, end]).toEqual(greedy.slice(2));
      expect(first!.finish).toBe('end');
    }
  });

  test('drawing reads the cache too', () => {
    const draw = (cached: boolean) =>
      generateSync(decoder, {
        prompts,
        maxNewTokens: 10,
        temperature: 1.5,
        topK: 20,
        generator: new Generator(5),
        cached,
      }).map(({ tokens }) => tokens);
    expect(draw(true)).toEqual(draw(false));
    expect(new Set(draw(true).flat()).size).toBeGreaterThan(4);
  });

  test.each(expected.generation.flatMap((one, i) => Object.keys(one.beams).map((key) => ({ i, key }))))(
    'beams and penalty of $key, source $i',
    ({ i, key }) => {
      const { end, beams } = expected.generation[i]!;
      const [count, lengthPenalty] = key.split(' ').map(Number) as [number, number];
      const options = { prompts: [prompts[i]!], end, beams: count, lengthPenalty, maxNewTokens: 9 };
      const [found] = beamSearch(decoder, options);
      // The reference pads behind the end with 1.
      const wanted = beams[key]!.map((one) => {
        const tokens = one.ids.slice(2);
        return tokens.includes(end) ? tokens.slice(0, tokens.indexOf(end)) : tokens;
      });
      expect(found!.map(({ tokens }) => tokens)).toEqual(wanted);
      expectClose(
        found!.map(({ score }) => score),
        beams[key]!.map(({ score }) => score),
        1e-4,
      );
    },
  );

  test('a beam of one is greedy, and beams keep other decoders company', () => {
    const [only] = beamSearch(decoder, { prompts: [prompts[0]!], end: 43, beams: 1, maxNewTokens: 8 });
    const [greedy] = generateSync(decoder, { prompts: [prompts[0]!], end: 43, maxNewTokens: 8 });
    expect(only![0]!.tokens).toEqual(greedy!.tokens);
    expect(() => beamSearch(decoder, { prompts, beams: 0, maxNewTokens: 3 })).toThrow('beams are a whole');
  });
});

test('it takes no walks, says so, and keeps its folder', async () => {
  const symbols = { symbols: 3 };
  expect(() => openDecoder(folder, new Generator(0), { symbols })).toThrow('takes no walks');
  const copy = join(scratch, 'copy');
  await cp(folder, copy, { recursive: true });
  const config = JSON.parse(await readFile(join(copy, 'config.json'), 'utf8')) as Record<string, unknown>;
  await writeFile(join(copy, 'config.json'), JSON.stringify({ ...config, decoder_ffn_dim: 31 }));
  expect(() => openDecoder(copy, new Generator(0))).toThrow('decoder_ffn_dim is 31, but the weights hold 32');
});

test('names without a prefix fit too, tables that are stored twice are passed over, a bias is refused', async () => {
  const bare = join(scratch, 'bare');
  await cp(folder, bare, { recursive: true });
  const weights = openWeights(folder);
  const all: [string, Tensor][] = weights.names
    .filter((name) => name !== 'final_logits_bias')
    .map((name) => [name.replace(/^model\./, ''), weights.get(name)]);
  const shared = all.find(([name]) => name === 'shared.weight')![1];
  writeSafetensors(join(bare, 'model.safetensors'), [
    ...all,
    ['encoder.embed_tokens.weight', shared],
    ['decoder.embed_tokens.weight', shared],
  ]);
  const opened = openDecoder(bare, new Generator(0), { dtype: 'float64' }).train(false);
  const own = new Map(double.namedTensors());
  for (const [name, tensor] of opened.namedTensors()) expectClose(tensor, own.get(name)!, 1e-12, name);
  writeSafetensors(join(bare, 'model.safetensors'), [
    ...all,
    ['final_logits_bias', weights.get('final_logits_bias').add(1)],
  ]);
  expect(() => openDecoder(bare, new Generator(0))).toThrow('final_logits_bias is not zero');
  weights.close();
});
