// Folders of tiny models in Hugging Face's layout, with the keys of config.json that fix a size.
import fs from 'node:fs';
import path from 'node:path';
import { Generator, scope, writeSafetensors } from '@hidden-schema/torch';
import {
  BertEncoder,
  bertConfigSchema,
  Gpt2Decoder,
  LlamaDecoder,
  openBert,
  openDecoder,
} from '@hidden-schema/transformers';

const bert = bertConfigSchema.parse({
  vocab_size: 30,
  hidden_size: 8,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  intermediate_size: 12,
  max_position_embeddings: 16,
});
const gpt2 = { vocab_size: 30, n_positions: 16, n_embd: 8, n_layer: 2, n_head: 2, n_inner: 12 };
const llama = {
  ...{ vocab_size: 30, hidden_size: 8, intermediate_size: 12, num_hidden_layers: 2 },
  ...{ num_attention_heads: 2, num_key_value_heads: 1, head_dim: 4, max_position_embeddings: 16 },
};
const symbols = { symbols: { symbols: 5 } };
const authors = { symbols: { symbols: 5, variant: 'authors' } } as const;

interface TinyModel {
  readonly name: string;
  /** Keys, dotted, and what the message calls each. */
  readonly keys: Readonly<Record<string, string>>;
  make(): { config: Record<string, unknown>; tensors: Parameters<typeof writeSafetensors>[1] };
  open(folder: string): { free(): void };
}

const same = (...keys: string[]): Record<string, string> => Object.fromEntries(keys.map((key) => [key, key]));
const decoder = (folder: string) => openDecoder(folder, new Generator(1));
const parts = (made: Gpt2Decoder | LlamaDecoder) => ({
  config: made.configOf(),
  tensors: made.namedTensors(),
});

export const tinyModels: readonly TinyModel[] = [
  {
    name: 'BERT',
    keys: same(
      ...['num_hidden_layers', 'vocab_size', 'hidden_size', 'intermediate_size'],
      ...['max_position_embeddings', 'type_vocab_size'],
    ),
    make: () => ({ config: bert, tensors: new BertEncoder(bert, new Generator(1)).namedTensors() }),
    open: openBert,
  },
  {
    name: 'GPT-2',
    keys: same('n_layer', 'vocab_size', 'n_embd', 'n_positions', 'n_inner', 'hsn.symbols'),
    make: () => parts(new Gpt2Decoder(gpt2, new Generator(1), symbols)),
    open: decoder,
  },
  {
    name: "GPT-2 with the authors' symbols",
    keys: same('hsn.symbols'),
    make: () => parts(new Gpt2Decoder(gpt2, new Generator(1), authors)),
    open: decoder,
  },
  {
    name: 'LLaMA',
    keys: {
      ...same('num_hidden_layers', 'vocab_size', 'hidden_size', 'intermediate_size', 'hsn.symbols'),
      num_attention_heads: 'num_attention_heads × head_dim',
      head_dim: 'num_attention_heads × head_dim',
    },
    make: () => parts(new LlamaDecoder(llama, new Generator(1), symbols)),
    open: decoder,
  },
];

/** Writes the model's folder and gives its settings. */
export function writeTinyModel(model: TinyModel, folder: string): Record<string, unknown> {
  fs.mkdirSync(folder, { recursive: true });
  return scope(() => {
    const { config, tensors } = model.make();
    writeSafetensors(path.join(folder, 'model.safetensors'), tensors);
    fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
    return JSON.parse(JSON.stringify(config)) as Record<string, unknown>;
  });
}

/** The same settings with another number at a dotted key. */
export function withSize<T>(settings: T, key: string, value: number): T {
  const [first, ...rest] = key.split('.') as [string, ...string[]];
  const inner = (settings as Record<string, unknown>)[first];
  const changed = rest.length > 0 ? withSize(inner, rest.join('.'), value) : value;
  return { ...settings, [first]: changed };
}
