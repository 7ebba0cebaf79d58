import { fileURLToPath } from 'node:url';
import { openReasoning } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyReasoningFlags } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { Generator } from '@hidden-schema/torch';
import { openDecoder } from '@hidden-schema/transformers';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-reason-lora');
const tuples = folder.path('tuples');
const model = folder.path('model');
const lora = ['--set', `decoder.name=${model}`, '--set', 'decoder.lora={rank: 2, alpha: 4}'];

beforeAll(async () => {
  writePlanted(tuples, plantedTuples({ events: 20, relations: 3 }));
  const file = fileURLToPath(new URL('../../../fixtures/gguf/llama.gguf', import.meta.url));
  expect(await hsn('import', file, '--out', model)).toMatchObject({ code: 0 });
});
afterAll(folder.remove);

test.each(['network', 'comet'])('adapters on a GGUF decoder learn tuples: %s', async (part) => {
  const out = folder.path(part);
  const args = ['--part', part, '--tuples', tuples, '--out', out, ...tinyReasoningFlags, ...lora];
  expect(await hsn('reason', 'train', ...args)).toMatchObject({ code: 0 });
  const { model: network, relations } = await openReasoning(out, { checkpoint: 'last' });
  const own = openDecoder(model, new Generator(0));
  const before = new Map(own.namedTensors());
  const after = new Map(network.decoder.namedTensors());
  const adapters = [...after].filter(([name]) => name.endsWith('lora_B.weight'));
  expect(adapters).toHaveLength(4);
  // The second factor starts at zero, and only training moves it.
  for (const [name, tensor] of adapters) expect(tensor.abs().amax().item(), name).toBeGreaterThan(0);
  for (const [name, tensor] of before) {
    const kept = after.get(name)!.narrow(0, 0, Math.min(tensor.dim(0), own.vocabularySize));
    expect(kept.sub(tensor).abs().amax().item(), name).toBe(0);
  }
  expect(network.decoder.vocabularySize).toBe(own.vocabularySize + relations.length);
  network.free();
  own.free();
});

test('adapters on a decoder from scratch are refused', async () => {
  const args = ['--tuples', tuples, '--out', folder.path('none'), ...tinyReasoningFlags];
  const ended = await hsn('reason', 'train', ...args, '--set', 'decoder.lora={rank: 2}');
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/^hsn: decoder\.lora leaves .* gpt2 starts from scratch: [^\n]+\n$/);
});
