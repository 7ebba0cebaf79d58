import type { Command } from 'commander';
import { print, say } from './terminal.ts';

const examples = `
Examples:
  $ hsn export run --out model      model/decoder, and model/encoder where it was trained along
`;

export function register(program: Command): void {
  program
    .command('export')
    .summary("a language model's parts as Hugging Face folders")
    .description(
      'Write the decoder, and the encoder where it was fine-tuned, as folders with config.json, tokenizer.json and model.safetensors.',
    )
    .argument('<run>', 'run folder of a language model')
    .requiredOption('--out <folder>', 'folder to make')
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .addHelpText('after', examples)
    .action(exportRun);
}

async function exportRun(directory: string, flags: { out: string; checkpoint: string }): Promise<void> {
  const { openLanguage } = await import('@hidden-schema/hsn');
  const { exportLanguage } = await import('@hidden-schema/studies');
  const opened = await openLanguage(directory, { checkpoint: flags.checkpoint });
  for (const note of opened.notes) say(`${note}\n`);
  const folders = exportLanguage(opened, flags.out);
  for (const folder of folders) print(`${folder}\n`);
  if (opened.model.encoder.frozen)
    say(`the encoder was not trained: ${opened.config.encoder.name} as it is\n`);
}
