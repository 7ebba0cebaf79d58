import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import {
  Generator,
  noGrad,
  openWeights,
  scope,
  type TensorSource,
  writeSafetensors,
} from '@hidden-schema/torch';
import { afterAll, expect, test } from 'vitest';
import { generateSync, openDecoder } from '../src/index.ts';

// GPT-2 XL's width, heads, inner width and positions; two of its 48 layers and a small part of its vocabulary, so that
// the test takes seconds and half a gigabyte. Every layer has the same shapes.
const shape = { n_embd: 1600, n_head: 25, n_positions: 1024, n_layer: 2, vocab_size: 1000 };
const scratch = mkdtempSync(join(tmpdir(), 'hsn-xl-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function shapes(): [string, number[]][] {
  const { n_embd: width, n_positions, n_layer, vocab_size } = shape;
  const layer = (i: number): [string, number[]][] => [
    [`h.${i}.ln_1.weight`, [width]],
    [`h.${i}.ln_1.bias`, [width]],
    [`h.${i}.attn.c_attn.weight`, [width, 3 * width]],
    [`h.${i}.attn.c_attn.bias`, [3 * width]],
    [`h.${i}.attn.c_proj.weight`, [width, width]],
    [`h.${i}.attn.c_proj.bias`, [width]],
    [`h.${i}.ln_2.weight`, [width]],
    [`h.${i}.ln_2.bias`, [width]],
    [`h.${i}.mlp.c_fc.weight`, [width, 4 * width]],
    [`h.${i}.mlp.c_fc.bias`, [4 * width]],
    [`h.${i}.mlp.c_proj.weight`, [4 * width, width]],
    [`h.${i}.mlp.c_proj.bias`, [width]],
  ];
  return [
    ['wte.weight', [vocab_size, width]],
    ['wpe.weight', [n_positions, width]],
    ...Array.from({ length: n_layer }, (_, i) => layer(i)).flat(),
    ['ln_f.weight', [width]],
    ['ln_f.bias', [width]],
  ];
}

/** Numbers that look random, 16 bits each, written without a tensor of that size. */
function source(name: string, size: readonly number[], seed: number): TensorSource {
  const count = size.reduce((product, n) => product * n, 1);
  const norm = name.includes('ln_') && name.endsWith('weight');
  return {
    name,
    dtype: 'bfloat16',
    shape: size,
    read: (put) => {
      // bfloat16: about ±0.03 with a mantissa that varies; norms' gains are 1.
      const numbers = new Uint16Array(count).map((_, i) =>
        norm ? 0x3f80 : 0x3c80 | ((((i + seed) * 40503) >> 4) & 0x7f) | (((i + seed) * 2654435761) & 0x8000),
      );
      put(new Uint8Array(numbers.buffer));
    },
  };
}

test('a GPT-2 of the shape of XL opens from several shards and runs', () => {
  const all = shapes();
  const weight_map: Record<string, string> = {};
  for (const part of [0, 1, 2]) {
    const file = `model-0000${part + 1}-of-00003.safetensors`;
    const own = all.filter((_, i) => i % 3 === part);
    writeSafetensors(
      join(scratch, file),
      own.map(([name, size], i) => source(name, size, 7919 * (3 * i + part))),
    );
    for (const [name] of own) weight_map[name] = file;
  }
  writeFileSync(join(scratch, 'model.safetensors.index.json'), JSON.stringify({ metadata: {}, weight_map }));
  writeFileSync(join(scratch, 'config.json'), JSON.stringify({ model_type: 'gpt2', ...shape }));
  const decoder = openDecoder(scratch, new Generator(0)).train(false);
  const parameters = [...decoder.namedTensors()].reduce((sum, [, { size }]) => sum + size, 0);
  expect(parameters).toBe(all.reduce((sum, [, size]) => sum + size.reduce((a, b) => a * b, 1), 0));
  const weights = openWeights(scratch);
  scope(() =>
    noGrad(() => {
      const name = 'h.1.mlp.c_proj.weight';
      const loaded = new Map(decoder.namedTensors()).get(`transformer.${name}`)!;
      expect(loaded.sub(weights.get(name).to('float32')).abs().sum().item()).toBe(0);
      const logits = decoder.logits(decoder.hidden(walkTensor([[5, 900, 33, 7]])));
      expect(logits.shape).toEqual([1, 4, 1000]);
      const best = logits.select(0, 0).select(0, 3).argmax(-1).item();
      const [next] = generateSync(decoder, { prompts: [[5, 900, 33, 7]], maxNewTokens: 2 });
      expect(next!.tokens).toHaveLength(2);
      expect(next!.tokens[0]).toBe(best);
      // What it writes depends on what it reads.
      const other = decoder.logits(decoder.hidden(walkTensor([[6, 900, 33, 7]])));
      expect(other.sub(logits).abs().select(1, 3).sum().item()).toBeGreaterThan(1e-3);
    }),
  );
  weights.close();
  decoder.free();
});
