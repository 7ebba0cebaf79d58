import type { Command } from 'commander';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn schema > settings.schema.json
  $ hsn schema language --all

An editor that knows JSON schemas then completes and checks settings: put this line first in a YAML file,
  # yaml-language-server: $schema=settings.schema.json
`;

export function register(program: Command): void {
  program
    .command('schema')
    .summary('the JSON schema of settings, for editors')
    .description('Print the JSON schema of the settings that "hsn train" and "hsn reason train" read.')
    .argument('[model]', 'synthetic, language, reasoning, optimus, ivae or vq; all of them unless given')
    .option('--all', 'describe the advanced settings too; without it they are only accepted by name')
    .addHelpText('after', examples)
    .action(async (model: string | undefined, options: { all?: true }) => {
      const { settingsJsonSchema } = await import('@hidden-schema/hsn/json-schema');
      print(`${JSON.stringify(settingsJsonSchema(model, options), null, 2)}\n`);
    });
}
