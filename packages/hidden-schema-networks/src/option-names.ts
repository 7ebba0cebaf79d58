import { UserError } from '@hidden-schema/base';

/** Flags of the command line whose options are called otherwise. */
const names: Readonly<Record<string, string>> = {
  'text-column': 'text',
  'label-column': 'label',
  'time-column': 'time',
  'input-format': 'format',
};

/** What the command line says in other words than a program, the longer first. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/--symbols auto/g, "the option symbols: 'auto'"],
  [/--stage discover/g, "the option stage: 'discover'"],
  [/--duplicates remove/g, "the option duplicates: 'remove'"],
  [/add --force/g, 'add the option force: true'],
  [/with --(resume|force)(?![\w-])/g, 'with the option $1: true'],
  [/--set ([\w.]+)=(\S+)/g, 'the setting $1: $2'],
  [
    /name (it|a copy of that) with --corpus(?: [^\s,;]+)?(?:, or --tuples for hsn reason)?/g,
    'give $1 as the source',
  ],
  [/give --(?:corpus|tuples) <file or folder>/g, 'give the source'],
];

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

/** A message of the command line as a program would say it. */
export function optionText(message: string): string {
  const words = phrases.reduce((text, [flag, option]) => text.replace(flag, option), message);
  return words.replace(/(?<![\w-])--([a-z][a-z0-9-]*)/g, (_, flag: string) => {
    const name = names[flag] ?? flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return `the option ${name}`;
  });
}
