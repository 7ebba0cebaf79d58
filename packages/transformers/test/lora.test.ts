import { expectClose, largestGap } from '@hidden-schema/testing/closeness';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import { Generator, noGrad, scope, type Tensor } from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import { describe, expect, test } from 'vitest';
import { addLora, Gpt2Decoder, type LanguageDecoder, LlamaDecoder } from '../src/index.ts';
import { loraTensors, mergedTensors, mergeLora } from '../src/lora.ts';

const gpt2 = {
  vocab_size: 30,
  n_positions: 16,
  n_embd: 16,
  n_layer: 2,
  n_head: 2,
  resid_pdrop: 0,
  attn_pdrop: 0,
  embd_pdrop: 0,
};
const llama = {
  vocab_size: 30,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  max_position_embeddings: 16,
};
const symbols = { symbols: 4 };
const makers: { name: string; make: () => LanguageDecoder; target: string; layer: string }[] = [
  {
    name: 'GPT-2',
    make: () => new Gpt2Decoder(gpt2, new Generator(1), { symbols }),
    target: 'mlp.c_fc',
    layer: 'transformer.h.0.mlp.c_fc',
  },
  {
    name: 'LLaMA',
    make: () => new LlamaDecoder(llama, new Generator(1), { symbols }),
    target: 'k_proj',
    layer: 'model.layers.0.self_attn.k_proj',
  },
];
const tokens = (): Tensor =>
  walkTensor([
    [1, 5, 7, 9, 2],
    [1, 28, 3, 3, 2],
  ]);
const schema = (): Tensor =>
  walkTensor([
    [0, 3],
    [2, 1],
  ])
    .oneHot(4)
    .to('float32');

function train(model: LanguageDecoder, steps: number): number[] {
  const adam = new optim.Adam([{ parameters: [...model.namedParameters()], rate: 0.02 }]);
  return Array.from({ length: steps }, () =>
    scope(() => {
      const loss = model.nll(tokens(), schema(), [5, 5]).perSentence.mean();
      adam.zeroGrad();
      loss.backward();
      adam.step();
      return loss.item();
    }),
  );
}

const values = (model: LanguageDecoder): Map<string, number[]> =>
  new Map([...model.namedTensors()].map(([name, tensor]) => [name, tensor.toNumbers()]));
const states = (model: LanguageDecoder): Tensor => noGrad(() => model.hidden(tokens(), schema()));

describe.each(makers)('adapters on $name', ({ make, target, layer }) => {
  test('change nothing at first, then learn alone, and merge into equal plain weights', () => {
    const model = make();
    const plain = states(model);
    const before = values(model);
    const paths = addLora(model, { rank: 3, alpha: 6, targets: [target] }, new Generator(2));
    expect(paths).toHaveLength(2);
    expect(paths[0]).toBe(layer);
    expectClose(states(model), plain, 1e-7);
    const losses = train(model, 30);
    expect(losses.at(-1)).toBeLessThan(losses[0]! - 0.2);
    for (const [name, tensor] of model.namedTensors()) {
      const learned = /lora_|psa/.test(name);
      expect(tensor.requiresGrad, name).toBe(learned);
      if (!learned) expect(tensor.toNumbers(), name).toEqual(before.get(name));
    }
    const adapted = states(model);
    expect(largestGap(adapted, plain)).toBeGreaterThan(0.05);
    const exported = make();
    noGrad(() => exported.load(new Map(mergedTensors(model))));
    expectClose(states(exported), adapted, 1e-5);
    mergeLora(model);
    expectClose(states(model), adapted, 1e-5);
    expect([...model.namedTensors()].map(([name]) => name)).toEqual([...before.keys()]);
    expect(model.parameters()).toHaveLength(before.size);
  });

  test('add alpha / rank times B·A to the weight', () => {
    const model = make();
    addLora(model, { rank: 2, alpha: 5, targets: [target] }, new Generator(2));
    train(model, 2);
    const own = new Map(model.namedTensors());
    const [a, b] = ['A', 'B'].map((factor) => own.get(`${layer}.lora_${factor}.weight`)!.detach());
    const addition = b!.matmul(a!).mul(5 / 2); // [out, in]
    const merged = new Map(mergedTensors(model)).get(`${layer}.weight`)!;
    const difference = merged.detach().sub(own.get(`${layer}.weight`)!.detach());
    const sameWay = layer.includes('c_fc') ? addition.transpose(0, 1) : addition;
    expectClose(difference.contiguous(), sameWay.contiguous(), 1e-6);
    expect(addition.norm().item()).toBeGreaterThan(1e-3);
  });

  test('carry the names that PEFT uses, and load by them', () => {
    const model = make();
    addLora(model, { rank: 2, alpha: 4, targets: [target], freezeSymbols: true }, new Generator(2));
    const names = [...loraTensors(model)].map(([name]) => name);
    expect(names.slice(0, 2)).toEqual([`${layer}.lora_A.weight`, `${layer}.lora_B.weight`]);
    expect([...model.namedParameters()].map(([name]) => name)).toEqual(names);
    train(model, 3);
    const again = make();
    addLora(again, { rank: 2, alpha: 4, targets: [target] }, new Generator(9));
    again.load(new Map(model.namedTensors()));
    expectClose(states(again), states(model), 1e-7);
  });

  test('go by default to the attention, and by pattern anywhere but the symbols', () => {
    expect(addLora(make(), { rank: 1, alpha: 1 }, new Generator(2)).every((path) => /attn/.test(path))).toBe(
      true,
    );
    const all = addLora(make(), { rank: 1, alpha: 1, targets: [/./] }, new Generator(2));
    expect(all.some((path) => path.includes('psa'))).toBe(false);
    expect(all.length).toBeGreaterThanOrEqual(8);
  });

  test('are refused where they cannot be', () => {
    const model = make();
    const add = (more: object) => () => addLora(model, { rank: 2, alpha: 2, ...more }, new Generator(1));
    expect(add({ targets: ['nothing'] })).toThrow(/lora: no layer is called nothing; there are .*_proj/);
    expect(add({ rank: 0 })).toThrow('a rank is a whole number from 1, got 0');
    expect(add({ alpha: 0 })).toThrow('alpha is a positive number, got 0');
    add({})();
    expect(add({})).toThrow('has an adapter already: merge it first');
  });
});
