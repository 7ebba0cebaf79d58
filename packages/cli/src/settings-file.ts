import { readFileSync } from 'node:fs';

/** The text of a settings file; `examples` is the folder that an error names. */
export async function readSettings(file: string, examples: string): Promise<string> {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { UserError } = await import('@hidden-schema/base');
    throw new UserError(`cannot read the settings ${file}: expected a YAML file; ${examples} holds examples`);
  }
}
