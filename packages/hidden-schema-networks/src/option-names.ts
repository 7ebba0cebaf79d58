import { UserError } from '@hidden-schema/base';

/** Flags of the command line whose options are called otherwise. */
const names: Readonly<Record<string, string>> = {
  'text-column': 'text',
  'label-column': 'label',
  'time-column': 'time',
  'input-format': 'format',
};

/** Does something whose faults may speak of flags, as the command line has them, and lets them speak of options. */
export async function inOptions<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof UserError && /--[a-z]/.test(error.message))
      error.message = optionText(error.message);
    throw error;
  }
}

function optionText(message: string): string {
  return message.replace(/(?<![\w-])--([a-z][a-z0-9-]*)/g, (_, flag: string) => {
    const name = names[flag] ?? flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return `the option ${name}`;
  });
}
